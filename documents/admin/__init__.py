"""The admin of documents, pages, units, chunks, accounts and jobs."""

from documents.admin import accounts, documents  # noqa: F401 - they register their pages
