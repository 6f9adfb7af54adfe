"""Providers of embeddings behind the ``Embedder`` protocol of ``base``, which chooses one by name."""
