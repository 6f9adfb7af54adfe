"""Outside services behind small Protocols: embeddings, reranking, and the errors they share."""
