"""Whether a file begins as a PDF does: what is asked before MuPDF is."""

from __future__ import annotations

from pathlib import Path

from documents.pdf.failures import FailureCode, ParseFailure

# ISO 32000-1, annex H (implementation note 13): the header may stand in the first 1,024 bytes.
HEADER_WINDOW = 1024


def check_header(path: Path) -> None:
    """Raises ParseFailure unless the file begins as a PDF does: other kinds open too, and then segfault."""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEADER_WINDOW)
    except OSError as error:
        raise ParseFailure(FailureCode.INTERNAL, "This file cannot be opened.", str(error)) from None
    if b"%PDF-" not in head:
        raise ParseFailure(FailureCode.NOT_A_PDF)
