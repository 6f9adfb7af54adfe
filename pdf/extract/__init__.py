"""Extract the content of a page before layout: words with their type, rulings, fills, pictures, OCR text.

``page_content.read_page`` returns it as a ``RawPage`` in page space; ``recognition`` reads scans and
pictures; ``visibility`` finds text that is invisible.
"""
