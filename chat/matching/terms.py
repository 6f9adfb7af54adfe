"""Whether a passage speaks of what a claim speaks of: the share of the claim's content words it has."""

from __future__ import annotations

import re
from collections.abc import Iterable

from chat.matching.folding import tokens

_STEM = 5  # letters; enough to tell words apart, few enough to forget their endings
_STOPWORDS = frozenset(
    re.findall(
        r"\S+",
        "a about above after all also although among an and any are as at be because been before "
        "being below between both but by can could did do does during each either for from further "
        "had has have he her his how however i if in into is it its just may more most much must no "
        "nor not of off on once only or other our out over own per said same shall she should so "
        "some such than that the their them then there these they this those through to too under "
        "until up upon very was we were what when where which while who whom whose why will with "
        "within without would year years ended fiscal amount total company million billion thousand "
        "percent january february march april may june july august september october november "
        "december ",
    )
)


def content_words(text: str) -> set[str]:
    """Stems of the words that say what a text is about: no function words, no numbers."""
    words = (token for token in tokens(text) if len(token) > 1 and token[0].isalpha())
    return {word[:_STEM] for word in words if word not in _STOPWORDS}


def shared_terms(claim: str, passages: Iterable[str]) -> float:
    """0..1: how many of the claim's content words stand in the passages; 1 when it has none."""
    wanted = content_words(claim)
    if not wanted:
        return 1.0
    return len(wanted & content_words("\n".join(passages))) / len(wanted)


def title_names(title: str) -> set[str]:
    """Words of a title that tell one document from another: no years, no kinds of report."""
    words = re.findall(r"[^\W_]+", title.casefold())
    return {word for word in words if not re.fullmatch(r"\d+|q\d|fy\d*|\d*q\d*", word)} - _KINDS - _STOPWORDS


_KINDS = frozenset(
    re.findall(
        r"\S+",
        "10k 10q 8k k q dated annual quarterly report reports earnings release form pdf final draft "
        "inc corp plc ltd co group holdings document paper version ",
    )
)
