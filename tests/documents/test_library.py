"""Pages of collections, tags and shares: create, change, share, revoke, delete, as their owner only."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from documents.models import Collection, Document, Share, Tag
from tests.conftest import Ingest


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def reports(alice: User) -> Collection:
    return Collection.objects.create(owner=alice, name="Reports")


def test_collections_and_tags_are_made_by_name(browser: Client, alice: User) -> None:
    for kind in ("collection", "tag", "tag"):
        browser.post(reverse("collections"), {"kind": kind, "name": "Owls"})
    assert Collection.objects.get().name == Tag.objects.get().name == "Owls"
    assert browser.get(reverse("collections")).content.decode().count("Change Owls") == 2


def test_a_collection_gets_another_name_and_colour(browser: Client, reports: Collection) -> None:
    browser.post(reverse("collection", args=[reports.pk]), {"name": "Accounts", "colour": "pink"})
    reports.refresh_from_db()
    assert (reports.name, reports.colour) == ("Accounts", "pink")
    browser.post(reverse("collection", args=[reports.pk]), {"name": " ", "colour": "url(x)"})
    reports.refresh_from_db()
    assert (reports.name, reports.colour) == ("Accounts", "pink")


def test_a_name_that_is_taken_is_refused_in_words(browser: Client, alice: User) -> None:
    Tag.objects.create(owner=alice, name="one")
    two = Tag.objects.create(owner=alice, name="two")
    page = browser.post(reverse("tag", args=[two.pk]), {"name": "one"}, follow=True).content.decode()
    assert "You already have one with this name" in page
    assert Tag.objects.filter(name="two").exists()


def test_deleting_a_collection_leaves_its_documents(
    browser: Client, alice: User, reports: Collection
) -> None:
    document = Document.objects.create(owner=alice, title="Kept", status="ready")
    document.collections.add(reports)
    browser.post(reverse("collection-delete", args=[reports.pk]))
    assert not Collection.objects.exists()
    assert Document.objects.get() == document


def test_a_shared_collection_gives_what_is_put_into_it_later(
    browser: Client, alice: User, bob: User, reports: Collection
) -> None:
    browser.post(reverse("collection-share", args=[reports.pk]), {"name": "bob"})
    document = Document.objects.create(owner=alice, title="Later", status="ready")
    browser.post(reverse("document-collect", args=[document.pk]), {"collection": str(reports.pk)})
    assert Document.objects.visible_to(bob).get() == document
    given = browser.get(reverse("shares")).content.decode()
    assert "to bob" in given
    browser.post(reverse("share-delete", args=[Share.objects.get().pk]))
    assert not Document.objects.visible_to(bob).exists()


def test_a_group_gets_the_right_to_change(
    browser: Client, alice: User, bob: User, reports: Collection
) -> None:
    group = Group.objects.create(name="Research")
    alice.groups.add(group)
    bob.groups.add(group)
    browser.post(reverse("collection-share", args=[reports.pk]), {"name": "Research", "can_write": "on"})
    document = Document.objects.create(owner=alice, title="Ours", status="ready")
    document.collections.add(reports)
    assert Document.objects.editable_by(bob).get() == document


def test_the_collections_of_others_cannot_be_used(browser: Client, alice: User, bob: User) -> None:
    document = Document.objects.create(owner=alice, title="Mine", status="ready")
    theirs, tag = Collection.objects.create(owner=bob, name="X"), Tag.objects.create(owner=bob, name="X")
    for view, field, row in (("document-collect", "collection", theirs), ("document-tag", "tag", tag)):
        url = reverse(view, args=[document.pk])
        assert browser.post(url, {field: str(row.pk)}).status_code == 404
        assert browser.post(url, {field: "nonsense"}).status_code == 404


def test_htmx_gets_the_card_a_form_the_details(browser: Client, ingested: Ingest, alice: User) -> None:
    url = reverse("document-tag", args=[ingested(alice, "Words.").pk])
    assert browser.post(url, {"name": "a"}).status_code == 302
    card = browser.post(url, {"name": "b"}, headers={"HX-Request": "true"})
    assert 'class="doc"' in card.content.decode()


def test_only_the_owner_deletes_what_is_shared(client: Client, alice: User, bob: User) -> None:
    document = Document.objects.create(owner=alice, title="Hers", status="ready")
    Share.objects.create(document=document, user=bob, can_write=True)
    client.force_login(bob)
    assert client.post(reverse("document-delete", args=[document.pk])).status_code == 404
    assert client.post(reverse("document-rename", args=[document.pk]), {"title": "Ours"}).status_code == 302
