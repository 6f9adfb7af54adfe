"""Typed values: amounts, the values that a unit prints, and lists of them that belong together."""
