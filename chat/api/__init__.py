"""The REST API of conversations, answers, citations, notes and reviews."""
