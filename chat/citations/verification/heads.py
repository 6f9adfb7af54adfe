"""Nouns and adjectives of a page without which a claim's noun says something else: "critics of", "former"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chat.citations.verification.alignment import Pairing
from chat.citations.verification.phrases import is_genitive, lead
from chat.citations.verification.token import COORDINATORS, Token
from text.semantics import Lexicon

_LONGEST_PHRASE = 4  # tokens from a preposition to the noun behind it


def heads_left_out(pairing: Pairing) -> Iterator[int]:
    """Words of the source without which a claim's noun says something else.

    What a noun belongs to, where the claim puts the noun in its place ("critics of the law", "the painter's
    widow": said of the law, of the painter), adjectives like "former", and the verb of a noun that the claim
    says as a verb: "the ban was lifted", "it was banned".
    """
    claim, source, words = pairing.claim, pairing.source, pairing.words
    unmatched = set(pairing.unmatched_source)
    for i, j in pairing.ordered:
        if claim[i].kind != "word" or source[j].kind != "word":
            continue
        near = (j - 1, j + 1) if words.language in _ADJECTIVES_BEHIND else (j - 1,)
        yield from (at for at in near if at in unmatched and source[at].word in words.privative)
        if _behind_auxiliary(claim, i, words) and not _behind_auxiliary(source, j, words):
            same_clause = (at for at in unmatched if source[at].clause == source[j].clause)
            yield from (at for at in same_clause if _behind_auxiliary(source, at, words))
        head = _owner_of(pairing, i, j)
        if head not in unmatched or not _names(source[head], source[j], words):
            continue
        role, owns = lead(claim, i, words), is_genitive(claim, i, words)
        if not owns and (role in ("", "subject", "object") or role == lead(source, head, words)):
            yield head


def _behind_auxiliary(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    return at > 0 and tokens[at - 1].word in words.passive and tokens[at].kind == "word"


_ADJECTIVES_BEHIND = frozenset({"fr", "es", "it", "pt", "ar"})


def _owner_of(pairing: Pairing, i: int, j: int) -> int:
    """The noun that a word's phrase belongs to: before its preposition, or behind its genitive; -1: none."""
    tokens, words, matched = pairing.source, pairing.words, pairing.matched_source
    following = tokens[j + 1 : j + 3]
    if len(following) == 2 and following[0].word in _POSSESSIVE:
        return j + 2
    if words.language == "ru" and pairing.claim[i].word != tokens[j].word:  # in another case
        return j - 1
    if words.language == "ar" and tokens[j].word.startswith(_THE) and not tokens[j - 1].word.startswith(_THE):
        opens = j < 2 or tokens[j - 2].kind in ("break", "function")  # a verb, before its subject
        return -1 if opens else j - 1  # "the widow of the painter"
    linking = words.prepositions - (words.than - words.genitive)
    for place in range(j - 1, max(-1, j - 1 - _LONGEST_PHRASE), -1):
        token = tokens[place]
        if token.word in COORDINATORS | words.breaks or (token.content and place not in matched):
            return -1
        if token.word in linking and token.kind == "function":
            return place - 1
        if words.language == "de" and token.word in ("des", "der") and place and tokens[place - 1].capital:
            return place - 1
        if token.kind in ("break", "marker", "quantity"):
            return -1
    return -1


_POSSESSIVE = frozenset({"'s", "的", "の"})
_THE = "ال"


def _names(token: Token, of: Token, words: Lexicon) -> bool:
    """Whether a word names something of its own: not a verb like "had", "group", or the city of a name."""
    light = words.light | words.counted | words.transparent | words.group
    stands_for = token.word in words.generic and (of.name or words.language == "de")
    return token.kind == "word" and token.word not in light and not stands_for and not token.quantity
