"""Compare a claim with one sentence of its source: it holds, it conflicts, or the outcome is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Literal

from citing.claims import Conflict
from citing.comparison.values.quantities import same_quantity
from citing.comparison.words.alignment import (
    Pairing,
    content_places,
    partners,
)
from citing.comparison.words.conditions import (
    in_clauses_of,
    topic_apart,
    without_stray_duties,
)
from citing.comparison.words.junctions import Junctions
from citing.comparison.words.omissions import Omissions
from citing.comparison.words.phrases import (
    change_role,
    lead,
    names_in_full,
)
from citing.comparison.words.qualifiers import qualifiers_left_out
from citing.comparison.words.readings import AddedWords, Surroundings
from citing.comparison.words.rivals import mixes_statements, says_otherwise
from citing.comparison.words.than import (
    compares,
)
from citing.comparison.words.token import Token, denials_at, difference, is_marker, opposite
from citing.comparison.words.voice import is_instruction
from text.languages import UNSPACED_LANGUAGES
from text.semantics import Lexicon, Marker

Outcome = Literal["holds", "conflict", "open"]
LEAST_COVERAGE = 0.5  # least share of the claim's words with a partner for which a difference contradicts
_KIND_OF = {
    "negation": "negation", "modality": "modality", "hedge": "modality", "quantifier": "quantifier",
    "comparator": "comparator", "time": "time", "frequency": "time", "condition": "condition",
    "cause": "cause_effect", "ordinal": "ordinal", "person": "role_swap",
}  # fmt: skip
_MAY_CANCEL = frozenset({"condition", "negation", "modality", "quantifier"})
_SWAPS = frozenset({"entity_swap", "role_swap"})
_OPENING_TOKENS = 12
_CONVERSE = frozenset({"trade", "giving"})  # "sold it to B", "bought it from A"


@dataclass(slots=True)
class Finding:
    """The outcome of comparing a claim with one sentence.

    Attributes:
        missing: words of the claim that the sentence does not have.
        open: words that no rule could compare.
        coverage: share (0..1) of the claim's words that have a partner.
        places: indexes of the source's tokens that have a partner.
    """

    outcome: Outcome
    conflicts: list[Conflict] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    coverage: float = 0.0
    places: frozenset[int] = frozenset()


def examine(claim: Sequence[Token], source: Sequence[Token], words: Lexicon, around: Surroundings) -> Finding:
    """Compare a claim with one sentence of its source."""
    found = without_stray_duties(claim, source, partners(claim, source))
    topic = topic_apart(claim, source, found, words)
    if topic:
        found = {i: j for i, j in found.items() if i not in topic}
        around = replace(around, topic=(*around.topic, *(claim[i] for i in topic)))
    return _Examination(Pairing(in_clauses_of(claim, source, found), source, found, words), around).finding()


class _Examination(AddedWords):
    """Collect the differences between a claim and a sentence."""

    _may_be_turned = False  # "none accepted" may be "all rejected"

    def finding(self) -> Finding:
        """Run every comparison, and return the outcome."""
        places = content_places(self.claim)
        if not self.pairing.partners:
            return Finding("open", missing=[token.word for token in self.claim if token.content])
        self._explain_ellipsis()
        self._compare_polarity()
        self._compare_unmatched_claim()
        Omissions(self).find()
        self._compare_amounts_of_change()
        junctions = Junctions(self)
        if not self.missing:
            junctions.roles()
            junctions.proposal_left_out()
        if not self.missing and not self.open and not junctions.conditions():
            junctions.junctions()
        if not (self.conflicts or self.missing or self.open):
            left_out = dict.fromkeys(qualifiers_left_out(self.pairing))
            self.open += [self.source[at].word for at in left_out if at not in self.explained_source]
        if not (self.conflicts or self.missing or self.open):
            for found in (mixes_statements, says_otherwise):
                at = found(self.pairing)
                self.open += [] if at is None else [self.source[at].word]
        outcome: Outcome = "holds"
        wrong = {c.claim_span[0] for c in self.conflicts if c.claim}
        known = [
            at for at in places
            if at in self.pairing.partners
            or (self.names_topic(self.claim[at]) and self.claim[at].start not in wrong)
        ]  # fmt: skip
        counted = any(self.claim[at].quantity for at in self.pairing.partners)
        if len(known) + (not counted) > 2 * len(self.pairing.partners):  # most of it is said elsewhere
            self.open += [self.claim[at].word for at in known if at not in self.pairing.partners]
        coverage = len(known) / max(1, len(places))
        sure = [c for c in self.conflicts if (c.claim and c.source) or not (self.missing or self.open)]
        if compares(self.claim, self.words) and not compares(self.source, self.words):
            sure = [c for c in sure if c.kind not in _SWAPS]  # "more often than": a reader must judge
        if self._may_be_turned or len({c.kind for c in sure} & _MAY_CANCEL) > 1:
            sure = []  # "unless they object", "only if they do not object"
        if sure and coverage >= LEAST_COVERAGE:
            outcome, self.conflicts = "conflict", sure
        elif self.conflicts or self.missing or self.open:
            outcome = "open"
        return Finding(
            outcome, self.conflicts, self.missing, self.open, coverage, self.pairing.matched_source
        )

    def _explain_ellipsis(self) -> None:
        """Ignore words that the later clause replaces.

        This applies where the claim states the whole later clause.
        """
        clauses = sorted(self.pairing.clauses)
        if len(clauses) < 2:
            return
        own = [at for at in content_places(self.source) if self.source[at].clause == clauses[-1]]
        if self.has_whole(own):
            earlier = [at for at in self.relevant_unmatched() if self.source[at].clause != clauses[-1]]
            self.explained_source |= {at for at in earlier if self.replaced(at, own)}

    # -- polarity

    def _compare_polarity(self) -> None:
        """Compare opposites, which may mean the same beside a "not" or in a comparison."""
        opposites = self.pairing.opposites
        if not opposites:
            return
        denied = denials_at(self.pairing.unmatched_claim, self.claim)
        denied += denials_at(self.relevant_unmatched(), self.source)
        compared = compares(self.claim, self.words) and compares(self.source, self.words)
        for i, j in opposites:
            if denied or compared or opposite(self.claim[i], self.source[j]) & _CONVERSE:
                self.open.append(self.claim[i].word)
                self._may_be_turned = True
            else:
                self.conflict("direction", i, j)

    # -- the claim's words

    def _compare_unmatched_claim(self) -> None:
        """Compare each token of the claim that has no partner, by its kind."""
        for at in self.pairing.unmatched_claim:
            token = self.claim[at]
            if at in self.explained_claim or at in self._opening_topic:
                continue
            if token.quantity:
                self._compare_quantity(at)
            elif token.marker and not self._implies_must(at):
                self._compare_marker(at)
            elif token.marker:
                continue
            else:
                self._compare_word(at)

    @cached_property
    def _opening_topic(self) -> range:
        """Return, for unspaced scripts, the indexes of the claim's first words that also open the passage.

        The claim "『浜辺日録』には地震の記事が…" repeats the topic of the passage "『浜辺日録』の筆者は…。
        日録には地震の記事が…", and then words of a later sentence.
        """
        first = next((at for at in content_places(self.source)), None)
        if self.words.language not in UNSPACED_LANGUAGES or first not in self.pairing.matched_source:
            return range(0)
        opening = "".join(t.word for t in self.around.everything[:_OPENING_TOKENS] if t.kind != "break")
        for start in range(len(self.claim) - 1):
            if start and self.claim[start - 1].kind == "word":
                continue
            run = list(takewhile(lambda at: self.claim[at].kind == "word", range(start, len(self.claim))))
            for end in range(len(run), 0, -1):
                words = "".join(self.claim[at].word for at in run[:end])
                if len(words) > 1 and opening.startswith(words):
                    return range(start, start + end)
        return range(0)

    def _implies_must(self, at: int) -> bool:
        """Return whether the source expresses the claim's "must" by its form.

        The form is an imperative, a future tense that prescribes, or a bound: "at most 6 bar".
        """
        if not is_marker(self.claim[at], "modality") or self._left_out("modality"):
            return False
        if self.claim[at].marker == Marker("modality", "may"):
            return False
        bounds = [self.claim[i].bound for i in self.pairing.partners if self.claim[i].quantity]
        if any(bound in ("le", "lt", "ge", "gt") for bound in bounds):
            return True
        verb = next((i for i, _ in self.pairing.ordered if i > at and self.claim[i].kind == "word"), None)
        rules = tuple(self.words.future_endings)  # "las solicitudes se presentarán": they must be
        if verb is not None and self.source[self.pairing.partners[verb]].word.endswith(rules):
            return True
        return verb is not None and is_instruction(self.source, self.pairing.partners[verb], self.words)

    def _compare_quantity(self, at: int) -> None:
        """Compare a number of the claim that has no partner with the source's nearest free number."""
        token = self.claim[at]
        rival = self._rival(at, lambda other: other.quantity is not None)
        if rival is not None and not self.can_contradict(at, rival):
            self.open.append(token.word)
        elif rival is not None:
            self.explained_source.add(rival)
            self.conflict(difference(token, self.source[rival]), at, rival)
        elif not self._is_in_passage(token):
            self.missing.append(token.word)
        else:
            self.open.append(token.word)

    def _compare_marker(self, at: int) -> None:
        """Compare a marker of the claim that has no partner with the source's nearest free one."""
        token = self.claim[at]
        marker = token.marker
        assert marker is not None
        rival = self._rival(
            at, lambda other: other.marker is not None and other.marker.category == marker.category
        )
        if rival is None and marker == Marker("person", "second") and not self._left_out("person"):
            return
        if rival is None and marker.category == "hedge" and marker.value == "shown":
            rival = self._rival(at, lambda other: is_marker(other, "negation") or is_marker(other, "hedge"))
        if rival is None and token.word in self.words.without:
            free = self.pairing.unmatched_source
            rival = next((j for j in free if is_marker(self.source[j], "condition", "onlyif")), None)
        if rival is None and marker.category == "cause":
            rival = self._rival(at, lambda other: is_marker(other, "cause"))
        if rival is None and marker.category == "condition" and marker.value in ("evenif", "including"):
            rival = self._rival(at, lambda other: is_marker(other, "condition"))
        if rival is not None and marker.category == "time" and self._reverses_time(at, rival):
            self.open.append(token.word)
        elif rival is not None:
            self.explained_source.add(rival)
            kind = (
                "correlation"
                if is_marker(self.source[rival], "cause", "linked")
                else _KIND_OF[marker.category]
            )
            self.conflict(kind, at, rival)
        elif marker.category == "negation":
            self.conflict("negation", at, None)
        elif marker.category == "modality" and self._left_out("modality"):
            self.conflict("modality", at, None)
        else:
            self.open.append(token.word)

    def _reverses_time(self, at: int, rival: int) -> bool:
        """Return whether the words after the claim's "after" come before the source's "before"."""
        following = next((self.pairing.partners[i] for i, _ in self.pairing.ordered if i > at), None)
        return following is not None and following < rival

    def _left_out(self, category: str) -> bool:
        """Return whether the claim leaves out a relevant marker of this category."""
        return any(is_marker(self.source[at], category) for at in self.relevant_unmatched())

    def _compare_word(self, at: int) -> None:
        """Compare a word of the claim that has no partner, unless the context explains it."""
        token = self.claim[at]
        added = self.names_topic(token) or token.word in self.words.light or self.speaks_for_us(token)
        if (added and not self.displaces(at)) or self.adds_topic(at):
            return
        if names_in_full(self.pairing, at, (self.around.topic, self.around.everything)):
            return
        unspaced = self.words.language in UNSPACED_LANGUAGES
        if unspaced and token.word in self.words.generic and not any(t.content for t in self.claim[:at]):
            return  # "该研究"
        if token.word in self.words.group and at - 1 in self.pairing.partners:  # "in the placebo group"
            return
        rival = self._rival(at, lambda other: bool(opposite(token, other)))
        if rival is not None:
            self.explained_source.add(rival)
            if opposite(token, self.source[rival]) & _CONVERSE:
                self.open.append(token.word)
            else:
                self.conflict("direction", at, rival)
            return
        rival = self._rival(at, lambda other: other.kind == "word", adjacent=True)
        if rival is not None and self._is_in_passage(token) and not self.is_topic(token):
            self.explained_source.add(rival)
            self.conflict("entity_swap", at, rival)
        else:
            self.missing.append(token.word)

    def _is_in_passage(self, token: Token) -> bool:
        """Return whether the passage around the sentence has the same number or word."""
        if token.quantity:
            return any(
                other.quantity is not None and same_quantity(token.quantity, other.quantity)
                for other in self.around.everything
            )
        return any(token.stem == other.stem for other in self.around.everything if other.kind == "word")

    def _rival(self, at: int, fits: Callable[[Token], bool], adjacent: bool = False) -> int | None:
        """Return the index of the free source token nearest to where the partner of ``at`` is expected.

        ``fits`` is a predicate on tokens. With ``adjacent``, it is at most 2 tokens from there; else None.
        """
        free = [
            j for j in self.relevant_unmatched() if j not in self.explained_source and fits(self.source[j])
        ]
        if not free:
            return None
        expected = self.expected_place(at)
        nearest = min(free, key=lambda j: abs(j - expected))
        if adjacent and abs(nearest - expected) > 2:
            return None
        return nearest

    def _compare_amounts_of_change(self) -> None:
        """Tell an amount of change from the amount reached: "rose by 8" is not "rose to 8" or "was 8"."""
        numbers = [(i, j) for i, j in self.pairing.ordered if self.claim[i].quantity]
        for i, j in numbers:
            roles = change_role(self.claim, i, self.words), change_role(self.source, j, self.words)
            if set(roles) == {"by", "to"}:
                self.conflict("digit", i, j)
        if any(pair == "direction" for token in self.claim for pair, _ in token.poles):
            return
        for i, j in numbers:
            if (
                self.is_change(j)
                and lead(self.source, j, self.words) not in self.words.ends | self.words.starts
            ):
                self.open.append(self.claim[i].word)
