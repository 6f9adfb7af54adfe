"""``parse_file``: a PDF in, a ``ParsedDocument`` out, whatever the file does to the process that reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from documents.pdf.confined import ask
from documents.pdf.failures import FailureCode, ParseFailure
from documents.pdf.limits import Limits
from documents.pdf.messages import About, Finished, Opened, PageParsed, ParseRequest, Progress
from documents.pdf.opening import check_header
from documents.pdf.structure import Engine, ParsedDocument

PARSER_VERSION = "1"

__all__ = ["FailureCode", "Limits", "ParseFailure", "parse_file"]


def parse_file(
    path: str | Path,
    *,
    engine: Engine = "fast",
    pages: Sequence[int] | None = None,
    password: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    limits: Limits | None = None,
) -> ParsedDocument:
    """The file's pages as units, read in a confined child process.

    Args:
        pages: 1-based numbers of the pages wanted; all where None. The whole file is read all the
            same: running heads, sections and line numbers are the document's.
        on_progress: called with the pages read so far and their whole number.

    Raises:
        ParseFailure: with a code of the closed list. A page that fails alone does not raise: its
            ``failure`` says why.
    """
    path, limits = Path(path).absolute(), limits or Limits()
    check_header(path)
    if path.stat().st_size > limits.file_bytes:
        raise ParseFailure(FailureCode.TOO_LARGE)
    count, said, found, seconds = 0, About(), [], {}
    wanted = None if pages is None else tuple(pages)
    for answer in ask(ParseRequest(str(path), engine, limits, wanted, password)):
        if isinstance(answer, Opened):
            count = answer.page_count
        elif isinstance(answer, About):
            said = answer
        elif isinstance(answer, PageParsed):
            found.append(answer.page)
        elif isinstance(answer, Progress) and on_progress:
            on_progress(answer.done, answer.total)
        elif isinstance(answer, Finished):
            seconds = answer.stages
    return ParsedDocument(
        engine=engine,
        version=PARSER_VERSION,
        page_count=count,
        pages=tuple(found),
        metadata=said.metadata,
        outline=said.outline,
        language=said.language,
        stage_seconds=seconds,
    )
