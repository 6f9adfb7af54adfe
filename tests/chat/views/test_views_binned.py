"""What a citation shows whose document is in the bin, or deleted."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from chat.answers.message_presenters import shown_message
from chat.models import Message
from documents.library import delete_document, move_to_trash
from documents.models import Document


def test_a_citation_of_a_document_in_the_bin_says_so_and_offers_to_restore_it(
    answer: Message, alice: User, bob: User, client: Client
) -> None:
    client.force_login(alice)
    cited = answer.citations.earliest("position")
    assert cited.document is not None
    move_to_trash(cited.document)
    assert {shown.durability for shown in shown_message(answer).citations} == {"binned"}
    card = client.get(f"/chat/citations/{cited.pk}/card/").content.decode()
    assert "in the bin" in card and "1,577 red anvils" in card and "<img" not in card
    page = client.get(f"/documents/{cited.document_id}/?citation={cited.pk}")
    assert page.status_code == 404 and f"/documents/{cited.document_id}/restore/" in page.content.decode()
    assert f"restore/?citation={cited.pk}" in page.content.decode()
    restored = client.post(f"/documents/{cited.document_id}/restore/?page=1&citation={cited.pk}")
    assert restored["Location"] == f"/documents/{cited.document_id}/?page=1&citation={cited.pk}"
    assert {shown.durability for shown in shown_message(answer).citations} == {"same"}
    move_to_trash(Document.objects.get(pk=cited.document_id))
    client.force_login(bob)
    assert client.get(f"/documents/{cited.document_id}/").status_code == 404
    assert b"restore" not in client.get(f"/documents/{cited.document_id}/").content
    assert client.get(f"/chat/citations/{cited.pk}/card/").status_code == 404


def test_a_citation_of_a_deleted_document_keeps_its_words_and_claims_nothing(
    answer: Message, alice: User, bob: User, client: Client
) -> None:
    client.force_login(alice)
    cited = answer.citations.earliest("position")
    assert cited.document is not None
    delete_document(cited.document)
    shown = shown_message(Message.objects.get(pk=answer.pk))
    assert {one.durability for one in shown.citations} == {"gone"}
    assert "verified" not in shown.html and 'href=""' not in shown.html
    card = client.get(f"/chat/citations/{cited.pk}/card/").content.decode()
    assert "This document was deleted." in card and "1,577 red anvils" in card and "<img" not in card
    client.force_login(bob)
    assert client.get(f"/chat/citations/{cited.pk}/card/").status_code == 404
