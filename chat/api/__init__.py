"""The API of conversations: questions, answers, citations, notes."""
