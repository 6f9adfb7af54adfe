"""Conditions, exceptions and duties in a sentence, read as what they mean: "not … unless" as "only if"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from chat.citations.verification.token import DENIALS, HARD_BREAKS, Token
from text.semantics import Lexicon, Marker


def in_exception(tokens: Sequence[Token], end: int) -> bool:
    """Whether the words before a comma name an exception: "except for islands, where …"."""
    before = takewhile(lambda token: token.kind != "break", reversed(tokens[:end]))
    return any(token.marker == Marker("condition", "except") for token in before)


def denied_once(tokens: list[Token], words: Lexicon) -> list[Token]:
    """ "neither … nor": one denial, not two."""
    found = list(tokens)
    denied = False
    for at, token in enumerate(tokens):
        if token.word in HARD_BREAKS:
            denied = False
        if token.marker and token.marker in DENIALS:
            if denied and token.word in words.neither:
                found[at] = replace(token, kind="function", marker=None)
            denied = True
    return found


def with_duties(tokens: list[Token], words: Lexicon) -> list[Token]:
    """ "ist … zu wechseln": what has to be done."""
    if not words.be_to:
        return tokens
    found = list(tokens)
    for at, token in enumerate(tokens[:-1]):
        verb = tokens[at + 1]
        if token.word not in ("zu", "te") or verb.kind != "word" or not verb.word.endswith(("n", "en")):
            continue
        before = list(takewhile(lambda other: other.kind != "break", reversed(tokens[:at])))
        if any(other.word in words.be_to for other in before) and not any(o.word == "um" for o in before):
            duty = Marker("modality", "must")
            found[at] = replace(token, kind="marker", marker=duty, stem="modality:must", poles=frozenset())
    return found


_EXCEPTIVE = frozenset({"unless", "except"})


_ONLY_IF = Marker("condition", "onlyif")


def with_exclusive_conditions(tokens: list[Token], words: Lexicon) -> list[Token]:
    """ "may not … unless", "no one … except", "may only … if" as "may … only if"."""
    found = list(tokens)
    for first, last in _stretches(tokens):
        denials = [at for at in range(first, last) if found[at].marker in DENIALS]
        exceptive = next(
            (
                at
                for at in range(first, last)
                if (m := found[at].marker) and m.category == "condition" and m.value in _EXCEPTIVE
            ),
            None,
        )
        without = next((at for at in denials if found[at].word in words.without), None)
        if exceptive is None and without is not None and len(denials) == 2:
            exceptive, denials = without, [at for at in denials if at != without]
        only_if = next((at for at in range(first, last) if found[at].marker == _ONLY_IF), last)
        if exceptive is not None and len(denials) == 1:
            _write_only_if(found, denials[0], exceptive, first, last)
        elif len(denials) == 1 and denials[0] > only_if:  # "only if not": not if
            found[only_if] = replace(found[only_if], marker=Marker("condition", "if"), stem="condition:if")
        else:
            _join_only(found, first, last, words)
    return found


def _stretches(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Ranges of tokens between semicolons and words like "but"."""
    first = 0
    for at, token in enumerate(tokens):
        if token.word in HARD_BREAKS:
            yield first, at
            first = at + 1
    yield first, len(tokens)


def _write_only_if(found: list[Token], denial: int, exceptive: int, first: int, last: int) -> None:
    found[denial] = replace(found[denial], kind="function", marker=None)
    found[exceptive] = replace(found[exceptive], kind="marker", marker=_ONLY_IF, stem="condition:onlyif")
    for at in range(first, last):
        marker = found[at].marker
        if marker and marker.category == "modality":
            found[at] = replace(found[at], marker=Marker("modality", "may"))
            return


def _join_only(found: list[Token], first: int, last: int, words: Lexicon) -> None:
    """ "may only be done … if", "may be kept only … with": the condition is the only one."""
    for at in range(first + 1, last):
        marker, before = found[at].marker, found[at - 1]
        if not marker or marker != Marker("quantifier", "only"):
            continue
        if not (before.kind == "function" or (before.marker and before.marker.category == "modality")):
            continue
        for place in range(at + 1, last):
            condition = found[place].marker
            if (condition and condition == Marker("condition", "if")) or found[place].word in words.only_with:
                found[place] = replace(
                    found[place], kind="marker", marker=_ONLY_IF, stem="condition:onlyif", poles=frozenset()
                )
                found[at] = replace(found[at], kind="function", marker=None)
                break
