"""Read-only links to one answer, signed, which their owner can revoke."""

from __future__ import annotations

from uuid import UUID

from django.core.signing import BadSignature, Signer
from django.utils import timezone

from chat.models import AnswerShare, Message

_signer = Signer(salt="chat.share")


def share_answer(answer: Message) -> AnswerShare:
    """The answer's open link; a new one when it has none."""
    existing = AnswerShare.objects.open().filter(message=answer).first()
    return existing or AnswerShare.objects.create(message=answer)


def revoke(answer: Message) -> int:
    """Closes all links to the answer; how many there were."""
    return AnswerShare.objects.open().filter(message=answer).update(revoked_at=timezone.now())


def token_of(share: AnswerShare) -> str:
    """What stands in the link: the share's id and a signature, so that ids cannot be tried."""
    return _signer.sign(share.pk.hex)


def share_of(token: str) -> AnswerShare | None:
    """The open share of a link; None for a forged or revoked one."""
    try:
        share_id = UUID(hex=_signer.unsign(token))
    except (BadSignature, ValueError):
        return None
    return AnswerShare.objects.open().filter(pk=share_id).select_related("message__conversation").first()
