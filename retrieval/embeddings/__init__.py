"""Embedding models behind the ``Embedder`` protocol of ``base``; ``registry`` chooses one by name."""
