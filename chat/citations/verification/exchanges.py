"""Exchanged places: names, phrases and compared things that stand where another stood."""

from __future__ import annotations

from collections.abc import Sequence

from chat.citations.verification.alignment import Pairing, content_places
from chat.citations.verification.phrases import lead, roles_of
from chat.citations.verification.token import COORDINATORS, Token
from text.semantics import Lexicon


def particles_exchanged(pairing: Pairing) -> tuple[int, int] | None:
    """Two Japanese words that have exchanged their case particles."""
    changed = [(i, *roles_of(pairing, i, j)) for i, j in pairing.ordered if pairing.claim[i].kind == "word"]
    changed = [(i, one, other) for i, one, other in changed if one and other and one != other]
    for i, one, other in changed:
        for k, two, far in changed:
            if i < k and one == far and other == two:
                return i, k
    return None


def is_bare_name(pairing: Pairing, i: int, j: int) -> bool:
    """Whether partners are a name that does not keep its preposition; in German, one without an article."""
    sides = (pairing.claim, i), (pairing.source, j)
    words = pairing.words
    if not any(tokens[at].capital for tokens, at in sides) or pairing.claim[i].word != pairing.source[j].word:
        return False
    if words.language == "de" and any(
        token.word in words.articles for tokens, at in sides for token in tokens[max(at - 2, 0) : at]
    ):
        return False
    one, other = (_own_preposition(tokens, at, words) for tokens, at in sides)
    return not one or one != other


def _own_preposition(tokens: Sequence[Token], at: int, words: Lexicon) -> str:
    """The preposition right before a name of one or more words and its article; '' where none stands."""
    while at and (tokens[at - 1].capital or tokens[at - 1].word in words.articles):
        at -= 1
    before = tokens[at - 1].word if at else ""
    return before if before in words.prepositions | words.genitive else ""


def only_joined(between: Sequence[Token], words: Lexicon) -> bool:
    """Whether only further names and what joins them stand between two names: "A, B and C"."""
    return all(t.capital or t.kind == "break" or t.word in COORDINATORS | words.articles for t in between)


def phrases_exchanged(pairing: Pairing) -> tuple[int, int] | None:
    """Two phrases behind the same preposition, each with the other's head: "red to 1 and black to 2"."""
    found = [
        (i, j, lead(pairing.source, j, pairing.words))
        for i, j in pairing.ordered
        if pairing.claim[i].kind == pairing.source[j].kind != "marker" and _near_preposition(pairing, j)
    ]
    for at, (i, j, role) in enumerate(found):
        for k, m, other in found[at + 1 :]:
            claimed = lead(pairing.claim, i, pairing.words), lead(pairing.claim, k, pairing.words)
            if m > j or not role or role != other or claimed != (role, role):
                continue
            if _apart(pairing, m, j) and not (_with_head(pairing, i, j) and _with_head(pairing, k, m)):
                return i, k
    return None


def _near_preposition(pairing: Pairing, j: int) -> bool:
    """Whether a word stands right behind its preposition, or behind one word more."""
    if pairing.words.language == "ja":
        return False
    tokens = pairing.source
    at = next((k for k in range(j - 1, -1, -1) if tokens[k].word in pairing.words.prepositions), None)
    return at is not None and sum(token.content for token in tokens[at + 1 : j]) < 2


def _apart(pairing: Pairing, first: int, last: int) -> bool:
    """Whether an "and", a "while" or a comma stands between two words of the source."""
    between = pairing.source[first:last]
    return any(t.kind == "break" or t.word in COORDINATORS | pairing.words.breaks for t in between)


def _with_head(pairing: Pairing, i: int, j: int) -> bool:
    """Whether the words before both phrases are partners: "cable" of "cable to 1"."""
    heads = _head(pairing.claim, i, pairing.words), _head(pairing.source, j, pairing.words)
    return heads[0] is not None and pairing.partners.get(heads[0]) == heads[1]


def _head(tokens: Sequence[Token], at: int, words: Lexicon) -> int | None:
    """The content word before the preposition a word stands behind."""
    preposition = next((k for k in range(at - 1, -1, -1) if tokens[k].word in words.prepositions), 0)
    return max((k for k in content_places(tokens) if k < preposition), default=None)


# Comparisons: what stands on which side of "than".


def compared_on_both_sides(pairing: Pairing) -> bool:
    """Whether both sides hold one thing against another: "than", "as fast as"."""
    return _than(pairing.claim, pairing.words) and _than(pairing.source, pairing.words)


def comparison_turned(pairing: Pairing) -> bool:
    """Whether opposites are compared: "A is less than B", "B is more than A"."""
    return (
        bool(pairing.opposites)
        and _than(pairing.claim, pairing.words)
        and _than(pairing.source, pairing.words)
    )


def _than(tokens: Sequence[Token], words: Lexicon) -> bool:
    return any(token.word in words.than | words.than_behind for token in tokens)


def _ranks(token: Token) -> bool:
    return token.marker is not None and token.marker.category == "ordinal"


def operands_exchanged(pairing: Pairing) -> bool | None:
    """Whether the words behind "than" have changed sides; None where that cannot be told."""
    if pairing.words.than_behind:
        held = {pairing.partners.get(k, -1) for k in standard_of(pairing.claim, pairing.words)} - {-1}
        other = standard_of(pairing.source, pairing.words)
        return not held & other if held and other else None
    at = next((k for k, token in enumerate(pairing.claim) if token.word in pairing.words.than), None)
    there = next((k for k, token in enumerate(pairing.source) if token.word in pairing.words.than), None)
    if at is None or there is None:
        return None
    stems = [token.stem for token in pairing.source if token.kind == "word" or _ranks(token)]
    behind = [
        pairing.partners[k]
        for k in range(at + 1, len(pairing.claim))
        if k in pairing.partners and (pairing.claim[k].kind != "marker" or _ranks(pairing.claim[k]))
    ]
    telling = [j for j in behind if stems.count(pairing.source[j].stem) < 2] or behind[:1]
    if not telling:
        return None
    return telling[0] < there


def standard_of(tokens: Sequence[Token], words: Lexicon) -> set[int]:
    """What something is held against in a language without spaces: the words before "より" or behind "比"."""
    behind = next((at for at, token in enumerate(tokens) if token.word in words.than_behind), None)
    if behind is not None:
        start = behind
        while start and tokens[start - 1].content:
            start -= 1
        return set(range(start, behind))
    than = next((at for at, token in enumerate(tokens) if token.word in words.than), len(tokens))
    return set([at for at in content_places(tokens) if at > than][:1])
