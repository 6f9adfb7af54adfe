"""Highlights, underlines and comments of people: made on pages, found again, exported."""
