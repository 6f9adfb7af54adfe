"""From index to hits: candidate lists, their fusion, features, rerankers, snippets, facets.

``retrieval.search`` calls them in this order.
"""
