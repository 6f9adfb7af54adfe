"""Files of documents.

Uploads, fetching by URL, formats and their conversion, storage on disk or in a bucket, and pictures
of pages.
"""
