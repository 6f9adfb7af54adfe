"""Conversions and drawings: other formats to PDF, invisible text layers, annotated PDFs, pictures of pages.

All of them run in the confined child (``pdf.sandbox.handlers``).
"""
