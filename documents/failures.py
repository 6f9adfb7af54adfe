"""Ingestion failures: a code of ``FailureCode`` and a message for the user."""

from __future__ import annotations

import errno
import sys

from pdf.failures import FailureCode, ParseFailure

NO_ROOM = "The server's disk is full. Your data is safe; try again later."
STORAGE_AWAY = "The file storage does not answer at the moment. Please try again in a few seconds."
READ_ONLY = "The server cannot write to its disk. Your data is safe; try again later."
NO_WRITE = {errno.EROFS, errno.EACCES, errno.EPERM}
NO_SPACE = {errno.ENOSPC, errno.EDQUOT}
DISK_FULL = "53100"  # SQLSTATE, PostgreSQL appendix A


class IngestionFailure(Exception):
    """Ends the ingestion of one document.

    Attributes:
        code: one of ``FailureCode``.
        message: for the user, at most 200 characters; the code's label by default.
    """

    def __init__(self, code: FailureCode, message: str = "") -> None:
        self.code = code
        self.message = message or code.label
        super().__init__(self.message)


def shortage(error: BaseException | None) -> str:
    """Return a message for a full or read-only disk, of this machine or the database; '' for other errors."""
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        return NO_ROOM
    if isinstance(error, OSError) and error.errno in NO_WRITE:
        return READ_ONLY
    # COPY raises psycopg's error, other statements Django's, whose cause it is.
    if DISK_FULL in (
        getattr(raised, "sqlstate", None) for raised in (error, getattr(error, "__cause__", None))
    ):
        return NO_ROOM
    return ""


def is_storage_away(error: BaseException | None) -> bool:
    """Return whether the bucket of the files (PINCITE_S3_BUCKET) is unreachable or fails."""
    raised = sys.modules.get("botocore.exceptions")  # not loaded, often not installed, without a bucket
    if raised is None:
        return False
    if isinstance(error, raised.ClientError):
        return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= 500
    return isinstance(error, raised.ConnectionError | raised.HTTPClientError)


def failure_of(error: Exception) -> IngestionFailure:
    """Convert any error to an IngestionFailure."""
    if isinstance(error, IngestionFailure):
        return error
    if isinstance(error, ParseFailure):
        return IngestionFailure(error.code, error.message)
    if isinstance(error, MemoryError):
        return IngestionFailure(FailureCode.TOO_MUCH_MEMORY)
    return IngestionFailure(FailureCode.INTERNAL, shortage(error))
