"""Measures of the whole: what it survives."""
