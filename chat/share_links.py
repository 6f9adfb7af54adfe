"""Public, read-only links to one answer: signed, with an expiry, and only while their owner has access."""

from __future__ import annotations

from collections.abc import Container, Iterator
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db.models import QuerySet
from django.utils import timezone

from chat.models import AnswerShare, Message
from chat.models.conversation import excerpt
from chat.models.share import documents_of
from documents.access import Way
from documents.models import Document, EventKind
from documents.models.security import record

LONGEST_DAYS = 3650
NEVER = 0  # days
_signer = Signer(salt="chat.share")


class NotReadable(Exception):
    """The answer uses a document that its owner may no longer read."""


def share_answer(answer: Message, days: int | None = None) -> AnswerShare:
    """Return the answer's open link, or a new one. Raise NotReadable.

    ``days`` is its lifetime from now, or ``NEVER``; None keeps that of an open link.
    """
    link = AnswerShare.objects.open().filter(message=answer).first()
    if link is None:
        link = AnswerShare(message=answer)
        days = settings.LINK_DAYS if days is None else days
    link.document_ids = documents_of(answer)
    if days is not None:
        link.expires_at = timezone.now() + timedelta(days=min(days, LONGEST_DAYS)) if days else None
    if not link.is_open:
        raise NotReadable
    link.save()
    return link


def revoke(answer: Message) -> int:
    """Close all links to the answer. Return their number."""
    return close(AnswerShare.objects.filter(message=answer))


def token_of(share: AnswerShare) -> str:
    """Return the token of the link: the share's id with a signature, so that ids cannot be guessed."""
    return _signer.sign(share.pk.hex)


def share_of(token: str) -> AnswerShare | None:
    """Return the open share of a token; None for a forged, expired or revoked one."""
    try:
        share_id = UUID(hex=_signer.unsign(token))
    except (BadSignature, ValueError):
        return None
    found = AnswerShare.objects.open().filter(pk=share_id)
    share = found.select_related("message__conversation__owner").first()
    return share if share and share.is_open else None


def links_to(document: Document, readers: Container[str]) -> Iterator[Way]:
    """Yield the open links that show parts of the document, for ``documents.access``.

    Only a link's owner sees the beginning of the answer as its label.
    """
    links = AnswerShare.objects.open().showing(document.pk).order_by("created_at")
    for link in links.select_related("message__conversation__owner"):
        maker = link.maker.get_username()
        if maker in readers:
            label = excerpt(link.message.content)[:80] if link.maker.pk == document.owner_id else ""
            yield Way(f"link-{link.pk}", "link", (), maker, link.created_at, link.expires_at, label)


def end_link(document: Document, link_id: UUID) -> bool:
    """End a link that shows parts of the document, whoever created it."""
    return bool(close(AnswerShare.objects.showing(document.pk).filter(pk=link_id)))


def close(links: QuerySet[AnswerShare]) -> int:
    """Close open links. Return their number."""
    found = list(links.filter(revoked_at=None))
    for link in found:
        record(EventKind.LINK_ENDED, str(link))
    return links.filter(revoked_at=None).update(revoked_at=timezone.now())
