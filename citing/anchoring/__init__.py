"""Where quoted words stand on a page, and with which boxes.

``find_quote.find_quote`` searches given pages, ``page_sources.locate`` a stored document.
"""
