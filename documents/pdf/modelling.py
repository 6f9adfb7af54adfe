"""The stage that asks the layout model, for all pages (``ml``) or for those in doubt (``auto``)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from documents.pdf import readers
from documents.pdf.fast.modelled import ModelBox
from documents.pdf.fast.raw import RawPage
from documents.pdf.messages import Answer, MoreTime, ParseRequest, Progress
from documents.pdf.ml import model_boxes
from documents.pdf.opening import open_document
from documents.pdf.readers import WALL_FOR_CPU, Allowance, Done, Job
from documents.pdf.structure import ParsedPage

# Below this, the fast engine's own blocks and order are in doubt. Measured on the 85 pages of corpus/layout
# (paragraphs, tables, order): fast 0.9781 0.9706 0.9895, the model on all pages 0.9712 0.9699 0.9858, and on
# the 8 pages below 0.9 only 0.9786 0.9716 0.9895. So fast is the default, and auto asks for those.
LEAST_CONFIDENCE = 0.9


def pages_to_model(request: ParseRequest, pages: Sequence[ParsedPage]) -> list[int]:
    """Numbers of the pages the model shall look at."""
    if request.engine == "fast":
        return []
    wanted = [
        page for page in pages if page.units and (request.pages is None or page.number in request.pages)
    ]
    if request.engine == "auto":
        wanted = [page for page in wanted if page.confidence < LEAST_CONFIDENCE]
    # A scan has no characters the model could look at.
    return [page.number for page in wanted if not page.ocr]


def boxes_of(
    request: ParseRequest,
    raw_pages: Sequence[RawPage],
    numbers: Sequence[int],
    tell: Callable[[Answer], None],
) -> dict[int, list[ModelBox]]:
    """The model's boxes by page; pages it fails on or has no time for are left out."""
    limits = request.limits
    seconds = limits.base_seconds + len(numbers) * limits.model_page_seconds * WALL_FOR_CPU
    tell(MoreTime(seconds))
    allowance = Allowance(
        limits.model_memory_bytes, limits.base_seconds, limits.model_page_seconds, time.monotonic() + seconds
    )
    frames = {raw.number: raw.frame for raw in raw_pages}

    def prepare() -> tuple[int, Callable[[Job], list[ModelBox]]]:
        document = open_document(request.path, request.password, request.limits.pages)
        return document.page_count, lambda job: model_boxes(document[job - 1], frames[job])

    found: dict[int, list[ModelBox]] = {}
    for answer in readers.answers(prepare, numbers, list[ModelBox], allowance):
        if isinstance(answer, Done) and answer.value:
            found[answer.job] = answer.value
        tell(Progress(len(found), len(numbers), "model"))
    return found
