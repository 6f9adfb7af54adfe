"""Words of any language: sentences, terms, numbers, units, dates. Knows nothing of Django or of PDFs.

What differs from language to language is data, one folder per language under ``text/languages/``.
"""
