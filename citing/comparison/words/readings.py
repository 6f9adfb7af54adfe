"""Other readings that a sentence entails, and the topic that a claim may name explicitly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, takewhile

from citing.comparison.words.alignment import Differences, Pairing, content_places
from citing.comparison.words.phrases import (
    counted_behind_whole,
    lead,
    of_compared,
    paired_dates,
)
from citing.comparison.words.token import COORDINATORS, Token, in_other_units, is_marker
from citing.comparison.words.voice import may_be_participle
from text.languages import UNSPACED_LANGUAGES
from text.quantities import Quantity
from text.semantics import Lexicon

_COMMAS = frozenset(",、，،")
_MOST_REMNANT = 4  # tokens of a phrase that replaces one of the clause before
_OF_CHANGE = frozenset({"direction", "amount", "height", "size", "level"})


def readings(tokens: Sequence[Token], words: Lexicon) -> Iterator[Sequence[Token]]:
    """Yield a sentence and the statements it entails.

    "Two thirds of the tenants (66%) stayed" is also "66% of the tenants stayed"; "site A got 310 mm of
    rain and site B 420 mm" also "site B got 420 mm of rain".
    """
    yield tokens
    previous: Sequence[Token] = ()  # the clause before, with its ellipsis filled
    for at, token in enumerate(tokens):
        if token.word in words.save_that:
            yield tokens[at + 1 :]
        if tokens[at + 1 : at + 2] and has_conjunction(token, tokens[at + 1], words):
            yield tokens[:at]
            yield tokens[at + 1 :]
        if token.word not in COORDINATORS and not (token.kind == "break" and token.word in _COMMAS):
            continue
        if previous := _gap_filled(tokens, at, words, previous):
            yield previous
        if first := _first_of_two(tokens, at, words):
            yield first
        if gapped := _with_verb_before(tokens, at, words):
            yield gapped
    yield from _each_pair(tokens)
    yield from counted_behind_whole(tokens, words)
    yield from of_compared(tokens, words)
    yield from in_other_units(tokens)


def has_conjunction(before: Token, token: Token, words: Lexicon) -> bool:
    """Return whether an Arabic word after a comma begins with "and", and so opens a statement."""
    return words.language == "ar" and before.word == "،" and token.start - before.end > 1


def _each_pair(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Read "Costs were $12 and $14 for 2018 and 2019" as "costs were $12 for 2018" and "$14 for 2019"."""
    for at, dates in paired_dates(tokens):
        between, rest = tokens[at + 2 : dates - 1], tokens[dates + 2 :]
        yield [*tokens[:at], *between, tokens[dates - 1], *rest]
        yield [*tokens[: at - 1], tokens[at + 1], *between, tokens[dates + 1], *rest]


def _gap_filled(
    tokens: Sequence[Token], at: int, words: Lexicon, previous: Sequence[Token]
) -> Sequence[Token]:
    """Return the clause before a conjunction with the phrases and number after it in place of its own.

    ``previous``: the clause before that one, where that lacks the verb too. () where nothing is elided.
    """
    before = list(takewhile(lambda t: t.kind != "break", reversed(tokens[:at])))[::-1]
    behind = list(takewhile(lambda t: t.kind != "break" and t.word not in COORDINATORS, tokens[at + 1 :]))
    behind = [t for k, t in enumerate(behind) if not _is_pronoun_one(behind, k, words)]
    number = next((k for k, token in enumerate(behind) if token.quantity), None)
    if previous and before and before[0].start >= previous[0].start:
        before = list(previous)
    if number is None or not before:
        return ()
    own = behind[number].quantity
    rival = next(
        (k for k, t in enumerate(before) if t.quantity and own and _of_one_measure(t.quantity, own)), None
    )
    if rival is None or sum(t.quantity is not None for t in (*before, *behind)) > 2 + (
        behind[-1].quantity is not own
    ):
        return ()
    held = before[rival].quantity
    if own and held and own.dimension != held.dimension and own.value:
        factor = held.base / held.value if held.value else 1
        own = replace(held, value=own.value, base=own.value * factor)
        behind[number] = replace(behind[number], quantity=own)
    left, right = behind[:number], behind[number + 1 :]
    repeated = sum(1 for _ in takewhile(_alike, zip(left[::-1], before[:rival][::-1], strict=False)))
    left = left[: len(left) - repeated]  # "food for 15 %", "students a fee of 6"
    again = next(
        (k for k in range(rival + 2, len(before)) if right and before[k].word == right[0].word), None
    )
    if not left and again is not None and right[0].content:  # "212 patients got A and 209 got B"
        filled = [*before[:rival], behind[number], *before[rival + 1 : again], *right]
        return [replace(token, clause=0, part=0) for token in filled]
    phrase = list(takewhile(lambda t: t.word not in words.prepositions and not t.marker, right))
    filled = [*before[:rival], behind[number], *before[rival + 1 :]]
    predicate = left and before[0].word in words.articles and not _opens_noun(left[0], words)  # "and sold"
    if left and _is_noun_phrase(left, words) and len(left) <= rival and not right and not predicate:
        filled = [*left, *filled[len(left) :]]
    elif not left and phrase and _is_noun_phrase(phrase, words) and rival < len(before) - len(phrase):
        filled = [*filled[: -len(phrase)], *right]
    else:
        return ()
    return [replace(token, clause=0, part=0) for token in filled]


def _is_pronoun_one(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Return whether a token is a pronoun like the "one" of "students one of €20"."""
    own, rest = tokens[at].quantity, tokens[at + 1 : at + 3]
    of_amount = len(rest) == 2 and rest[0].word in words.genitive and rest[1].quantity is not None
    return own is not None and own.bare and own.value == 1 and of_amount


def _alike(pair: tuple[Token, Token]) -> bool:
    return pair[0].word == pair[1].word


def _with_verb_before(tokens: Sequence[Token], at: int, words: Lexicon) -> Sequence[Token]:
    """Add the verb of the clause before: "Large frames are rejected with code 413, small ones with code 400".

    () where the clause has a verb, or no phrase with a preposition of the clause before.
    """
    before = list(takewhile(lambda t: t.kind != "break", reversed(tokens[:at])))[::-1]
    behind = list(takewhile(lambda t: t.kind != "break" and t.word not in COORDINATORS, tokens[at + 1 :]))
    joints = words.prepositions | words.agent
    opens = next((k for k, t in enumerate(behind) if t.word in joints and t.kind != "word"), 0)
    auxiliary = words.have | words.passive
    verb = next((k for k, t in enumerate(before) if t.word in auxiliary or is_marker(t, "modality")), 0)
    alike = [k for k in range(verb + 1, len(before)) if behind and before[k].word == behind[opens].word]
    if not (opens and verb and alike) or any(t.word in auxiliary or t.marker for t in behind):
        return ()
    if may_be_participle(behind[opens - 1], words):  # "acquitted of fraud and convicted of perjury"
        return ()
    if len(behind[:opens]) > _MOST_REMNANT or sum(t.word in joints for t in behind) > 1:
        return ()
    own = len(behind) - opens
    filled = [*behind[:opens], *before[verb : alike[-1]], *behind[opens:], *before[alike[-1] + own :]]
    return [replace(token, clause=0, part=0) for token in filled]


def _of_one_measure(before: Quantity, own: Quantity) -> bool:
    """Return whether a number has the unit of the one before: "6.50 euros on weekdays, 8 on holidays"."""
    measured = before.dimension not in ("", "year", "date") and own.bare and not own.dimension
    return before.dimension == own.dimension or measured


def _first_of_two(tokens: Sequence[Token], at: int, words: Lexicon) -> Sequence[Token]:
    """Read "5 % of A and 7 % of B had left" as "5 % of A had left"; () where no number shares the verb."""
    behind = list(takewhile(lambda t: t.kind != "break", tokens[at + 1 :]))
    verb = next((k for k, t in enumerate(behind) if t.word in words.have | words.passive), 0)
    second = behind[0].quantity if behind and verb else None
    before = [t for t in tokens[:at] if t.clause == tokens[at - 1].clause]
    numbers = [q.dimension for t in before if (q := t.quantity)]
    has_verb = any(t.word in words.have | words.passive for t in before)
    has_verb = has_verb or tokens[0].word in words.among  # "of the 240, 30 had left"
    if second is None or numbers != [second.dimension] or has_verb or any(t.quantity for t in behind[1:verb]):
        return ()
    own = [replace(t, clause=tokens[at - 1].clause) for t in behind[verb:]]
    return [*tokens[:at], *own, *tokens[at + 1 + len(behind) :]]


def _opens_noun(token: Token, words: Lexicon) -> bool:
    """Return whether a word surely opens a noun phrase: an article, a name."""
    return token.word in words.articles or token.capital or words.language in UNSPACED_LANGUAGES


def _is_noun_phrase(tokens: Sequence[Token], words: Lexicon) -> bool:
    """Return whether words may be a noun phrase: no function word but articles, no change."""
    return len(tokens) <= _MOST_REMNANT and all(
        not token.marker
        and not {pair for pair, _ in token.poles} & _OF_CHANGE
        and (token.kind == "word" or token.word in words.articles)
        for token in tokens
    )


# Words that a claim adds: the topic, where the page has a pronoun or nothing.

_PRO_DROP = frozenset({"es", "it", "pt"})  # "Tiene una longitud de 320 m": no subject


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``topic``: words that may name the subject of a sentence; ``everything``: all words of the passage."""

    topic: tuple[Token, ...] = ()
    everything: tuple[Token, ...] = ()


class AddedWords(Differences):
    """Decide which unmatched words of a claim only name the topic of the passage."""

    def __init__(self, pairing: Pairing, around: Surroundings) -> None:
        super().__init__(pairing)
        self.around = around

    def names_topic(self, token: Token) -> bool:
        """Return whether the word only names the antecedent of a pronoun, or the topic of the passage."""
        given = lead(self.claim, self.claim.index(token), self.words) in self.words.ends  # no subject
        if given or not self._has_opening:
            return False
        words = (other for other in self.around.topic if other.kind == "word")
        return token.kind == "word" and any(
            token.stem == other.stem or token.word == other.word.split()[0] for other in words
        )

    def adds_topic(self, at: int) -> bool:
        """Return whether a word without a partner only names the topic, as a complement or frame."""
        if at and self.words.language not in UNSPACED_LANGUAGES and self._of_topic(at):
            return True
        return self._modifies_as_before(at) or self._frames(at)

    def _of_topic(self, at: int) -> bool:
        """Allow "the dose of Ostrelan" for "the dose" where the passage is only about Ostrelan."""
        before = self.claim[at - 1]
        joint = (
            at - 2
            if before.word in self.words.articles and before.word not in self.words.genitive
            else at - 1
        )
        head = joint - 1
        if (
            joint < 1
            or self.claim[joint].word not in self.words.genitive
            or head not in self.pairing.partners
        ):
            return False
        place, token = self.pairing.partners[head], self.claim[at]
        complement = self.source[place + 1 : place + 2]
        if complement and complement[0].word in self.words.genitive:
            return False
        others = {t.stem for t in self.source if t.name and t.stem != token.stem}
        return self.is_topic(token) and not others and not self._has_other_owner(place)

    def _has_other_owner(self, place: int) -> bool:
        """Return whether a noun has an owner other than the topic: "the tunnel budget", "its toll"."""
        before = self.source[place - 1] if place else None
        return before is not None and (before.kind == "word" or before.word in self.words.pronouns)

    def is_topic(self, token: Token) -> bool:
        return any(token.stem == other.stem for other in self.around.topic if other.kind == "word")

    def _modifies_as_before(self, at: int) -> bool:
        """Allow "creatinine clearance" for "clearance" where the passage has the modifier before."""
        token, beside = self.claim[at], at + 1
        if token.kind != "word" or beside not in self.pairing.partners or self.claim[beside].kind != "word":
            return False
        place = self.pairing.partners[beside]
        if self._has_other_owner(place) or token.marker or token.poles or token.capital:
            return False
        before = [
            one
            for one, other in pairwise(self.around.everything)
            if other.stem == self.source[place].stem and one.kind == "word"
        ]
        return {one.stem for one in before} == {token.stem} and not any(one.capital for one in before)

    def _frames(self, at: int) -> bool:
        """Allow "In the trial, …": a general noun before the comma that opens the claim."""
        token = self.claim[at]
        if token.word not in self.words.generic or any(t.content for t in self.claim[:at]) or at < 2:
            return False
        definite = self.claim[at - 1].word in self.words.articles | self.words.pronouns
        return definite and [token.word for token in self.claim[at + 1 : at + 2]] == [","]

    def speaks_for_us(self, token: Token) -> bool:
        """Allow "the company" for a report's "we"."""
        return token.word in self.words.company and any(
            is_marker(other, "person", "first") for other in (*self.source, *self.around.everything)
        )

    def displaces(self, at: int) -> bool:
        """Return whether the source has another word in place of the topic: "in the placebo group"."""
        places, own = content_places(self.claim), content_places(self.source)
        here = places.index(at)
        beside = [i for i in (*places[:here][-1:], *places[here + 1 :][:1]) if i in self.pairing.partners]
        near = {own.index(self.pairing.partners[i]) for i in beside}
        named = self.claim[at].name or not (
            at and self.claim[at - 1].word in self.words.articles | self.words.pronouns
        )
        return any(
            self.source[j].kind == "word"
            and {own.index(j) - 1, own.index(j) + 1} & near
            and not (named and self.source[j].word in self.words.generic)
            for j in self.relevant_unmatched()
            if j not in self.explained_source
        )

    @cached_property
    def _has_opening(self) -> bool:
        """Return whether the claim has the first word of the sentence, or that is a pronoun."""
        opening = next((at for at, token in enumerate(self.source) if token.kind == "word"), None)
        if opening is None or opening in self.pairing.matched_source:
            return True
        if any(self.source[opening].stem == token.stem for token in self.claim if token.kind == "word"):
            return True
        if self.source[opening].word in self.words.generic and opening <= 1:
            return True
        if self.words.language in _PRO_DROP and self.source[0].word in self.words.have | self.words.passive:
            return True
        return any(token.word in self.words.pronouns for token in self.source[:opening])

    def expected_place(self, at: int) -> float:
        """Return the expected place in the source of the partner of an unmatched token."""
        before = [(at - i, j + 0.5) for i, j in self.pairing.ordered if i < at]
        after = [(i - at, j - 0.5) for i, j in self.pairing.ordered if i > at]
        near = [min(side)[1] for side in (before, after) if side]
        return near[0] if len(near) == 1 or min(before)[0] <= min(after)[0] else near[1]
