"""Numbers, amounts and dates of claims and tables: reading them, columns, and whether a unit has them."""
