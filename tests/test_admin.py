"""The admin: every list opens in a few queries however long it is; pages show what was read on them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Citation, Conversation, Message
from documents.models import CitationUnit, Document, RetrievalChunk
from tests.conftest import Ingest

OURS = {"documents", "retrieval", "chat"}
MOST_QUERIES = 12


@pytest.fixture
def staff(db: None, client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root", password="x"))
    return client


@pytest.fixture
def document(alice: User, ingested: Ingest) -> Document:
    return ingested(alice, "# Results\n\nRevenue was 32.8 billion dollars.\n\nIt rose by 3 %.")


def lists() -> list[str]:
    return [
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for model in admin.site._registry
        if model._meta.app_label in OURS
    ]


def test_every_list_takes_a_few_queries_however_long(
    staff: Client, document: Document, django_assert_max_num_queries: Any
) -> None:
    others = Document.objects.bulk_create(
        Document(owner=document.owner, title=f"Paper {n}", status="failed") for n in range(60)
    )
    RetrievalChunk.objects.bulk_create(
        RetrievalChunk(document=other, index=0, content="words", page_start=1, page_end=1, token_count=1)
        for other in others
    )
    conversations = Conversation.objects.bulk_create(Conversation(owner=document.owner) for _ in range(60))
    messages = Message.objects.bulk_create(
        Message(conversation=row, position=1, role="assistant", content="words") for row in conversations
    )
    Citation.objects.bulk_create(
        Citation(message=row, number=1, document=document, quote="w", page_number=1, verdict="exact")
        for row in messages
    )
    for path in lists():
        with django_assert_max_num_queries(MOST_QUERIES):
            assert staff.get(path).status_code == 200, path
        assert staff.get(path, {"q": "words"}).status_code == 200, path


def test_a_page_is_shown_with_its_layers_at_their_places(staff: Client, document: Document) -> None:
    page = document.pages.get()
    shown = staff.get(reverse("admin:documents_page_change", args=[page.pk])).content.decode()
    for layer in ("units", "order", "lines", "words", "chunks", "tables", "furniture", "figures"):
        assert f'<g data-layer="{layer}">' in shown
    unit = CitationUnit.objects.filter(document=document).order_by("position")[0]
    x, y = round(unit.bbox[0], 2), round(unit.bbox[1], 2)
    assert f'<rect x="{x}" y="{y}"' in shown, "the page is not turned: page space is what is shown"
    assert "<script>" not in shown and not re.search(r"\sstyle=", shown)
    picture = staff.get(reverse("admin:documents_page_picture", args=[page.pk]))
    assert picture.content.startswith(b"\x89PNG")


def test_units_chunks_and_citations_are_shown_on_their_page(staff: Client, document: Document) -> None:
    unit = CitationUnit.objects.filter(document=document).order_by("position")[1]
    conversation = Conversation.objects.create(owner=document.owner)
    answer = Message.objects.create(conversation=conversation, position=1, role="assistant")
    citation = Citation.objects.create(
        message=answer, number=1, document=document, unit=unit, quote="32.8", page_number=1, verdict="exact",
        rects=[[80, 100, 120, 112]], unit_rects=unit.rects,
    )  # fmt: skip
    for row in (unit, unit.chunk, citation):
        path = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
        shown = staff.get(path).content.decode()
        assert "<image href=" in shown and '<g data-layer="passage">' in shown
    assert '<rect x="80.0" y="100.0" width="40.0" height="12.0"' in shown


def test_a_chunk_shows_its_vectors_and_its_nearest(staff: Client, alice: User, ingested: Ingest) -> None:
    pages = [
        f"Chapter {n} speaks of subject number {n}, at some length, with words of its own." for n in range(4)
    ]
    document = ingested(alice, *pages)
    chunk = RetrievalChunk.objects.filter(document=document)[0]
    shown = staff.get(reverse("admin:documents_retrievalchunk_change", args=[chunk.pk])).content.decode()
    assert re.search(r"\d+ dimensions, norm [01]\.\d+", shown)


def test_documents_are_read_again_exported_and_deleted(
    staff: Client, document: Document, django_capture_on_commit_callbacks: Any
) -> None:
    path = reverse("admin:documents_document_changelist")

    def act(name: str, **more: str) -> Any:
        return staff.post(path, {"action": name, "_selected_action": [str(document.pk)], **more})

    exported = b"".join(act("export_units")).decode()
    assert "Revenue was 32.8 billion dollars." in exported
    assert act("read_again").status_code == 302
    document.refresh_from_db()
    assert document.status == "uploaded"
    assert b"units" in act("delete_selected").content
    with django_capture_on_commit_callbacks(execute=True):
        act("delete_selected", post="yes")
    assert not Document.objects.filter(pk=document.pk).exists()


def test_the_dashboard_counts_what_there_is(
    staff: Client, document: Document, django_assert_max_num_queries: Any
) -> None:
    Document.objects.create(owner=document.owner, title="x", status="failed", failure_code="damaged")
    with django_assert_max_num_queries(20):
        shown = staff.get(reverse("admin-dashboard")).content.decode()
    assert "damaged" in shown and "Pages read a day" in shown
    assert staff.get("/admin/").content.decode().count(reverse("admin-dashboard")) == 1
    assert Client().get(reverse("admin-dashboard")).status_code == 302
