"""Tables, found by rulings (``ruled``, ``grid``), alignment (``aligned``) or as texts (``text_tables``).

``rows`` makes one unit of each logical row; ``column_headers`` is the only place where the head of a column
is looked up.
"""
