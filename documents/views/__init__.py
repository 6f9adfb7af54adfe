"""HTML pages of documents.

The library, collections, details, papers, files, and the actions on a document.
"""
