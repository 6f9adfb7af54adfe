"""Links to answers end by revocation, by expiry, and with their owner's access."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat.answers import question_commands
from chat.models import AnswerShare, Citation, Conversation, Message
from chat.models.conversation import share_answer, token_of
from documents.access import grants_of
from documents.library import delete_document, move_to_trash
from documents.models import CitationUnit, Document, Share
from tests.api_clients import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def bobs(bob: User, report: Document) -> Message:
    """An answer of Bob's that cites Alice's report, which he may read."""
    Share.objects.create(document=report, user=bob)
    conversation = Conversation.objects.create(owner=bob)
    Message.objects.create(conversation=conversation, position=0, role="user", content="How many anvils?")
    answer = Message.objects.create(
        conversation=conversation, position=1, role="assistant", content="It sold 1,577 red anvils."
    )
    unit = CitationUnit.objects.filter(document=report).first()
    Citation.objects.create(
        message=answer, number=1, document=report, unit=unit, quote="1,577 red anvils", page_number=1,
        verdict="exact", rects=[[72, 80, 120, 92]], unit_rects=[[72, 80, 120, 92]],
    )  # fmt: skip
    return answer


@pytest.fixture
def bobs_page(bob: User) -> Client:
    page = Client()
    page.force_login(bob)
    return page


def link_to(page: Client, answer: Message, **form: Any) -> str:
    url: str = page.post(f"/chat/messages/{answer.pk}/share/", form).json()["url"]
    return url.removeprefix("http://testserver")


def statuses(url: str, answer: Message) -> set[int]:
    """Of the page and of the picture, to anybody."""
    picture = f"{url}{answer.citations.get().pk}.png"
    return {Client().get(address).status_code for address in (url, picture)}


def test_a_link_ends_with_the_right_of_who_made_it(
    bobs: Message, bobs_page: Client, report: Document
) -> None:
    """S4."""
    url = link_to(bobs_page, bobs)
    assert statuses(url, bobs) == {200}
    share = Share.objects.get()
    share.delete()
    assert statuses(url, bobs) == {404}
    assert bobs_page.post(f"/chat/messages/{bobs.pk}/share/").status_code == 409, "and cannot be made anew"
    share.save(force_insert=True)
    assert statuses(url, bobs) == {200}


def test_a_link_ends_with_a_document_that_was_only_read_for_the_answer(
    bobs: Message, bobs_page: Client, report: Document
) -> None:
    unit = bobs.citations.get().unit
    assert unit is not None
    Citation.objects.all().delete()
    Message.objects.filter(pk=bobs.pk).update(sources=[str(unit.pk)])
    url = link_to(bobs_page, bobs)
    assert Client().get(url).status_code == 200
    Share.objects.all().delete()
    assert Client().get(url).status_code == 404


@pytest.mark.parametrize("goes", [move_to_trash, delete_document])
def test_a_link_ends_with_its_document(goes: Any, bobs: Message, bobs_page: Client, report: Document) -> None:
    url = link_to(bobs_page, bobs)
    goes(report)
    assert Client().get(url).status_code == 404


def test_a_link_ends_with_the_account_of_its_maker(bobs: Message, bobs_page: Client, bob: User) -> None:
    url = link_to(bobs_page, bobs)
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert statuses(url, bobs) == {404}


def test_a_link_works_for_thirty_days_or_as_long_as_was_chosen(bobs: Message, bobs_page: Client) -> None:
    url = link_to(bobs_page, bobs)
    link = AnswerShare.objects.get()
    assert link.expires_at is not None
    assert timedelta(days=29) < link.expires_at - timezone.now() < timedelta(days=31)
    AnswerShare.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert statuses(url, bobs) == {404}
    renewed = link_to(bobs_page, bobs, days=0)
    assert renewed != url and statuses(renewed, bobs) == {200}
    assert AnswerShare.objects.open().get().expires_at is None
    assert link_to(bobs_page, bobs, days=7) == renewed, "the same link, with another end"
    ends = AnswerShare.objects.open().get().expires_at
    assert ends is not None and ends - timezone.now() < timedelta(days=8)


def test_the_owner_of_a_document_sees_and_ends_links_to_it(
    bobs: Message, bobs_page: Client, report: Document, alice: User, bob: User
) -> None:
    url = link_to(bobs_page, bobs)
    (way,) = [way for way in grants_of(report) if way.kind == "link"]
    assert way.granted_by == "bob" and way.until is not None
    assert "1,577" not in way.label, "what Bob's answer says is Bob's"
    path = f"/api/documents/{report.pk}/access/{way.key}/"
    assert client_of(bob).delete(path).status_code == 403
    assert client_of(alice).delete(path).status_code == 204
    assert statuses(url, bobs) == {404}
    assert not [way for way in grants_of(report) if way.kind == "link"]


def test_a_link_that_no_longer_works_is_not_listed(
    bobs: Message, bobs_page: Client, report: Document
) -> None:
    link_to(bobs_page, bobs)
    Share.objects.all().delete()
    assert [way.kind for way in grants_of(report)] == ["owner"]


def test_an_answer_that_is_written_anew_is_no_longer_shared(bobs: Message, bobs_page: Client) -> None:
    url = link_to(bobs_page, bobs)
    question_commands.retry(bobs)
    assert Client().get(url).status_code == 404


@pytest.mark.parametrize("status", ["pending", "streaming"])
def test_an_answer_is_shared_once_it_is_written(bobs: Message, bobs_page: Client, status: str) -> None:
    """Else its link would outlive the right to the documents that it comes to use."""
    Message.objects.filter(pk=bobs.pk).update(status=status)
    refused = bobs_page.post(f"/chat/messages/{bobs.pk}/share/")
    assert refused.status_code == 409 and refused.content.decode() == "This answer is still being written."
    assert not AnswerShare.objects.exists()


def test_the_links_one_made_are_listed_and_revoked(bobs: Message, bobs_page: Client, alice: User) -> None:
    url = link_to(bobs_page, bobs)
    assert url in bobs_page.get("/chat/links/").content.decode()
    hers = Client()
    hers.force_login(alice)
    assert url not in hers.get("/chat/links/").content.decode()
    answer = bobs_page.post(f"/chat/messages/{bobs.pk}/unshare/", {"next": "links"})
    assert answer.status_code == 302 and url not in bobs_page.get("/chat/links/").content.decode()


def test_the_admin_shows_who_has_access_and_ends_it(bobs: Message, report: Document, alice: User) -> None:
    link = share_answer(bobs)
    staff = Client()
    staff.force_login(User.objects.create_superuser("root"))
    url = f"/admin/documents/document/{report.pk}/access/"
    assert "bob" in staff.get(url).content.decode()
    staff.post(url, {"way": f"link-{link.pk}"})
    staff.post(url, {"way": f"share-{Share.objects.get().pk}"})
    assert [way.kind for way in grants_of(report)] == ["owner"]
    assert Client().get(f"/chat/shared/{token_of(link)}/").status_code == 404
    unprivileged = Client()
    unprivileged.force_login(User.objects.create_user("helper", is_staff=True))
    assert unprivileged.get(url).status_code == 403 and unprivileged.post(url).status_code == 403
