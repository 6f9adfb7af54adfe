"""The admin of documents, pages, units, chunks, accounts and jobs."""

from documents.admin.accounts import (
    ApiTokenAdmin,
    JobAdmin,
    PlainGroupAdmin,
    PlainUserAdmin,
    SecurityEventAdmin,
    ShareAdmin,
)
from documents.admin.documents import (
    ChunkAdmin,
    CollectionAdmin,
    DocumentAdmin,
    PageAdmin,
    TagAdmin,
    UnitAdmin,
)

__all__ = [
    "ApiTokenAdmin",
    "ChunkAdmin",
    "CollectionAdmin",
    "DocumentAdmin",
    "JobAdmin",
    "PageAdmin",
    "PlainGroupAdmin",
    "PlainUserAdmin",
    "SecurityEventAdmin",
    "ShareAdmin",
    "TagAdmin",
    "UnitAdmin",
]
