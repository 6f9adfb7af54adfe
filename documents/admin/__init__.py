"""The admin of documents and all that was made of them, for the person who runs the server."""

from documents.admin.accounts import (
    ApiTokenAdmin,
    JobAdmin,
    PlainGroupAdmin,
    PlainUserAdmin,
    SecurityEventAdmin,
    ShareAdmin,
)
from documents.admin.content import ChunkAdmin, PageAdmin, UnitAdmin
from documents.admin.documents import CollectionAdmin, DocumentAdmin, TagAdmin

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
