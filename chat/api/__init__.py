"""The REST API of conversations, answers, citations and notes."""
