"""Rows written by COPY are read back unchanged."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User

from documents.ingestion.persistence import copy_rows
from documents.models import Document, RetrievalChunk

PATHS = [
    [],
    [""],
    ["Item 7", "Results, by segment"],
    ['The "Company"', "C:\\temp\\", "{a}", "NULL", "null"],
    ["two\nlines\tand a tab", " spaces ", "東京 é", "\\N", "\\."],
]


def test_arrays_of_any_text_and_of_ids_are_read_back_as_they_were(alice: User) -> None:
    document = Document.objects.create(owner=alice, title="Paths", original_name="paths.pdf")
    units = [uuid.uuid4(), uuid.uuid4()]
    chunks = [
        RetrievalChunk(
            id=uuid.uuid4(),
            document_id=document.pk,
            index=index,
            section_path=path,
            unit_ids=units[: index % 3],
            page_start=1,
            page_end=1,
            token_count=1,
        )
        for index, path in enumerate(PATHS)
    ]
    copy_rows(RetrievalChunk, chunks)
    stored = document.chunks.order_by("index")
    assert [chunk.section_path for chunk in stored] == PATHS
    assert [chunk.unit_ids for chunk in stored] == [units[: index % 3] for index in range(len(PATHS))]
