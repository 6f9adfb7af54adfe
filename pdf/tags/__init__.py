"""What the author's own structure says of a page (tagged PDF, ISO 32000-2, 14.7 and 14.8), where it is sound.

``tree`` looks once at a document's structure tree and says whether its pages' tags
are worth reading; ``elements`` takes them from MuPDF's text page; ``soundness``
judges them page by page; ``regrouping`` makes blocks as they say.
"""
