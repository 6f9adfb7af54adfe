"""Voice: who does what to whom where a verb is passive on one side, or said by its converse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chat.citations.verification.alignment import Pairing
from chat.citations.verification.prepositions import (
    lead,
)
from chat.citations.verification.token import COORDINATORS, DETERMINERS, Token
from text.semantics import Lexicon

_GRADABLE = frozenset(["level", "length", "speed", "width", "age", "strength", "quality"])  # no participles


_WITH_PRONOUN = ("arse", "erse", "irse")


_NO_PARTICIPLE = ("ing", "ly", "ant", "ent", "al", "ive", "ous", "ic", "ble", "ful", "s")


_AUXILIARY_REACH = 4  # tokens between an auxiliary and its participle


def is_passive(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Whether a word is a participle behind an auxiliary, or before its agent ("approved by")."""
    token = tokens[at]
    if (
        token.kind != "word"
        or token.word.split()[0] in words.prepositions
        or any(pair in _GRADABLE for pair, _ in token.poles)
        or (words.language == "en" and token.word.endswith(_NO_PARTICIPLE))
    ):
        return False
    if _behind_auxiliary(tokens, at, words):
        return True
    if any(before.word in words.impersonal and before.clause == token.clause for before in tokens[:at]):
        return True
    by_whom = (
        at + 2 < len(tokens) and tokens[at + 1].word in words.agent and tokens[at + 2].kind != "quantity"
    )
    if by_whom and words.language == "en":
        clause = (place for place in range(at) if tokens[place].clause == token.clause)
        return not any(_behind_auxiliary(tokens, place, words) for place in clause)
    return words.language == "de" and any(
        after.word in words.passive for after in tokens[at + 1 : at + 3] if after.kind != "break"
    )


def _behind_auxiliary(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Whether a word stands behind "is" or "was", with no other word but an adverb between."""
    if tokens[at].kind != "word":
        return False
    if words.reflexive and (
        any(token.word in words.reflexive for token in tokens[max(0, at - 2) : at])
        or tokens[at].word.endswith(_WITH_PRONOUN)
    ):
        return True
    for place in range(at - 1, max(-1, at - 1 - _AUXILIARY_REACH), -1):
        before = tokens[place]
        if before.word in words.passive:
            return True
        if before.word in DETERMINERS:  # "was the founder"
            return False
        if before.word in COORDINATORS and place and tokens[place - 1].part == tokens[at].part:
            return any(
                _behind_auxiliary(tokens, other, words)
                for other in range(place)
                if tokens[other].part == tokens[at].part
            )
        if before.kind in ("break", "quantity") or (before.kind == "word" and not before.word.endswith("ly")):
            return False
    return False


def voice_changes(pairing: Pairing) -> list[tuple[int, int]]:
    """Partners of which one is passive and the other active."""
    if not pairing.words.passive:
        return []
    return [
        (i, j)
        for i, j in pairing.ordered
        if is_passive(pairing.claim, i, pairing.words) != is_passive(pairing.source, j, pairing.words)
        and pairing.claim[i].kind == pairing.source[j].kind == "word"
        and (" " in pairing.claim[i].word) == (" " in pairing.source[j].word)
        and _has_agent(pairing, i, j)
    ]


def _has_agent(pairing: Pairing, i: int, j: int) -> bool:
    """Whether a role can have changed: an agent is named, or the word before the verb is another."""
    before_claim = [k for k, _ in pairing.ordered if k < i]
    return bool(before_claim)


def converse(pairing: Pairing, i: int, j: int) -> bool:
    """Whether "A sold it to B" is said as "B bought it from A"."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    pairs = {pair for pair, _ in claim[i].poles} & {pair for pair, _ in source[j].poles}
    if not pairs & {"trade", "giving"}:
        return False
    doers = [k for k in _subject(claim, i, words) if k in pairing.partners]
    givers = {m: k for k, m in pairing.ordered if m in _subject(source, j, words)}
    towards = words.starts | words.ends
    return bool(doers and givers) and all(
        [pairing.partners[k] > j and lead(source, pairing.partners[k], words) in towards for k in doers]
        + [k > i and lead(claim, k, words) in towards for k in givers.values()]
    )


def wrong_voices(pairing: Pairing, turned: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Verbs whose voice has changed while the words around them have not changed sides."""
    for i, j in turned:
        passive_is_claim = is_passive(pairing.claim, i, pairing.words)
        tokens = pairing.claim if passive_is_claim else pairing.source
        verb = i if passive_is_claim else j
        to_other = pairing.partners if passive_is_claim else {b: a for a, b in pairing.partners.items()}
        other_verb = j if passive_is_claim else i
        for at in _subject(tokens, verb, pairing.words):
            if at in to_other and to_other[at] < other_verb:
                yield i, (at if passive_is_claim else to_other[at])
        agent = _agent(tokens, verb, pairing.words)
        active = pairing.source if passive_is_claim else pairing.claim
        to_passive = {b: a for a, b in to_other.items()}
        doers = [to_passive[at] for at in _subject(active, other_verb, pairing.words) if at in to_passive]
        if agent and doers and not any(at in agent for at in doers):
            yield i, doers[0] if passive_is_claim else to_other[doers[0]]


def _agent(tokens: Sequence[Token], verb: int, words: Lexicon) -> range:
    """Places of the phrase behind "by" that names the doer of a passive verb; empty where none does."""
    for at in range(verb + 1, len(tokens)):
        if tokens[at].word in words.agent:
            end = at + 1
            if end < len(tokens) and tokens[end].kind == "quantity":
                break  # "rose by 5 %"
            while end < len(tokens) and tokens[end].kind != "break" and tokens[end].word not in COORDINATORS:
                end += 1
            return range(at + 1, end)
        if tokens[at].kind == "break":
            break
    return range(0)


def _subject(tokens: Sequence[Token], verb: int, words: Lexicon) -> list[int]:
    """Indexes of the bare words before a verb in its clause."""
    found = []
    for at in range(verb - 1, -1, -1):
        if tokens[at].kind == "break" or tokens[at].clause != tokens[verb].clause:
            break
        owner = tokens[at + 1].word in words.genitive
        if (
            tokens[at].kind == "word"
            and not owner
            and not _behind_auxiliary(tokens, at, words)
            and not lead(tokens, at, words)
            and not tokens[at].word.endswith("ly")
        ):
            found.append(at)
    return found


def gives(pairing: Pairing) -> bool:
    """A passive verb of giving takes either object as its subject: "they were given it"."""
    return any(
        is_passive(pairing.claim, i, pairing.words) and is_passive(pairing.source, j, pairing.words)
        for i, j in pairing.ordered
        if any(pair == "giving" for pair, _ in pairing.claim[i].poles)
    )
