"""Compare a claim with a citation unit: its words, its values, and the cells of its table.

Three layers, each of which imports only those before it: ``values``, ``words``, ``cells``. The entry is
``units``.
"""
