"""Markdown of answers and notes: parsed with source positions, overlaid with citations, as safe HTML."""
