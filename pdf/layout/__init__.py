"""From the words of pages to units in reading order: lines, columns, paragraphs, headings, lists, furniture.

``pipeline.layout`` names the passes in their order. ``page_layout`` holds the values that they change.
"""
