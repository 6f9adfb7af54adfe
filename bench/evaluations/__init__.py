"""Scores of retrieval, answers and review cells on questions and cells whose truth is known."""
