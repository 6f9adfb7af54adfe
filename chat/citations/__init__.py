"""Citations: markers in the text, claims, the source units they rest on, snapshots, presenters.

``anchoring`` finds quoted words on a page, ``verification`` judges claims, ``values`` compares numbers.
"""
