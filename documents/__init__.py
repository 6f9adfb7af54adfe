"""Documents: upload, ingestion, chunks, library, papers; their pages, API and admin.

``access`` says who can reach a document; ``models.library`` is that rule as SQL (``visible_to``).
``ingestion.pipeline`` is the way from a file to stored units; ``tasks`` is what workers run.
"""
