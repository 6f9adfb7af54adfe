"""The author's own structure of a page (tagged PDF, ISO 32000-2, 14.7 and 14.8), where it is sound.

``elements`` judges a document's structure tree and links words to its elements, ``blocks`` and ``tables``
regroup what the layout found.
"""
