"""Make annotations of what was selected on a page, and find their words again in a new reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from django.contrib.auth.models import User

from chat.citations.anchoring.find_quote import Anchor, find_quote
from chat.citations.anchoring.highlights import Span, highlight_rects, text_of
from chat.citations.anchoring.page_sources import StoredPages, locate
from chat.citations.anchoring.page_text import PageText
from chat.citations.reanchor import PIECES, near
from chat.models import Annotation, Citation
from documents.models import Document
from pdf.geometry import Rect

LONGEST_QUOTE = 20_000  # characters: a page of small print
LONGEST_COMMENT = 20_000
MOST_BOXES = 2000  # of one selection on one page
AROUND = 60  # characters before and after the quote, kept to tell it from the same words elsewhere
MOST_ON_DOCUMENT = 10_000


class NothingSelected(Exception):
    """No word of the page is in the selection."""


def annotate(owner: User, document: Document, page: int, boxes: Sequence[Rect], **look: str) -> Annotation:
    """Store an annotation on the words in ``boxes`` (display fractions). Raises NothingSelected."""
    on = next((one for one in StoredPages(document.pk).all if one.number == page), None)
    spans = spans_in(on, [on.frame.from_display(box) for box in boxes]) if on else []
    if on is None or not spans:
        raise NothingSelected
    return _stored(owner, document, on, spans, **look)


def annotate_quote(owner: User, document: Document, quote: str, **look: str) -> list[Annotation]:
    """Store an annotation on each page that the quote runs over. Raises NothingSelected."""
    anchor = locate(document.pk, quote)
    if anchor is None or anchor.verdict == "partial":
        raise NothingSelected
    return [_stored(owner, document, part.page, list(part.spans), **look) for part in anchor.parts]


def spans_in(page: PageText, rects: Iterable[Rect]) -> list[Span]:
    """Character ranges of the words in the rectangles (page space), one for each run of words."""
    chosen = sorted({index for rect in rects for index in _words_in(page, rect)})
    if not chosen:
        return []
    breaks = [at for at, (one, other) in enumerate(pairwise(chosen), 1) if other != one + 1]
    runs = [chosen[start:end] for start, end in pairwise([0, *breaks, len(chosen)])]
    return [(page.words[run[0]].char_start, page.words[run[-1]].char_end) for run in runs]


def _words_in(page: PageText, rect: Rect) -> list[int]:
    """Words whose middle is in the rectangle, or who hold its middle: part of one word is that word."""
    if not page.words:
        return []
    inside = ((page.centers >= rect[:2]) & (page.centers <= rect[2:])).all(1)
    around = ((page.boxes[:, :2] <= rect.center) & (page.boxes[:, 2:] >= rect.center)).all(1)
    return [int(index) for index in np.flatnonzero(inside | around)]


def _stored(owner: User, document: Document, page: PageText, spans: list[Span], **look: str) -> Annotation:
    start, end = spans[0][0], spans[-1][1]
    return Annotation.objects.create(
        owner=owner,
        document=document,
        quote=text_of(page, spans)[:LONGEST_QUOTE],
        context=page.text[max(0, start - AROUND) : end + AROUND][: LONGEST_QUOTE + 2 * AROUND],
        page_number=page.number,
        char_start=start,
        rects=[list(rect) for rect in highlight_rects(page, spans)],
        **look,
    )


def reanchor_annotations(document: Document) -> None:
    """Point the document's annotations at where their words stand now."""
    annotations = list(Annotation.objects.filter(document=document))
    if not annotations:
        return
    pages = StoredPages(document.pk)
    pages.read_boxes({annotation.page_number for annotation in annotations})
    for annotation in annotations:
        _reanchor(annotation, pages.all)
    stored = ["page_number", "char_start", "rects", "durability"]
    Annotation.objects.bulk_update(annotations, stored, batch_size=500)


def _reanchor(annotation: Annotation, pages: Sequence[PageText]) -> None:
    same = [page for page in pages if page.number == annotation.page_number]
    anchors = _anchors(annotation, same) or _anchors(annotation, pages)
    if not anchors:
        annotation.durability = Citation.Durability.GONE  # its rectangles stay, to come back to
        return
    part = anchors[0].parts[0]
    on_page = [anchor.parts[0] for anchor in anchors if anchor.parts[0].page.number == part.page.number]
    rects = [rect for found in on_page for rect in found.rects]
    is_same = part.page.number == annotation.page_number and near(annotation.rects, rects)
    annotation.durability = Citation.Durability.SAME if is_same else Citation.Durability.MOVED
    annotation.page_number, annotation.char_start = part.page.number, part.spans[0][0]
    annotation.rects = [list(rect) for rect in rects]


def _anchors(annotation: Annotation, pages: Sequence[PageText]) -> list[Anchor]:
    """Where each piece of the quote stands; empty unless all do."""
    found = [find_quote(pages, piece, annotation.context) for piece in annotation.quote.split(PIECES)]
    anchors = [anchor for anchor in found if anchor is not None and anchor.verdict != "partial"]
    return anchors if len(anchors) == len(found) else []
