"""Convert other formats to PDF, add text layers and annotations, render pages.

All of it runs in the confined child (``pdf.sandbox.server``).
"""
