"""What a page holds, before any layout: words with their type, rulings, fills, pictures, text by OCR.

``page_content.read_page`` gives all of it as a ``RawPage`` in page space; ``recognition`` reads scans and
pictures; ``visibility`` drops text that nobody can see.
"""
