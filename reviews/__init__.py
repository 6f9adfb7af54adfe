"""Reviews: documents as rows, questions as columns, every cell cited and verified.

``fill_queue`` fills cells in the background, ``typed_values`` extracts values from cited words,
``review_commands`` are the users' changes, ``reviews.exports`` exports the table.
"""
