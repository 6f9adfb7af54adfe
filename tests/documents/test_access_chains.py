"""Delegated rights are never wider than their grantor's, and end with it, in any chain."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.test import Client
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.access import (
    NotYours,
    add_to_collection,
    end_grant,
    grants_of,
    remove_from_collection,
    set_collections,
)
from documents.models import Collection, Document, Placement, Share
from retrieval.query.scope import Scope
from tests.api_clients import client_of

NAMES = ("ann", "ben", "cat", "dan")
GROUPS = ("one", "two")


def document_of(owner: User, title: str = "Minutes") -> Document:
    return Document.objects.create(owner=owner, title=title, status="ready", indexed_at=timezone.now())


# --- The model ----------------------------------------------------------------


class Model:
    """The access rule over names: the ten lines of ``editors`` and ``readers``."""

    def __init__(self) -> None:
        self.owner = ""
        self.members: set[tuple[str, str]] = set()  # (user, group)
        self.shares: dict[tuple[str, str], bool] = {}  # (thing, party): may edit
        self.placed: dict[str, str] = {}  # collection: who put the document there

    def parties(self, user: str) -> set[str]:
        return {user} | {group for name, group in self.members if name == user}

    def may(self, user: str, thing: str, edit: bool) -> bool:
        owns = user in (thing.removeprefix("of "), self.owner if thing == "document" else "")
        return owns or any(self.shares.get((thing, party), False) >= edit
                           for party in self.parties(user) if (thing, party) in self.shares)  # fmt: skip

    def editors(self) -> set[str]:
        found = {name for name in NAMES if self.may(name, "document", True)}
        while (
            more := {
                name
                for collection, holder in self.placed.items()
                for name in NAMES
                if holder in found and self.may(name, collection, True)
            }
            - found
        ):
            found |= more
        return found

    def readers(self) -> set[str]:
        live = [collection for collection, holder in self.placed.items() if holder in self.editors()]
        ways = ["document", *live]
        return {name for name in NAMES if any(self.may(name, way, False) for way in ways)} | self.editors()


COLLECTIONS = tuple(f"of {name}" for name in NAMES[:3])
THINGS = st.sampled_from(("document", *COLLECTIONS))
STEP = st.one_of(
    st.tuples(st.just("join"), st.sampled_from(NAMES), st.sampled_from(GROUPS)),
    st.tuples(st.just("leave"), st.sampled_from(NAMES), st.sampled_from(GROUPS)),
    st.tuples(st.just("share"), THINGS, st.sampled_from(NAMES + GROUPS), st.booleans()),
    st.tuples(st.just("unshare"), THINGS, st.sampled_from(NAMES + GROUPS)),
    st.tuples(st.just("put"), st.sampled_from(NAMES), st.sampled_from(COLLECTIONS)),
    st.tuples(st.just("take"), st.sampled_from(NAMES), st.sampled_from(COLLECTIONS)),
)  # fmt: skip


class World:
    """Make the same changes in the model and, by the functions of pages and API, in the database."""

    def __init__(self) -> None:
        self.model = Model()
        self.users = {name: User.objects.create_user(name) for name in NAMES}
        self.groups = {name: Group.objects.create(name=name) for name in GROUPS}
        self.model.owner = NAMES[0]
        self.document = document_of(self.users[NAMES[0]])
        self.things: dict[str, Any] = {"document": self.document} | {
            f"of {name}": Collection.objects.create(owner=self.users[name], name=name) for name in NAMES[:3]
        }

    def step(self, verb: str, first: str, second: str, edit: bool = False) -> None:
        getattr(self, verb)(first, second, *([edit] if verb == "share" else []))

    def join(self, user: str, group: str) -> None:
        self.model.members.add((user, group))
        self.users[user].groups.add(self.groups[group])

    def leave(self, user: str, group: str) -> None:
        self.model.members.discard((user, group))
        self.users[user].groups.remove(self.groups[group])

    def party(self, name: str) -> dict[str, Any]:
        return {"group": self.groups[name]} if name in GROUPS else {"user": self.users[name]}

    def share(self, thing: str, party: str, edit: bool) -> None:
        self.model.shares[thing, party] = edit
        self.things[thing].shares.update_or_create(**self.party(party), defaults={"can_write": edit})

    def unshare(self, thing: str, party: str) -> None:
        self.model.shares.pop((thing, party), None)
        self.things[thing].shares.filter(**self.party(party)).delete()

    def put(self, user: str, collection: str) -> None:
        """Add the document if the user may edit both; an earlier adder who may still edit it stays."""
        if user not in self.model.editors() or not self.model.may(user, collection, True):
            return
        holder = self.model.placed.get(collection)
        if holder not in self.model.editors() or user == self.model.owner:
            self.model.placed[collection] = user
        add_to_collection(self.document, self.things[collection], self.users[user])

    def take(self, user: str, collection: str) -> None:
        may = user == self.model.owner or self.model.may(user, collection, True)
        if not may:
            with pytest.raises(NotYours):
                remove_from_collection(self.document, self.things[collection], self.users[user])
            return
        self.model.placed.pop(collection, None)
        remove_from_collection(self.document, self.things[collection], self.users[user])

    def found(self) -> tuple[set[str], set[str], set[str]]:
        """Who reads and who edits by the database's rule, and who finds it in a search."""
        reads = {name for name in NAMES if Document.objects.visible_to(self.users[name]).exists()}
        edits = {name for name in NAMES if Document.objects.editable_by(self.users[name]).exists()}
        searched = {name for name in NAMES if Scope(user=self.users[name]).documents().exists()}
        return reads, edits, searched

    def listed(self) -> tuple[set[str], set[str]]:
        """Who reads and who edits, by the list that the owner sees."""
        people = [person for way in grants_of(self.document) for person in way.people]
        named = [(name, person.can_write) for person in people
                 for name in (person.members if person.is_group else (person.name,))]  # fmt: skip
        return {name for name, _ in named}, {name for name, edits in named if edits}


def check_chain(steps: list[Any]) -> None:
    with transaction.atomic():
        world = World()
        for step in steps:
            world.step(*step)
        reads, edits = world.model.readers(), world.model.editors()
        assert world.found() == (reads, edits, reads)
        assert world.listed() == (reads, edits)
        transaction.set_rollback(True)


@pytest.mark.django_db
@given(steps=st.lists(STEP, max_size=25))
def test_every_chain_of_grants_and_revocations_gives_what_the_model_says(steps: list[Any]) -> None:
    check_chain(steps)


@pytest.mark.slow
@pytest.mark.django_db
@given(steps=st.lists(STEP, min_size=5, max_size=60))
@settings(max_examples=400)
def test_long_chains_of_grants_and_revocations_give_what_the_model_says(steps: list[Any]) -> None:
    check_chain(steps)


# --- The faults of the review ---------------------------------------------------


@pytest.fixture
def people(db: None) -> dict[str, User]:
    return {name: User.objects.create_user(name) for name in NAMES}


def test_who_may_edit_cannot_keep_or_hand_on_a_document_after_the_share_has_ended(
    people: dict[str, User],
) -> None:
    """S1: every chain of two grants, by a user or a group, into one's own collection or a friend's."""
    ann, ben, cat, dan = people.values()
    group = Group.objects.create(name="Readers")
    ben.groups.add(group)
    dan.groups.add(group)
    for number, (by_group, to_group, theirs) in enumerate(product((False, True), repeat=3)):
        document = document_of(ann, f"Plan {number}")
        first = Share.objects.create(document=document, can_write=True,
                                     **({"group": group} if by_group else {"user": ben}))  # fmt: skip
        collection = Collection.objects.create(owner=cat if theirs else ben, name=f"c{number}")
        Share.objects.create(collection=collection, user=ben if theirs else cat, can_write=True)
        if to_group:
            Share.objects.create(collection=collection, group=group, can_write=True)
        page = Client()
        page.force_login(ben)
        page.post(f"/documents/{document.pk}/collections/", {"collection": str(collection.pk)})
        assert Document.objects.editable_by(cat).filter(pk=document.pk).exists()
        first.delete()
        for user in (ben, cat, dan):
            for rows in (Document.objects.visible_to(user), Document.objects.editable_by(user)):
                assert not rows.filter(pk=document.pk).exists(), (number, user)
            assert client_of(user).get(f"/api/documents/{document.pk}/").status_code == 404


def test_two_collections_do_not_lend_each_other_a_right(people: dict[str, User]) -> None:
    ann, ben, cat, _dan = people.values()
    document = document_of(ann)
    share = Share.objects.create(document=document, user=ben, can_write=True)
    bens, cats = (Collection.objects.create(owner=user, name="c") for user in (ben, cat))
    Share.objects.create(collection=bens, user=cat, can_write=True)
    Share.objects.create(collection=cats, user=ben, can_write=True)
    add_to_collection(document, bens, ben)
    add_to_collection(document, cats, cat)
    share.delete()
    assert not Document.objects.visible_to(ben).exists()
    assert not Document.objects.visible_to(cat).exists()


def test_a_right_lowered_to_reading_is_no_longer_handed_on(people: dict[str, User]) -> None:
    ann, ben, cat, _dan = people.values()
    document = document_of(ann)
    share = Share.objects.create(document=document, user=ben, can_write=True)
    bens = Collection.objects.create(owner=ben, name="c")
    Share.objects.create(collection=bens, user=cat, can_write=True)
    add_to_collection(document, bens, ben)
    Share.objects.filter(pk=share.pk).update(can_write=False)
    assert Document.objects.visible_to(ben).exists()
    assert not Document.objects.visible_to(cat).exists()


def test_the_owner_sees_everybody_and_ends_each_way(people: dict[str, User]) -> None:
    ann, ben, cat, dan = people.values()
    document = document_of(ann)
    group = Group.objects.create(name="Readers")
    dan.groups.add(group)
    Share.objects.create(document=document, user=ben, can_write=True)
    Share.objects.create(document=document, group=group)
    secret = Collection.objects.create(owner=ben, name="Layoffs")
    Share.objects.create(collection=secret, user=cat)
    add_to_collection(document, secret, ben)
    owners = client_of(ann)
    answer = owners.get(f"/api/documents/{document.pk}/access/")
    assert answer.status_code == 200
    ways = answer.json()["results"]
    said = [(way["kind"], [person["name"] for person in way["people"]], way["granted_by"]) for way in ways]
    assert said == [
        ("owner", ["ann"], "ann"),
        ("share", ["ben"], "ann"),
        ("share", ["Readers"], "ann"),
        ("collection", ["cat"], "ben"),
    ]  # fmt: skip
    assert ways[2]["people"][0]["members"] == ["dan"]
    assert "Layoffs" not in answer.content.decode(), "another's collection is not named"
    page = Client()
    page.force_login(ann)
    shown = page.get(f"/documents/{document.pk}/details/").content.decode()
    assert all(name in shown for name in ("ben", "cat", "dan", "Readers")) and "Layoffs" not in shown
    for way in ways[1:]:
        assert owners.delete(f"/api/documents/{document.pk}/access/{way['id']}/").status_code == 204
    assert [way.kind for way in grants_of(document)] == ["owner"]
    assert not any(Document.objects.visible_to(user).exists() for user in (ben, cat, dan))
    assert owners.delete(f"/api/documents/{document.pk}/access/{ways[1]['id']}/").status_code == 404
    assert owners.delete(f"/api/documents/{document.pk}/access/owner/").status_code == 404


def test_only_the_owner_sees_who_can_reach_a_document(people: dict[str, User]) -> None:
    ann, ben, cat, _dan = people.values()
    document = document_of(ann)
    share = Share.objects.create(document=document, user=ben, can_write=True)
    url = f"/api/documents/{document.pk}/access/"
    assert client_of(ben).get(url).status_code == 403
    assert client_of(cat).get(url).status_code == 404
    assert client_of(ben).delete(f"{url}share-{share.pk}/").status_code == 403
    assert client_of(ann, "read").delete(f"{url}share-{share.pk}/").status_code == 403, (
        "needs the write scope"
    )
    assert Share.objects.exists()


def test_the_owner_ends_a_way_on_the_page(people: dict[str, User]) -> None:
    ann, ben, _cat, _dan = people.values()
    document = document_of(ann)
    zoo = Collection.objects.create(owner=ann, name="Zoo")
    Share.objects.create(collection=zoo, user=ben)
    add_to_collection(document, zoo, ann)
    page = Client()
    page.force_login(ben)
    ending = f"/documents/{document.pk}/access/end/"
    assert page.post(ending, {"way": f"collection-{zoo.pk}"}).status_code == 404
    page.force_login(ann)
    assert page.post(ending, {"way": f"collection-{zoo.pk}"}).status_code == 302
    assert not Document.objects.visible_to(ben).exists()
    assert Collection.objects.visible_to(ben).exists(), "only this document was taken out"


def test_since_when_is_the_last_grant_of_the_chain(people: dict[str, User]) -> None:
    ann, ben, cat, _dan = people.values()
    document = document_of(ann)
    share = Share.objects.create(document=document, user=ben, can_write=True)
    bens = Collection.objects.create(owner=ben, name="c")
    Share.objects.create(collection=bens, user=cat)
    add_to_collection(document, bens, ben)
    later = timezone.now() + timedelta(days=1)
    Share.objects.filter(pk=share.pk).update(created_at=later)
    (way,) = [way for way in grants_of(document) if way.kind == "collection"]
    assert way.since == way.people[0].since == later


def test_documents_are_taken_out_only_by_who_may_edit_the_collection(people: dict[str, User]) -> None:
    """S19."""
    ann, ben, cat, _dan = people.values()
    document, zoo = document_of(ann), Collection.objects.create(owner=cat, name="Zoo")
    Share.objects.create(document=document, user=ben, can_write=True)
    Share.objects.create(collection=zoo, user=ben)
    Share.objects.create(collection=zoo, user=ann, can_write=True)
    add_to_collection(document, zoo, ann)
    url = f"/api/documents/{document.pk}/"
    assert client_of(ben).patch(url, {"collections": []}, format="json").status_code == 403
    assert document.collections.get() == zoo
    kept = {"collections": [str(zoo.pk)], "title": "Better"}
    assert client_of(ben).patch(url, kept, format="json").json()["title"] == "Better"
    other = Collection.objects.create(owner=cat, name="Other")
    Share.objects.create(collection=other, user=ben)
    added = {"collections": [str(zoo.pk), str(other.pk)]}
    assert client_of(ben).patch(url, added, format="json").status_code == 403
    Share.objects.filter(collection=zoo, user=ann).delete()
    Share.objects.create(collection=zoo, user=ann)
    assert client_of(ann).patch(url, {"collections": []}, format="json").status_code == 200, (
        "her own document"
    )
    assert not document.collections.exists()


def test_a_change_by_an_editor_leaves_collections_that_are_hidden_from_them(people: dict[str, User]) -> None:
    ann, ben, _cat, _dan = people.values()
    document, hidden = document_of(ann), Collection.objects.create(owner=ann, name="Hidden")
    Share.objects.create(document=document, user=ben, can_write=True)
    add_to_collection(document, hidden, ann)
    answer = client_of(ben).patch(f"/api/documents/{document.pk}/", {"collections": []}, format="json")
    assert answer.status_code == 200 and answer.json()["collections"] == []
    assert document.collections.get() == hidden
    set_collections(document, [], ann)
    assert not document.collections.exists()


def test_a_thing_is_shared_with_a_party_once(people: dict[str, User]) -> None:
    """With two shares of one object, ending one would not end the access."""
    ann, ben, _cat, _dan = people.values()
    document = document_of(ann)
    for can_write in (True, False):
        sent = {"document": str(document.pk), "user": "ben", "can_write": can_write}
        answer = client_of(ann).post("/api/shares/", sent, format="json")
        assert answer.status_code == 201 and answer.json()["can_write"] is can_write
    assert Share.objects.count() == 1
    client_of(ann).delete(f"/api/shares/{answer.json()['id']}/")
    assert not Document.objects.visible_to(ben).exists()


def test_a_place_that_no_longer_holds_is_taken_over_by_who_puts_the_document_there_again(
    people: dict[str, User],
) -> None:
    ann, ben, cat, _dan = people.values()
    document, zoo = document_of(ann), Collection.objects.create(owner=cat, name="Zoo")
    for user in (ann, ben):
        Share.objects.create(collection=zoo, user=user, can_write=True)
    share = Share.objects.create(document=document, user=ben, can_write=True)
    add_to_collection(document, zoo, ben)
    add_to_collection(document, zoo, ann)
    assert Placement.objects.get().added_by == ann, "the owner's right is the strongest"
    share.delete()
    assert Document.objects.visible_to(cat).exists()


def test_counts_tell_nothing_of_documents_that_cannot_be_read(people: dict[str, User]) -> None:
    ann, ben, cat, _dan = people.values()
    document, zoo = document_of(ann), Collection.objects.create(owner=ben, name="Zoo")
    share = Share.objects.create(document=document, user=ben, can_write=True)
    Share.objects.create(collection=zoo, user=cat)
    add_to_collection(document, zoo, ben)
    url = f"/api/collections/{zoo.pk}/"
    assert client_of(cat).get(url).json()["document_count"] == 1
    share.delete()
    assert client_of(cat).get(url).json()["document_count"] == 0


def test_the_list_of_ways_takes_as_many_queries_for_one_way_as_for_many(
    people: dict[str, User], django_assert_num_queries: Any
) -> None:
    ann, ben, cat, _dan = people.values()
    document = document_of(ann)
    for number in range(12):
        zoo = Collection.objects.create(owner=ann, name=f"c{number}")
        Share.objects.create(collection=zoo, user=cat)
        Share.objects.create(collection=zoo, group=Group.objects.create(name=f"g{number}"))
        add_to_collection(document, zoo, ann)
    Share.objects.create(document=document, user=ben)
    document = Document.objects.select_related("owner").get()
    with django_assert_num_queries(9):
        assert len(grants_of(document)) == 14


def test_a_way_that_is_no_way_ends_nothing(people: dict[str, User]) -> None:
    document = document_of(people["ann"])
    for key in ("", "owner", "share", "share-", "share-x", f"tag-{document.pk}", f"share-{document.pk}"):
        assert not end_grant(document, key)
