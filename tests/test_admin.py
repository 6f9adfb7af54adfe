"""The admin: lists take few queries, whatever their length; pages show their overlays."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Citation, Conversation, Message
from documents.admin import base
from documents.models import CitationUnit, Document, RetrievalChunk, Worker
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
    staff.get(reverse("admin:index"))  # the first request of a session also writes when it was seen
    for path in lists():
        with django_assert_max_num_queries(MOST_QUERIES):
            assert staff.get(path).status_code == 200, path
        assert staff.get(path, {"q": "words"}).status_code == 200, path


def test_rows_are_found_by_their_ids_and_the_title_of_their_document(
    staff: Client, document: Document
) -> None:
    unit = CitationUnit.objects.filter(document=document).order_by("position")[1]
    path = reverse("admin:documents_citationunit_changelist")
    row = f"/admin/documents/citationunit/{unit.pk}/change/"
    for typed in (unit.pk, document.pk, unit.chunk_id, document.title[:6].upper()):
        assert row in staff.get(path, {"q": str(typed)}).content.decode(), typed
    assert row not in staff.get(path, {"q": "no such title"}).content.decode()
    assert row not in staff.get(path, {"q": str(uuid4())}).content.decode()


def test_a_large_table_names_its_values_and_its_rows_by_statistics(
    transactional_db: None, staff: Client, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "EXACT_BELOW", 2)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE documents_citationunit")
    assert base.estimated_rows(CitationUnit) == 3
    shown = staff.get(reverse("admin:documents_citationunit_changelist")).content.decode()
    assert "3 citation units" in shown
    filtered = staff.get(reverse("admin:documents_citationunit_changelist"), {"unit_type": "prose"})
    assert "2 citation units" in filtered.content.decode()
    field = CitationUnit._meta.get_field("unit_type")
    assert base.common_values(CitationUnit, field) == ["prose"], "the one value that is there twice"


def test_a_document_links_to_what_was_made_of_it(staff: Client, document: Document) -> None:
    shown = staff.get(reverse("admin:documents_document_change", args=[document.pk])).content.decode()
    units = reverse("admin:documents_citationunit_changelist")
    assert (
        f'<a href="{units}?document__id__exact={document.pk}">{document.unit_count} citation units</a>'
        in shown
    )


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


def test_the_dashboard_tells_who_is_alive_what_is_stuck_and_puts_it_back(
    staff: Client, document: Document
) -> None:
    now = timezone.now()
    Worker.objects.create(holder="here:1", seen_at=now, restarts=1)
    Worker.objects.create(holder="there:2", seen_at=now - timedelta(hours=1), restarts=3)
    stuck = Document.objects.create(
        owner=document.owner, title="Stuck", status="parsing", attempts=1, lease=uuid4(),
        lease_holder="there:3", lease_expires_at=now - timedelta(minutes=5), started_at=now,
    )  # fmt: skip
    shown = staff.get(reverse("admin-dashboard")).content.decode()
    assert ">alive<" in shown and ">silent<" in shown and ">stuck<" in shown
    assert "no worker is alive" not in shown
    said = staff.post(reverse("admin-sweep"), follow=True).content.decode()
    assert "Requeued: 1" in said
    stuck.refresh_from_db()
    assert (stuck.status, stuck.lease) == ("uploaded", None)
    assert "Requeued: 0" in staff.post(reverse("admin-sweep"), follow=True).content.decode(), "harmless twice"
    Worker.objects.all().delete()
    assert "no worker is alive" in staff.get(reverse("admin-dashboard")).content.decode()
    assert staff.get(reverse("admin-sweep")).status_code == 405


def test_the_dashboard_counts_what_there_is(
    staff: Client, document: Document, django_assert_max_num_queries: Any
) -> None:
    Document.objects.create(owner=document.owner, title="x", status="failed", failure_code="damaged")
    talk = Conversation.objects.create(owner=document.owner)
    Message.objects.create(
        conversation=talk, role="assistant", position=1, provider="openai", usage={"output_tokens": 1234}
    )
    with django_assert_max_num_queries(18):
        shown = staff.get(reverse("admin-dashboard")).content.decode()
    assert '<th scope="row">openai</th><td>1,234</td>' in shown
    for query, names in (("status__exact=failed", ">1</a>"), ("failure_code=damaged", ">damaged</a>")):
        link = re.search(f'href="([^"]*[?]{query}[^"]*)">', shown)
        assert link and names in shown
        listed = staff.get(unescape(link[1])).context["cl"].queryset
        assert [document.title for document in listed] == ["x"]
    assert staff.get("/admin/").content.decode().count(reverse("admin-dashboard")) == 1
    assert Client().get(reverse("admin-dashboard")).status_code == 302


def test_nobody_writes_down_what_workers_call(staff: Client) -> None:
    """A schedule names any function: whoever may add one could run what they like."""
    assert staff.get(reverse("admin:django_q_schedule_add")).status_code == 403
    assert staff.get(reverse("admin:django_q_schedule_changelist")).status_code == 200


ROOT = Path(__file__).parent.parent
VERBS = ("view", "add", "change", "delete")


def table_of_rights() -> dict[str, dict[str, str]]:
    """The table in docs/security.md: by rows of a model, by permission, what it opens."""
    lines = (ROOT / "docs/security.md").read_text().splitlines()
    found = {}
    for line in lines[lines.index("| rows | view | add | change | delete |") + 2 :]:
        if not line.startswith("|"):
            return found
        names, *rights = (cell.strip() for cell in line.strip("|").split("|"))
        found |= {name.strip(" `"): dict(zip(VERBS, rights, strict=True)) for name in names.split(",")}
    return found


def test_the_table_of_rights_has_every_model_of_the_admin() -> None:
    assert set(table_of_rights()) == {model._meta.label_lower for model in admin.site._registry}


@pytest.fixture
def all_features(settings: Any) -> None:
    """Second factors and single sign-on: their pages are missing where they are off."""
    settings.SECOND_FACTOR, settings.OIDC_URL = "optional", "https://sign-in.example"


def opened(page: Client, model: Any, verb: str) -> bool:
    """Try what the permission is for. An unknown id is refused or redirected after the permission's check."""
    name, unknown = f"admin:{model._meta.app_label}_{model._meta.model_name}", str(uuid4())
    answer = {
        "view": lambda: page.get(reverse(f"{name}_changelist")),
        "add": lambda: page.get(reverse(f"{name}_add")),
        "change": lambda: page.post(reverse(f"{name}_change", args=[unknown]), {}),
        "delete": lambda: page.post(reverse(f"{name}_delete", args=[unknown]), {"post": "yes"}),
    }[verb]()
    assert answer.status_code in (200, 302, 403), answer.status_code
    return bool(answer.status_code != 403)


@pytest.mark.parametrize("model", sorted(admin.site._registry, key=lambda model: model._meta.label_lower))
def test_a_permission_of_staff_opens_what_the_table_says(model: Any, db: None, all_features: None) -> None:
    rights = table_of_rights()[model._meta.label_lower]
    held = {
        verb: Permission.objects.get(
            content_type__app_label=model._meta.app_label, codename=f"{verb}_{model._meta.model_name}"
        )
        for verb in VERBS
    }
    for given in ((), *((verb,) for verb in VERBS), VERBS):
        page = Client()
        user = User.objects.create_user(f"staff {len(given)} {given[:1]}", is_staff=True)
        user.user_permissions.set(held[verb] for verb in given)
        page.force_login(user)
        for verb in VERBS:
            has = verb in given or (verb == "view" and "change" in given)  # as Django has it
            if model is User and verb == "add":
                has = has and "change" in given
            assert opened(page, model, verb) == (has and rights[verb] == "yes"), (given, verb)


def test_superusers_do_what_the_table_leaves_to_them(staff: Client, all_features: None) -> None:
    for model in admin.site._registry:
        for verb, right in table_of_rights()[model._meta.label_lower].items():
            assert opened(staff, model, verb) == (right != "no"), (model, verb)


def clerk() -> User:
    """Staff who may do everything to accounts that permissions can allow."""
    found = User.objects.create_user("clerk", password="clerk", is_staff=True)
    found.user_permissions.set(Permission.objects.filter(content_type__app_label__in=("auth", "mfa")))
    return found


def form_of(page: Client, url: str) -> dict[str, Any]:
    form = page.get(url).context["adminform"].form
    return {name: form.initial.get(name) or "" for name in form.fields if name != "password"}


def test_staff_do_not_give_themselves_rights(client: Client, db: None) -> None:
    user = clerk()
    client.force_login(user)
    url = reverse("admin:auth_user_change", args=[user.pk])
    sent = form_of(client, url) | {"first_name": "Clara", "is_superuser": "on", "is_staff": "on"}
    sent |= {"user_permissions": [permission.pk for permission in Permission.objects.all()]}
    assert client.post(url, sent).status_code == 302
    user.refresh_from_db()
    assert user.first_name == "Clara" and not user.is_superuser
    assert user.user_permissions.count() < Permission.objects.count()
    group = Group.objects.create(name="all")
    assert client.post(reverse("admin:auth_group_change", args=[group.pk]), {}).status_code == 403


def test_staff_do_not_take_over_accounts_with_more_rights(
    client: Client, db: None, all_features: None
) -> None:
    client.force_login(clerk())
    root = User.objects.create_superuser("root", password="before")
    auditor = User.objects.create_user("auditor", password="before", is_staff=True)
    auditor.user_permissions.add(Permission.objects.get(codename="view_securityevent"))
    factor = Authenticator.objects.create(user=root, type="totp", data={})
    new = {"password1": "a new sentence 41", "password2": "a new sentence 41", "usable_password": "true"}
    for other in (root, auditor):
        assert client.post(f"/admin/auth/user/{other.pk}/password/", new).status_code == 403
        for end in ("change", "delete"):
            assert client.post(reverse(f"admin:auth_user_{end}", args=[other.pk]), {}).status_code == 403
        bulk = {"action": "delete_selected", "_selected_action": [other.pk], "post": "yes"}
        client.post(reverse("admin:auth_user_changelist"), bulk)
        other.refresh_from_db()
        assert other.check_password("before")
    url = reverse("admin:mfa_authenticator_delete", args=[factor.pk])
    assert client.post(url, {"post": "yes"}).status_code == 403


def test_staff_help_who_has_no_more_rights(client: Client, alice: User) -> None:
    client.force_login(clerk())
    new = {"password1": "a new sentence 41", "password2": "a new sentence 41", "usable_password": "true"}
    assert client.post(f"/admin/auth/user/{alice.pk}/password/", new).status_code == 302
    alice.refresh_from_db()
    assert alice.check_password("a new sentence 41")
