from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from documents.access import UnknownUser, add_to_collection, share_with
from documents.models import Collection, Document, Share, Tag
from tests.conftest import Ingest, ingest


@pytest.fixture
def report(alice: User, ingested: Ingest) -> Document:
    return ingested(alice, "The quick brown fox jumps over the lazy dog.")


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def post(browser: Client, view: str, document: Document, /, **form: str) -> int:
    return browser.post(reverse(view, args=[document.pk]), form).status_code


def test_a_tag_is_stuck_on_and_taken_off(browser: Client, report: Document) -> None:
    post(browser, "document-tag", report, name="animals")
    assert [tag.name for tag in report.tags.all()] == ["animals"]
    post(browser, "document-tag", report, remove="animals")
    assert not report.tags.exists()
    assert Tag.objects.filter(name="animals").exists()


def test_a_collection_is_made_when_it_is_new(browser: Client, report: Document) -> None:
    for _ in range(2):
        post(browser, "document-collect", report, name="Zoo")
    assert Collection.objects.count() == 1
    assert report.collections.get().name == "Zoo"


def test_sharing_lets_bob_read_until_it_is_taken_back(
    browser: Client, report: Document, alice: User, bob: User
) -> None:
    post(browser, "document-share", report, name="bob")
    assert Document.objects.visible_to(bob).get() == report
    assert not Document.objects.editable_by(bob).exists()
    post(browser, "document-share", report, remove=str(report.shares.get().pk))
    assert not Document.objects.visible_to(bob).exists()


def test_the_details_say_who_else_has_the_document_through_a_collection(
    browser: Client, report: Document, bob: User
) -> None:
    def said() -> str:
        return browser.get(reverse("document-details", args=[report.pk])).content.decode()

    post(browser, "document-collect", report, name="Zoo")
    assert "Only you can see this document." in said()
    zoo = report.collections.get()
    browser.post(reverse("collection-share", args=[zoo.pk]), {"name": "bob"})
    assert Document.objects.visible_to(bob).get() == report
    assert "Only you can see this document." not in said()
    assert "through the collection “Zoo”" in said()


def test_the_details_do_not_name_a_collection_that_is_anothers(
    browser: Client, report: Document, bob: User
) -> None:
    theirs = Collection.objects.create(owner=bob, name="Layoffs")
    Share.objects.create(document=report, user=bob, can_write=True)
    add_to_collection(report, theirs, bob)
    Share.objects.create(collection=theirs, user=User.objects.create_user("carol"))
    said = browser.get(reverse("document-details", args=[report.pk])).content.decode()
    assert "Layoffs" not in said
    assert "Only you can see this document." not in said
    assert "carol" in said and "through a collection of another user" in said


def test_sharing_with_nobody_says_so(browser: Client, report: Document) -> None:
    response = browser.post(reverse("document-share", args=[report.pk]), {"name": "zoe"}, follow=True)
    assert "you are not in a group with that name" in response.content.decode()


def test_an_administrator_shares_with_any_group_others_with_their_own(
    admin_user: User, alice: User, bob: User
) -> None:
    """Whoever put people into a group can name it; the names of others' groups are not disclosed."""
    bob.groups.add(Group.objects.create(name="Legal"))
    theirs = [ingest(owner, "Words of " + owner.username) for owner in (admin_user, alice)]
    share_with(admin_user, theirs[0], "Legal", can_write=False)
    with pytest.raises(UnknownUser):
        share_with(alice, theirs[1], "Legal", can_write=False)
    assert list(Document.objects.visible_to(bob)) == [theirs[0]]


@pytest.mark.parametrize("name", ["document-tag", "document-collect", "document-share"])
def test_others_order_and_share_nothing(name: str, client: Client, report: Document, bob: User) -> None:
    client.force_login(bob)
    assert post(client, name, report, name="bob") == 404


def test_a_reader_may_tag_for_himself_but_not_share_on(
    client: Client, browser: Client, report: Document, bob: User
) -> None:
    post(browser, "document-share", report, name="bob")
    client.force_login(bob)
    assert post(client, "document-share", report, name="charlie") == 404
    assert post(client, "document-collect", report, name="Mine") == 404
    post(client, "document-tag", report, name="from alice")
    assert report.tags.get().owner == bob


def test_the_details_show_only_ones_own_tags(
    client: Client, browser: Client, report: Document, bob: User
) -> None:
    post(browser, "document-tag", report, name="my secret word")
    post(browser, "document-share", report, name="bob")
    client.force_login(bob)
    page = client.get(reverse("document-details", args=[report.pk])).content.decode()
    assert "my secret word" not in page
    assert "my secret word" not in client.get("/").content.decode()


def test_details_are_for_those_who_may_see_the_document(client: Client, report: Document, bob: User) -> None:
    client.force_login(bob)
    assert client.get(reverse("document-details", args=[report.pk])).status_code == 404
    assert client.get(reverse("document-table", args=[report.pk, 0])).status_code == 404
