"""Citing: a claim and pages in, a verdict and rectangles out. Imports neither Django nor a database.

``marker_decoder`` and ``foreign_markers`` read what a model writes, ``claim_spans`` splits it into claims,
``anchoring`` finds words on a page, ``comparison`` compares them with a claim, ``verdict`` judges it.
"""
