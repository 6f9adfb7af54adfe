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
        before = list(takewhile(lambda other: other.kind != "break", reversed(tokens[:at])))
        if words.language == "en":  # "is to be paid"
            duty = token.word == "to" and verb.word == "be" and before and before[0].word in words.be_to
        else:
            duty = token.word in ("zu", "te") and verb.kind == "word" and verb.word.endswith("n")
            duty = duty and any(other.word in words.be_to for other in before)
        if duty and not any(other.word == "um" for other in before):
            must = Marker("modality", "must")
            found[at] = replace(token, kind="marker", marker=must, stem="modality:must", poles=frozenset())
    return found


def with_lone_denials(tokens: list[Token], words: Lexicon) -> list[Token]:
    """French "ne peut", "ne saurait": denied without "pas"; not "ne peut … que"."""
    if not words.alone_denied:
        return tokens
    found = list(tokens)
    for at, token in enumerate(tokens[:-1]):
        if token.word not in ("ne", "n'") or tokens[at + 1].word not in words.alone_denied:
            continue
        behind = list(takewhile(lambda other: other.word not in HARD_BREAKS, tokens[at + 1 :]))
        if not any(other.marker in DENIALS or other.word.startswith(("que", "qu'")) for other in behind):
            denial = Marker("negation", "not")
            found[at] = replace(token, kind="marker", marker=denial, stem="negation:not")
    return found


_CAUSES = Marker("cause", "causes")
_CAUSAL = frozenset({"causes", "because"})


_OF_TIME = frozenset("间期候代刻段常而")  # 时间, 时期 …


def with_final_when(tokens: list[Token], words: Lexicon) -> list[Token]:
    """ "温度超过80℃时，": a clause that ends with 时 is a condition; 当 before it says no more."""
    if words.language != "zh":
        return tokens
    found: list[Token] = []
    first = 0
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if token.kind == "break":
            first = len(found) + 1
        if token.word != "时" or len(found) < first + 2 or following is None or following.word in _OF_TIME:
            found.append(token)
            continue
        condition = Marker("condition", "if")
        for opening in range(first, len(found)):
            if found[opening].marker == condition:
                found[opening] = replace(found[opening], kind="function", marker=None)
        found.append(replace(token, kind="marker", marker=condition, stem="condition:if"))
        if following.kind != "break":
            found.append(Token("break", "", token.end, token.end))
    return found


def with_verb_first(tokens: list[Token], words: Lexicon) -> list[Token]:
    """ "Steigt der Druck, öffnet …": a clause that opens with its verb, before another, is a condition."""
    at = next((k for k, token in enumerate(tokens) if token.word == ","), 0)
    if words.language == "en" and at and tokens[0].word in ("should", "were", "had"):
        mark = Marker("condition", "if")
        return [replace(tokens[0], kind="marker", marker=mark, stem="condition:if"), *tokens[1:]]
    if words.language not in ("de", "nl") or at < 3 or at + 1 >= len(tokens):
        return tokens
    verb, behind, main = tokens[0], tokens[1], tokens[at + 1]
    opens = verb.kind == "word" and behind.kind == "function" and behind.word not in words.prepositions
    follows = main.word in words.passive | {"so", "dann", "dan"} or (
        main.marker and main.marker.category == "modality"
    )
    if (
        not opens
        or not follows
        or any(token.marker and token.marker.category == "condition" for token in tokens[:at])
    ):
        return tokens
    mark = Marker("condition", "if")
    return [Token("marker", verb.word, verb.start, verb.start, "condition:if", mark), *tokens]


def cause_first(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """ "Y because of X" as "X causes Y"; () where not one word says a cause."""
    marked = [at for at, token in enumerate(tokens) if token.marker and token.marker.category == "cause"]
    if len(marked) != 1 or tokens[marked[0]].marker.value not in _CAUSAL:  # type: ignore[union-attr]
        return ()
    at = marked[0]
    first, last = next(
        span for span in _stretches(tokens) if span[0] <= at < span[1] or span[1] == len(tokens)
    )
    before, behind = tokens[first:at], tokens[at + 1 : last]
    if tokens[at].marker != _CAUSES:
        if not any(token.content for token in before):
            end = next((k for k, token in enumerate(behind) if token.kind == "break"), len(behind))
            before, behind = behind[:end], behind[end + 1 :]
        else:
            before, behind = behind, before
    word = replace(
        tokens[at], kind="marker", marker=_CAUSES, stem="cause:causes", clause=tokens[first].clause
    )
    statement = [token for token in (*before, word, *behind) if token.kind != "break"]
    return tuple(replace(token, clause=word.clause, part=tokens[at].part) for token in statement)


def sides_of_cause(tokens: Sequence[Token]) -> dict[int, str]:
    """For the start of each word, whether it belongs to the cause or to the effect; {} where none is said."""
    found = "cause"
    sides: dict[int, str] = {}
    for token in cause_first(tokens):
        sides[token.start] = found
        if token.marker == _CAUSES:
            found = "effect"
    return sides


_EXCEPTIVE = frozenset({"unless", "except"})


_ONLY_IF = Marker("condition", "onlyif")
_MAY = Marker("modality", "may")


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
        for at in denials[1:]:
            if found[at].word == "الا" and exceptive is None:  # إلا behind a denial; ألا is one itself
                exceptive, denials = at, [other for other in denials if other != at]
        without = next((at for at in denials if found[at].word in words.without), None)
        if exceptive is None and without is not None and len(denials) == 2:
            exceptive, denials = without, [at for at in denials if at != without]
        only_if = next((at for at in range(first, last) if found[at].marker == _ONLY_IF), last)
        if exceptive is not None and len(denials) == 1:
            _write_only_if(found, denials[0], exceptive, first, last)
        elif len(denials) == 1 and denials[0] > only_if and " " not in found[denials[0]].word:
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
            found[at] = replace(found[at], marker=_MAY)
            return


def _join_only(found: list[Token], first: int, last: int, words: Lexicon) -> None:
    """ "may only be done … if", "may be kept only … with": the condition is the only one."""
    for at in range(first + 1, last):
        marker, before = found[at].marker, found[at - 1]
        if not marker or marker != Marker("quantifier", "only"):
            continue
        joined = before.kind == "function" or (before.marker and before.marker.category == "modality")
        behind = takewhile(lambda token: token.kind != "break", found[at + 1 : last])
        verb = sum(token.content for token in behind) == 1  # "nur kündigen, wenn"
        if not joined and not verb and words.language != "zh":
            continue
        for place in range(at + 1, last):
            condition = found[place].marker
            if (condition and condition == Marker("condition", "if")) or found[place].word in words.only_with:
                found[place] = replace(
                    found[place], kind="marker", marker=_ONLY_IF, stem="condition:onlyif", poles=frozenset()
                )
                found[at] = replace(found[at], kind="function", marker=None)
                for again in range(place + 1, last):  # 只有 … 才可
                    if found[again].marker == _ONLY_IF:
                        found[again] = replace(found[again], marker=_MAY, stem="modality:may")
                break
