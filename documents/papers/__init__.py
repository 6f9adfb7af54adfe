"""Papers: added by their metadata, completed by their PDF, related by citations.

``acquisition`` adds them and fetches PDFs, ``catalogues`` queries Semantic Scholar and OpenAlex,
``identification`` completes an upload's metadata by its DOI, arXiv number or ISBN, ``bibliography`` reads and
writes references.
"""
