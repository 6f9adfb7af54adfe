"""Papers: added by their metadata, completed by their PDF, related by citations.

``acquisition`` adds them and fetches PDFs, ``catalogues`` queries Semantic Scholar and OpenAlex,
``bibliography`` reads and writes references.
"""
