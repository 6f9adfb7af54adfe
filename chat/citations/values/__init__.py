"""Whether a unit supports the values of a claim, which `text.values` reads: agreement, columns, years."""
