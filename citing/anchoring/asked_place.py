"""Which of several equal values of a passage is meant: the one of which question and claim speak.

"At what price is it under offer?" – "£2,400,000" means the second amount of "The price was reduced to
£2,400,000. It is now under offer at £2,400,000."
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from citing.anchoring.page_text import Span
from citing.budget import check_budget
from text.sentences import sentence_spans
from text.terms import terms_of
from text.values import Value, values_in

_WORD = re.compile(r"\S+")
_STOPS = ".,;:!?…"  # behind the last word that is lit
OF_CLAIM, OF_QUESTION = 2.0, 1.0  # what a word beside the value is worth
BESIDE_A_CLAIM = 0.2  # the same of the question, where the claim says by itself what the value is of
FEWEST_OF_CLAIM = 2  # terms of such a claim that the text has
LEAST_STEM = 4  # letters of a stem that another may begin with: "reduc", "reduct"
REACH = 40  # words from the value from which a word of its sentence is worth half
CLAUSE = 10  # words that a comma, semicolon or colon between counts for
LIT_REACH = 12  # words from the value up to which words of question and claim are lit with it
CLEARLY = 0.1  # by which another place must be better than the one found


def asked_span(text: str, language: str, claim: str, question: str, lit: Span) -> Span | None:
    """Return the span to highlight where an equal value elsewhere in ``text`` is meant; None to keep ``lit``.

    Args:
        claim: the words that say the value, also the quoted ones.
        lit: characters of ``text`` that are highlighted now.
    """
    said = values_in(claim)
    wanted = {_amount(value) for value in said}
    places = [value for value in values_in(text) if _amount(value) in wanted]
    if len(wanted) != 1 or len(places) < 2:
        return None
    held = terms_of(text, language)
    units = set.intersection(*(_unit_of(text, place, language) for place in places))
    own = {
        term
        for term in terms_of(_without(claim, said), language)
        if term not in units and any(_alike(term, it) for it in held)
    }
    asked = OF_QUESTION if len(own) < FEWEST_OF_CLAIM else BESIDE_A_CLAIM
    worth = {**dict.fromkeys(terms_of(question, language), asked), **dict.fromkeys(own, OF_CLAIM)}
    sentences = [_Sentence(text, span, language) for span in sentence_spans(text, language)]
    scored = [
        (sentence.score(place, worth), sentence, place)
        for sentence in sentences
        for place in places
        if sentence.start <= place.start < sentence.end
    ]
    best = max(scored, key=lambda found: found[0], default=None)
    here = max((score for score, _, place in scored if _meets(lit, place)), default=0.0)
    if best is None or (_meets(lit, best[2]) and best[0] == here) or best[0] < here + CLEARLY:
        return None
    return best[1].around(best[2], worth)


def _alike(term: str, other: str) -> bool:
    short, long = sorted((term, other), key=len)
    return term == other or (len(short) >= LEAST_STEM and long.startswith(short))


def _amount(value: Value) -> tuple[str, Decimal, str]:
    return value.kind, value.number * (value.scale or 1), value.currency


def _unit_of(text: str, value: Value, language: str) -> set[str]:
    """Return the terms of the word behind a value: ``pounds``."""
    word = _WORD.search(text, value.end)
    return set(terms_of(word[0], language)) if word else set()


def _without(text: str, values: Sequence[Value]) -> str:
    for value in reversed(values):
        text = f"{text[: value.start]} {text[value.end :]}"
    return text


def _meets(span: Span, value: Value) -> bool:
    return span[0] < value.end and value.start < span[1]


class _Sentence:
    """A sentence of the text, with the terms of its words."""

    def __init__(self, text: str, span: Span, language: str) -> None:
        self.text, (self.start, self.end) = text, span
        words = list(_WORD.finditer(text, self.start, self.end))
        self.spans = [word.span() for word in words]
        self.terms = [terms_of(word[0], language) for word in words]
        self.ends = [word[0].endswith((",", ";", ":")) for word in words]  # of clauses

    def _at(self, place: Value) -> int:
        return next(at for at, span in enumerate(self.spans) if _meets(span, place))

    def score(self, place: Value, worth: dict[str, float]) -> float:
        """Return what the wanted words of the sentence are worth, less with their distance from the value."""
        at = self._at(place)
        nearest: dict[str, int] = {}
        for word, terms in enumerate(self.terms):
            check_budget()
            for term in (wanted for wanted in worth if any(_alike(wanted, it) for it in terms)):
                nearest[term] = min(nearest.get(term, REACH), self._distance(word, at))
        return sum(worth[term] * (1 - distance / REACH / 2) for term, distance in nearest.items())

    def _distance(self, word: int, at: int) -> int:
        first, last = sorted((word, at))
        return last - first + CLAUSE * sum(self.ends[first:last])

    def around(self, place: Value, worth: dict[str, float]) -> Span:
        """Return the value with the wanted words near it."""
        at = self._at(place)
        near = [
            word
            for word, terms in enumerate(self.terms)
            if self._distance(word, at) <= LIT_REACH
            and any(_alike(wanted, it) for wanted in worth for it in terms)
        ]
        start, end = self.spans[min([at, *near])][0], self.spans[max([at, *near])][1]
        end = start + len(self.text[start:end].rstrip(_STOPS))
        return min(start, place.start), max(place.end, end)
