from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.test import Client
from django.urls import reverse

from chat.models import AnswerShare, Conversation, Note, Report
from config.environment import MailServer, mail
from documents.models import Collection, Document, Share
from operations.accounts.people import hand_over
from reviews.models import Review, ReviewShare, ReviewTemplate

PASSWORD = "nine herons over the harbour"


@pytest.fixture
def chief(client: Client, db: None) -> Client:
    client.force_login(User.objects.create_superuser("chief", password=PASSWORD))
    asked = client.post(reverse("people-invite"), {})  # asks for the password
    client.post(asked["Location"], {"password": PASSWORD, "next": reverse("people-invite")})
    return client


def act(client: Client, user: User, action: str, name: str = "") -> int:
    form = {"action": action, "name": name}
    return client.post(reverse("people-change", args=[user.pk]), form).status_code


def test_an_invited_person_chooses_a_password_by_the_link_once(chief: Client) -> None:
    form = {"username": "dana", "email": "dana@example.org", "groups": "Counsel, Readers"}
    page = chief.post(reverse("people-invite"), form).content.decode()
    found = re.search(r"/account/invitation/[^<\"&]+", page)
    assert found
    dana = User.objects.get(username="dana")
    assert sorted(dana.groups.values_list("name", flat=True)) == ["Counsel", "Readers"]
    guest = Client()
    opened = guest.get(found[0], follow=True)
    chosen = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert guest.post(opened.request["PATH_INFO"], chosen).status_code == 302
    assert guest.get("/").status_code == 200
    again = Client().get(found[0], follow=True).content.decode()
    assert "This invitation has expired" in again


def test_a_link_replaces_the_password_and_not_the_second_factor(chief: Client, alice: User) -> None:
    Authenticator.objects.create(user=alice, type="webauthn", data={"name": "Hers"})
    page = chief.post(reverse("people-change", args=[alice.pk]), {"action": "link"}).content.decode()
    found = re.search(r"/account/invitation/[^<\"&]+", page)
    assert found
    guest = Client()
    opened = guest.get(found[0], follow=True)
    guest.post(opened.request["PATH_INFO"], {"new_password1": PASSWORD, "new_password2": PASSWORD})
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)
    assert SESSION_KEY not in guest.session and guest.get("/").status_code == 302


def test_only_administrators_see_the_page(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.get(reverse("people")).status_code == 403
    assert act(client, alice, "deactivate") in (302, 403)
    alice.refresh_from_db()
    assert alice.is_active


def test_a_deactivated_person_is_signed_out_and_may_come_back(chief: Client, alice: User) -> None:
    hers = Client()
    hers.force_login(alice)
    act(chief, alice, "deactivate")
    assert hers.get("/").status_code == 302
    page = chief.get(reverse("people")).content.decode()
    assert "alice can no longer sign in. Their documents and work stay until you hand them over." in page
    act(chief, alice, "activate")
    alice.refresh_from_db()
    assert alice.is_active


def test_nobody_deactivates_their_own_account(chief: Client) -> None:
    own = User.objects.get(username="chief")
    act(chief, own, "deactivate")
    own.refresh_from_db()
    assert own.is_active


def test_a_person_joins_and_leaves_a_group(chief: Client, alice: User) -> None:
    act(chief, alice, "join", "Counsel")
    assert [group.name for group in alice.groups.all()] == ["Counsel"]
    act(chief, alice, "leave", "Counsel")
    assert not alice.groups.exists()


def test_documents_are_handed_over_but_for_copies_that_the_heir_has(alice: User, bob: User) -> None:
    hers = Document.objects.create(owner=alice, title="Hers", sha256="a" * 64)
    both = Document.objects.create(owner=alice, title="Both", sha256="b" * 64)
    Document.objects.create(owner=bob, title="Both", sha256="b" * 64)
    for owner in (alice, bob):
        Collection.objects.create(owner=owner, name="Leases").documents.add(hers)
    Share.objects.create(document=hers, user=bob)
    assert hand_over(alice, bob) == 1
    assert not Share.objects.exists()
    hers.refresh_from_db()
    both.refresh_from_db()
    assert (hers.owner, both.owner) == (bob, alice)
    assert sorted(bob.collections.values_list("name", flat=True)) == ["Leases", "Leases (alice)"]
    assert not Document.objects.visible_to(alice).filter(pk=hers.pk).exists()


def test_conversations_notes_and_reviews_are_handed_over_too(chief: Client, alice: User, bob: User) -> None:
    rows = (
        Conversation.objects.create(owner=alice, title="Leases"),
        Note.objects.create(owner=alice, title="Rent"),
        Report.objects.create(owner=alice, title="Rents"),
        Review.objects.create(owner=alice, name="All leases"),
        ReviewTemplate.objects.create(owner=alice, name="Leases"),
    )
    act(chief, alice, "hand-over", "bob")
    for row in rows:
        assert type(row)._default_manager.visible_to(bob).filter(pk=row.pk).exists(), row
        assert not type(row)._default_manager.visible_to(alice).filter(pk=row.pk).exists(), row


def test_an_invitation_is_mailed_where_a_server_is_set_up(
    chief: Client, settings: Any, mailoutbox: list[EmailMessage]
) -> None:
    without = chief.post(reverse("people-invite"), {"username": "dana", "email": "dana@example.org"})
    assert "Send this link to dana" in without.content.decode() and not mailoutbox
    settings.MAIL = mail_server("smtp://clerk:p%40ss@mail.example.org?from=desk@example.org")
    with_server = chief.post(reverse("people-invite"), {"username": "erin", "email": "erin@example.org"})
    assert "This link was sent to erin@example.org" in with_server.content.decode()
    (sent,) = mailoutbox
    link = re.search(r"http://testserver(/account/invitation/\S+)", str(sent.body))
    assert sent.to == ["erin@example.org"] and link and Client().get(link[1]).status_code == 302


def mail_server(url: str) -> MailServer:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("A_MAIL", url)
        found = mail("A_MAIL")
    assert found == MailServer(
        "mail.example.org", 587, "clerk", "p@ss", starttls=True, sender="desk@example.org"
    )
    return found


def test_one_page_names_all_that_others_can_reach(client: Client, alice: User, bob: User) -> None:
    review = Review.objects.create(owner=alice, name="All leases")
    ReviewShare.objects.create(review=review, user=bob, can_write=True)
    question = Conversation.objects.create(owner=alice, title="Rents").messages.create(
        role="user", content="Which rent?", position=0
    )
    AnswerShare.objects.create(message=question)
    client.force_login(alice)
    page = " ".join(client.get(reverse("shares")).content.decode().split())
    assert re.search(r"All leases</a> <p[^>]*>to bob · can edit", page)
    assert re.search(r"Which rent\?</a> <p[^>]*>Anyone with the link", page)
