"""Search: an index of chunks, the reading of a query, ranking, and one call: ``retrieval.search.search``.

Imports from ``text``, ``domains`` and ``documents`` only.
"""
