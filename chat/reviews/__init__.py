"""Reviews: one question a column, one document a row, every cell cited and checked.

``fill_queue`` answers cells in the background, ``typed_values`` reads a value out of the cited words,
``review_commands`` is what people change, ``exports`` writes the table out.
"""
