"""Render Markdown of answers and notes: parse with source positions, overlay citations, sanitise HTML."""
