"""The admin of documents and all that was made of them, for the person who runs the server."""

from documents.admin.access import ApiTokenAdmin, JobAdmin, SecurityEventAdmin, ShareAdmin
from documents.admin.accounts import PlainGroupAdmin, PlainUserAdmin
from documents.admin.content import ChunkAdmin, UnitAdmin
from documents.admin.documents import DocumentAdmin
from documents.admin.library import CollectionAdmin, TagAdmin
from documents.admin.pages import PageAdmin

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
