"""Why a document could not be taken in, said with a code of the closed list."""

from __future__ import annotations

import errno

from documents.pdf.failures import FailureCode, ParseFailure

NO_ROOM = "The server has no room left on its disk. Nothing of yours is lost; try again later."
READ_ONLY = "The server cannot write to its disk. Nothing of yours is lost; try again later."
NO_WRITE = {errno.EROFS, errno.EACCES, errno.EPERM}
NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


class IngestionFailure(Exception):
    """Ends the ingestion of one document.

    Attributes:
        code: one of ``FailureCode``.
        message: what to tell a person, at most 200 characters; the code's own sentence by default.
    """

    def __init__(self, code: FailureCode, message: str = "") -> None:
        self.code = code
        self.message = message or code.label
        super().__init__(self.message)


def failure_of(error: Exception) -> IngestionFailure:
    """The reason to give for an error nobody expected."""
    if isinstance(error, IngestionFailure):
        return error
    if isinstance(error, ParseFailure):
        return IngestionFailure(error.code, error.message)
    if isinstance(error, MemoryError):
        return IngestionFailure(FailureCode.TOO_MUCH_MEMORY)
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        return IngestionFailure(FailureCode.INTERNAL, NO_ROOM)
    if isinstance(error, OSError) and error.errno in NO_WRITE:
        return IngestionFailure(FailureCode.INTERNAL, READ_ONLY)
    if getattr(error.__cause__, "sqlstate", None) == "53100":  # disk_full, PostgreSQL appendix A
        return IngestionFailure(FailureCode.INTERNAL, NO_ROOM)
    return IngestionFailure(FailureCode.INTERNAL)
