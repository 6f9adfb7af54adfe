"""Security events are recorded with user and address; the admin shows them read-only."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.utils import timezone

from chat.models import Conversation, Message
from documents.models import ApiToken, Collection, Document, SecurityEvent, Share
from documents.tasks import sweep
from tests.api_clients import client_of
from tests.operations.accounts.test_sign_in_sessions import signed_in


@pytest.fixture(autouse=True)
def empty_log(db: None) -> None:
    """Empty the log: it outlives the users of the browser tests that ran in the same database before."""
    SecurityEvent.objects.all().delete()


def events(kind: str) -> list[tuple[str, str | None, str]]:
    rows = SecurityEvent.objects.filter(kind=kind).order_by("pk")
    return list(rows.values_list("username", "address", "detail"))


def test_sign_ins_that_worked_failed_and_were_locked_out(alice: User, settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    signed_in().post("/account/sign-out/")
    for _ in range(3):
        Client().post("/account/sign-in/", {"username": "alice", "password": "guess"})
    assert events("signed_in") == events("signed_out") == [("alice", "127.0.0.1", "")]
    assert events("sign_in_failed")[0] == ("alice", "127.0.0.1", "")
    assert events("locked_out")
    assert "guess" not in str(list(SecurityEvent.objects.values_list("detail", "username")))


def test_shares_links_and_exports(alice: User, bob: User) -> None:
    document = Document.objects.create(owner=alice, title="Plan", status="ready")
    page = signed_in()
    page.post(f"/documents/{document.pk}/shares/", {"name": "bob", "can_write": "on"})
    page.post(f"/documents/{document.pk}/access/end/", {"way": f"share-{Share.objects.get().pk}"})
    assert events("shared") == [("alice", "127.0.0.1", "Plan → bob, to edit")]
    assert events("share_ended") == [("alice", "127.0.0.1", "Plan → bob")]
    conversation = Conversation.objects.create(owner=alice)
    Message.objects.create(conversation=conversation, position=0, role="user", content="What?")
    answer = Message.objects.create(conversation=conversation, position=1, role="assistant", content="That.")
    page.post(f"/chat/messages/{answer.pk}/share/")
    page.post(f"/chat/messages/{answer.pk}/unshare/")
    page.get(f"/chat/messages/{answer.pk}/export.md")
    assert len(events("link_made")) == len(events("link_ended")) == len(events("exported")) == 1


def test_tokens_by_session_and_by_token(alice: User) -> None:
    page = signed_in()
    page.post("/account/confirm/", {"password": "correct horse"})
    page.post("/account/tokens/", {"name": "report", "scope": ["read"], "days": "90"})
    client = client_of(alice)
    client.delete(f"/api/tokens/{ApiToken.objects.get(name='report').pk}/")
    assert events("token_made")[0] == ("alice", "127.0.0.1", "report: read")
    assert events("token_ended") == [("alice", "127.0.0.1", "report of alice")]
    assert "pin_" not in str(list(SecurityEvent.objects.values_list("detail")))


def test_rights_given_in_the_admin(alice: User) -> None:
    root = User.objects.create_superuser("root", password="a root sentence 7")
    page = signed_in("root", "a root sentence 7")
    group = Group.objects.create(name="Editors")
    permission = Permission.objects.get(codename="view_searchquery")
    form = {
        "username": "alice", "is_active": "on", "is_staff": "on", "groups": [group.pk],
        "user_permissions": [permission.pk],
    }  # fmt: skip
    assert page.post(f"/admin/auth/user/{alice.pk}/change/", form).status_code == 302
    said = [detail for name, _, detail in events("rights_changed") if name == root.username]
    assert said == ["alice: is_staff=True", "alice: added Editors", "alice: added view_searchquery"]
    page.post(f"/admin/auth/user/{alice.pk}/delete/", {"post": "yes"})
    assert events("user_deleted") == [("root", "127.0.0.1", "alice")]


def test_a_document_put_into_a_shared_collection_is_a_share(alice: User, bob: User) -> None:
    document = Document.objects.create(owner=alice, title="Plan", status="ready")
    zoo = Collection.objects.create(owner=alice, name="Zoo")
    page = signed_in()
    page.post(f"/documents/{document.pk}/collections/", {"name": "Alone"})
    assert events("shared") == []
    Share.objects.create(collection=zoo, user=bob)
    page.post(f"/documents/{document.pk}/collections/", {"name": "Zoo"})
    assert events("shared")[-1] == ("alice", "127.0.0.1", "Plan in Zoo")


@pytest.mark.parametrize("method", ["get", "post"])
def test_the_admin_reads_the_log_and_changes_nothing(method: str, alice: User) -> None:
    signed_in()
    page = Client()
    page.force_login(User.objects.create_superuser("root"))
    event = SecurityEvent.objects.filter(kind="signed_in", username="alice").first()
    assert event is not None
    assert "signed in" in page.get("/admin/documents/securityevent/").content.decode()
    for action in ("delete", "change"):
        send = getattr(page, method)
        send(f"/admin/documents/securityevent/{event.pk}/{action}/", {"post": "yes", "username": "x"})
    event.refresh_from_db()
    assert event.username == "alice"
    staff = Client()
    staff.force_login(User.objects.create_user("helper", is_staff=True))
    assert staff.get("/admin/documents/securityevent/").status_code == 403


def test_the_log_outlives_its_users_but_not_its_time(alice: User, settings: Any) -> None:
    signed_in()
    alice.delete()
    event = SecurityEvent.objects.get(kind="signed_in")
    assert event.user is None and event.username == "alice"
    SecurityEvent.objects.filter(pk=event.pk).update(at=timezone.now() - timedelta(days=366))
    sweep()
    assert not SecurityEvent.objects.filter(pk=event.pk).exists()
    assert events("user_deleted")
