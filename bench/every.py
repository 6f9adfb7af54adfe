"""Time to put two columns to many documents without a model.

The documents are copies of those of the library, with pages, passages and vectors, of an owner of their own;
they and the review are removed afterwards. Time is of the processor, of this process and PostgreSQL's client.
"""

from __future__ import annotations

import time
import uuid
from argparse import ArgumentParser
from itertools import cycle, islice
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand
from django.db import transaction
from django.utils import timezone

from bench.library import remove_library
from chat.models import Citation
from documents.ingestion.persistence import copy_rows
from documents.models import CitationUnit, Document, Job, Page, RetrievalChunk
from retrieval.index.document_index import embed_document, index_words
from retrieval.index.vectors import active_space
from reviews.fill_queue import fill_row
from reviews.models import Review, ReviewCell
from reviews.question_answer import column_answers
from reviews.question_columns import columns_for
from reviews.review_commands import start_review
from reviews.review_presenters import grid

OWNER = "bench-every"
QUESTION = "Sum of net revenue by company"
TARGET_SECONDS = 120.0


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--question", default=QUESTION, help="one that becomes two columns")
    parser.add_argument("--name", default="", help="copy only documents whose file name contains it")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    owner, _ = User.objects.get_or_create(username=OWNER)
    found = Document.objects.searchable().exclude(owner=owner)
    originals = list(found.filter(original_name__icontains=options["name"]).order_by("created_at"))
    try:
        copies = [copied(one, owner) for one in islice(cycle(originals), options["documents"])]
        pages = sum(copy.page_count for copy in copies)
        command.stdout.write(f"{len(copies)} documents, {pages} pages")
        review = start_review(
            owner, "every", copies, columns=columns_for(options["question"]), question=options["question"]
        )
        seconds, processor = filled(review)
        cells = ReviewCell.objects.filter(row__review=review)
        command.stdout.write(
            f"{cells.count()} cells, {seconds:.1f} s, of this process's processor {processor:.1f} s"
        )
        for one in column_answers(grid(review, owner)):
            command.stdout.write(f"{one.column.title}: {one.stated} of {one.documents}; {one.states}")
            assert one.documents == len(copies) == sum(one.states.values())
    finally:
        Review.objects.filter(owner=owner).delete()
        Citation.objects.filter(document__owner=owner).delete()
        Page.objects.filter(document__owner=owner).delete()
        Job.objects.filter(document__owner=owner).delete()
        remove_library(owner)
    return 0 if seconds <= TARGET_SECONDS else 1


def copied(original: Document, owner: User) -> Document:
    """Return a copy of a document with all that is searched and cited."""
    copy = Document.objects.get(pk=original.pk)
    key = uuid.uuid4()
    chunks = list(RetrievalChunk.objects.filter(document=original))
    units = list(CitationUnit.objects.filter(document=original))
    pages = list(Page.objects.filter(document=original))
    copy.pk, copy.owner, copy.indexed_at = key, owner, timezone.now()
    copy._state.adding, copy.sha256, copy.file = True, uuid.uuid4().hex * 2, ""
    for chunk in chunks:
        chunk.pk, chunk.document = uuid.uuid5(key, str(chunk.pk)), copy
        chunk.unit_ids = [uuid.uuid5(key, str(pk)) for pk in chunk.unit_ids]
    for unit in units:
        unit.pk, unit.document = uuid.uuid5(key, str(unit.pk)), copy
        unit.chunk_id = uuid.uuid5(key, str(unit.chunk_id)) if unit.chunk_id else None
    for page in pages:
        page.pk, page.document = None, copy
        page._state.adding = True
    with transaction.atomic():
        copy.save()
        copy_rows(RetrievalChunk, chunks)
        copy_rows(CitationUnit, units)
        Page.objects.bulk_create(pages)
    index_words(copy)
    embed_document(copy, active_space())
    return copy


def filled(review: Review) -> tuple[float, float]:
    """Fill all cells, row by row; return the seconds by the clock and of this process's processor."""
    begun, processor = time.monotonic(), time.process_time()
    ReviewCell.objects.filter(row__review=review).update(state=ReviewCell.State.RUNNING)
    for row in review.rows.all():
        cells = row.cells.select_related("row__review__owner", "row__document", "row__added_by", "column")
        fill_row(list(cells.order_by("column__position")))
    return time.monotonic() - begun, time.process_time() - processor
