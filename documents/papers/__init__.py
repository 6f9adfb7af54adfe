"""Papers: known by their metadata first, read from their PDF later, followed through their citations.

``acquisition`` adds them and fetches PDFs, ``catalogues`` asks Semantic Scholar and OpenAlex,
``bibliography`` reads and writes references.
"""
