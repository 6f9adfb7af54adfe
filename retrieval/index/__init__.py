"""What is stored of a chunk to find it: full-text vectors, BM25F impacts, embeddings.

``document_index`` writes them, ``backfill`` renews old ones, ``full_text`` and ``vectors`` read them.
"""
