"""Why a claim is not verified, in one sentence for people."""

from __future__ import annotations

from collections.abc import Sequence

from chat.citations.verification.prose import Judgement
from chat.claims import Conflict

_BOTH = "The claim says {claim}, the page {source}."
_SENTENCES = {
    "role_swap": "The page has these roles reversed: {claim}, {source}.",
    "entity_swap": "The page says this about something else: {source}.",
    "table_swap": "{claim} is in another row or column; this cell says {source}.",
    "cause_effect": "The page states the cause or the condition the other way round.",
    "correlation": "The page calls this a link, not a cause.",
}
_SENTENCES["computed"] = "The claim says {claim}; computed from the page: {source}."
_LEFT_OUT = "The page says “{source}”; the claim leaves that out."
_ADDED = "The claim says “{claim}”; the page does not."


def reason_of(conflict: Conflict) -> str:
    """What the page says otherwise."""
    if conflict.kind in _SENTENCES:
        return _SENTENCES[conflict.kind].format(claim=conflict.claim, source=conflict.source)
    if not conflict.claim:
        return _LEFT_OUT.format(source=conflict.source)
    if not conflict.source:
        return _ADDED.format(claim=conflict.claim)
    if conflict.claim == conflict.source:
        return f"The page says {conflict.source} of something else."
    return _BOTH.format(claim=conflict.claim, source=conflict.source)


def reason_open(judged: Judgement) -> str:
    """What of a claim could not be compared."""
    if judged.missing:
        return f"Not compared: the passage has no words for {_listed(judged.missing)}."
    if judged.unchecked and judged.unchecked[0].endswith("."):
        return judged.unchecked[0]
    if judged.unchecked:
        return f"Not compared: {_listed(judged.unchecked)}."
    return "The claim was not compared with these words."


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words[:4])
