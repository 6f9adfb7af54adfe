"""Providers of embeddings behind the ``Embedder`` protocol of ``base``; ``registry`` finds one by name."""
