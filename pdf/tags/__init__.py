"""Use a page's structure tags (tagged PDF, ISO 32000-2, 14.7 and 14.8) where they are sound.

``elements`` samples a document's structure tree and links words to its elements; ``blocks`` and ``tables``
regroup the blocks that the layout found.
"""
