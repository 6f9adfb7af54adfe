"""The evidence pack: one PDF with the answer and the cited pages, the words highlighted."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from uuid import UUID

from chat.exporting.answer import ExportedAnswer
from chat.exporting.html import body
from chat.models import Citation
from documents.configured import parse_limits
from documents.models import Document
from documents.pdf.failures import ParseFailure
from documents.pdf.geometry import Rect
from documents.pdf.messages import Mark, MarkedFile, MarkedPage
from documents.pdf.parsing import bind_evidence
from documents.reading import local_file

MOST_PAGES = 100


class PackFailed(Exception):
    """The pack cannot be made; the message is for people."""


def evidence_pack(answer: ExportedAnswer, visible: set[UUID]) -> bytes:
    """The PDF, made in the confined child: the files are hostile. Raises PackFailed.

    ``visible``: the documents the reader may see; pages of others are left out.
    """
    rows = [row for row in answer.rows if row.document_id in visible][: MOST_PAGES * 4]
    with ExitStack() as files:
        marked = [
            MarkedFile(str(files.enter_context(local_file(document.file))), document.title, pages)
            for document, pages in by_document(rows)
            if document.file
        ]
        try:
            return bind_evidence(body(answer)[:], marked, limits=parse_limits())
        except ParseFailure as failure:
            raise PackFailed(failure.message) from None


def by_document(rows: list[Citation]) -> list[tuple[Document, tuple[MarkedPage, ...]]]:
    """The cited documents in the order of first use, each with its cited pages in order."""
    pages: dict[UUID, dict[int, list[Mark]]] = defaultdict(lambda: defaultdict(list))
    documents: dict[UUID, Document] = {}
    for row in rows:
        if row.document is not None and row.durability != Citation.Durability.GONE:
            documents.setdefault(row.document.pk, row.document)
            pages[row.document.pk][row.page_number].append(mark_of(row))
    return [
        (document, tuple(MarkedPage(number, tuple(pages[pk][number])) for number in sorted(pages[pk])))
        for pk, document in documents.items()
    ]


def mark_of(row: Citation) -> Mark:
    """The anchor; the whole passage when nothing of the claim was found in it."""
    rects = tuple(Rect(*rect) for rect in row.rects or row.unit_rects)
    return Mark(str(row.number), rects, f"{row.claim}\n\n{row.get_verdict_display()}. {row.reason}".strip())
