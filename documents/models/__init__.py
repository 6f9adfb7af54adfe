"""Models: documents and their content, the library, jobs, security."""

from documents.models.content import CitationUnit, Page, RetrievalChunk
from documents.models.document import UNFINISHED, WORKING, Document, PreviousVersion
from documents.models.job import Job, Worker
from documents.models.library import Collection, Placement, Share, Tag
from documents.models.security import (
    ApiToken,
    EventKind,
    IdempotencyKey,
    RateCount,
    SecurityEvent,
    TemporaryPassword,
    TokenScope,
)
from pdf.failures import FailureCode

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
    "SecurityEvent",
    "Share",
    "Tag",
    "TemporaryPassword",
    "TokenScope",
    "Worker",
]
