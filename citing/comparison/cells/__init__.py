"""Cells of tables: ``grid`` names them, ``stated_cells`` and ``tables`` (with ``cell_words``) judge by them.

``computation`` computes with them, and ``doubts`` opens what may be about another row or column.
"""
