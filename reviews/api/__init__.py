"""The REST API of reviews."""
