"""Actions on several documents, and the trash: only where the user has the right."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.test import Client

from documents.models import Collection, Document, Share, Tag
from tests.conftest import Ingest


@pytest.fixture
def documents(alice: User) -> list[Document]:
    titles = ("Harbour dues", "Lock keeping", "Tide tables")
    return [Document.objects.create(owner=alice, title=title, status="ready") for title in titles]


@pytest.fixture
def act(client: Client, alice: User) -> Callable[..., str]:
    client.force_login(alice)

    def post(action: str, documents: list[Document], name: str = "", status: int = 200) -> str:
        sent = {"document": [str(row.pk) for row in documents], "name": name}
        answer = client.post(f"/documents/selected/{action}/", sent, headers={"HX-Request": "true"})
        assert answer.status_code == status
        return answer.content.decode()

    return post


def test_several_are_tagged_and_collected_at_once(
    alice: User, documents: list[Document], act: Callable[..., str]
) -> None:
    assert "Tagged “sea”: 2 documents." in act("tag", documents[:2], "sea")
    assert set(Tag.objects.get(name="sea").documents.all()) == set(documents[:2])
    assert "Added to “Port”: 3 documents." in act("collect", documents, "Port")
    assert Collection.objects.get(owner=alice, name="Port").documents.count() == 3
    act("collect", documents, "Port")
    assert Collection.objects.filter(name="Port").count() == 1


def test_several_are_shared_or_the_unknown_user_is_named(
    bob: User, documents: list[Document], act: Callable[..., str]
) -> None:
    assert "Shared with bob: 2 documents." in act("share", documents[:2], "bob")
    assert set(Document.objects.visible_to(bob)) == set(documents[:2])
    assert not Share.objects.filter(can_write=True).exists()
    Document.objects.update(title="Tides")
    Document.objects.filter(pk=documents[0].pk).update(original_name="v1.pdf")
    assert "Tides (v1.pdf)</a>" in act("share", documents[:1], "bob")  # though no other card comes with it
    assert "nobody" in act("share", documents, "nobody", status=422)


def test_several_are_deleted_and_brought_back_from_the_bin(
    alice: User, documents: list[Document], act: Callable[..., str], client: Client
) -> None:
    said = act("delete", documents[:2])
    assert "Moved to the bin: 2 documents." in said and "Undo" in said
    assert list(Document.objects.visible_to(alice)) == [documents[2]]
    listed = client.get("/bin/").content.decode()
    assert "Harbour dues" in listed and "Lock keeping" in listed and "Tide tables" not in listed
    client.post("/bin/", {"document": str(documents[0].pk)})
    assert documents[0] in Document.objects.visible_to(alice)
    client.post("/bin/", {"all": "1", "forever": "1"})
    assert not Document.objects.filter(pk=documents[1].pk).exists()
    assert "The bin is empty" in client.get("/bin/").content.decode()


def test_what_is_another_persons_stays_as_it_is(bob: User, documents: list[Document], client: Client) -> None:
    """Bob may read one of them: he may tag it for himself, no more."""
    documents[0].shares.create(user=bob)
    client.force_login(bob)
    ids = [str(row.pk) for row in documents]
    for action in ("delete", "share", "collect", "retry"):
        said = client.post(f"/documents/selected/{action}/", {"document": ids, "name": "alice"})
        assert "0 documents" in said.content.decode()
    client.post("/documents/selected/tag/", {"document": ids, "name": "his"})
    assert list(Tag.objects.get(name="his").documents.all()) == [documents[0]]
    documents[1].deleted_at = documents[1].updated_at
    documents[1].save()
    assert documents[1].title not in client.get("/bin/").content.decode()
    client.post("/bin/", {"document": ids, "forever": "1"})
    client.post("/documents/selected/restore/", {"document": ids})
    documents[1].refresh_from_db()
    assert documents[1].deleted_at is not None


def test_what_is_nothing_is_refused(
    documents: list[Document], act: Callable[..., str], client: Client
) -> None:
    assert "Enter a name." in act("tag", documents, " ", status=422)
    act("burn", documents, status=404)
    assert client.post("/documents/selected/tag/", {"document": "x", "name": "a"}).status_code == 404


def test_chosen_documents_and_collections_are_asked(
    alice: User, bob: User, ingested: Ingest, client: Client
) -> None:
    one, two = (
        ingested(alice, "Dues are paid monthly."),
        ingested(alice, "The lock opens at six.", name="b.pdf"),
    )
    collection = Collection.objects.create(owner=alice, name="Port")
    client.force_login(alice)
    page = client.get("/conversations/new/", {"document": [str(one.pk), str(two.pk)]}).content.decode()
    for document in (one, two):
        assert f'<input type="hidden" name="document" value="{document.pk}">' in page
    page = client.get("/conversations/new/", {"collection": str(collection.pk)})
    assert page.status_code == 200
    client.force_login(bob)
    assert client.get("/conversations/new/", {"document": str(one.pk)}).status_code == 404
    assert client.get("/conversations/new/", {"collection": str(collection.pk)}).status_code == 404


def test_the_selected_are_exported_as_a_zip_with_their_references(
    alice: User, bob: User, client: Client, ingested: Ingest
) -> None:
    tides = ingested(alice, "Tides of the north.", name="tides.pdf")
    other = ingested(alice, "Tides of the south.", name="south.pdf")
    Document.objects.filter(owner=alice).update(title="Tide tables", authors=["Ida Rowe"], year=1998)
    hidden = ingested(bob, "Not hers.", name="bobs.pdf")
    client.force_login(alice)
    query = "&".join(f"document={row.pk}" for row in (tides, other, hidden))
    answer = client.get(f"/documents/selected/export/?{query}")
    archive = ZipFile(BytesIO(b"".join(answer.streaming_content)))
    assert sorted(archive.namelist()) == ["references.json", "tide-tables-2.pdf", "tide-tables.pdf"]
    assert archive.read("tide-tables.pdf").startswith(b"%PDF")
    references = json.loads(archive.read("references.json"))
    assert [(one["title"], one["author"][0]["family"]) for one in references] == [("Tide tables", "Rowe")] * 2
    client.force_login(bob)
    assert client.get(f"/documents/selected/export/?document={tides.pk}").status_code == 404
    assert client.get("/documents/selected/export/?document=x").status_code == 404
