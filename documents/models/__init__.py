"""What is on the page, and where: documents, pages, citation units, retrieval chunks."""

from documents.models.chunk import RetrievalChunk
from documents.models.document import UNFINISHED, WORKING, Document
from documents.models.idempotency import IdempotencyKey
from documents.models.job import Job
from documents.models.library import Collection, Placement, Share, Tag
from documents.models.page import Page
from documents.models.rate import RateCount
from documents.models.security import EventKind, SecurityEvent, TemporaryPassword
from documents.models.token import ApiToken, Scope
from documents.models.unit import CitationUnit
from documents.models.version import PreviousVersion
from documents.models.worker import Worker
from documents.pdf.failures import FailureCode

__all__ = [
    "UNFINISHED",
    "WORKING",
    "ApiToken",
    "CitationUnit",
    "Collection",
    "Document",
    "EventKind",
    "FailureCode",
    "IdempotencyKey",
    "Job",
    "Page",
    "Placement",
    "PreviousVersion",
    "RateCount",
    "RetrievalChunk",
    "Scope",
    "SecurityEvent",
    "Share",
    "Tag",
    "TemporaryPassword",
    "Worker",
]
