"""The author's own structure of a page (tagged PDF, ISO 32000-2, 14.7 and 14.8), where it is sound.

``structure_tree`` looks at a document once, ``elements`` links words to elements, ``blocks`` and ``tables``
regroup what the layout found.
"""
