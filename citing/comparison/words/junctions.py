"""Roles and junctions: whether the claim joins its words as the source does.

A sentence may contain all words of a claim in other relations: subject and object exchanged, a number
of the next clause, a phrase of the other side of an "and".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile

from citing.comparison.words.alignment import (
    Differences,
    amounts_exchanged,
    content_places,
    subjects_of_amounts_exchanged,
)
from citing.comparison.words.order import misplaced
from citing.comparison.words.phrases import (
    change_role,
    clause_lead,
    lead,
    misdated,
    of_number,
)
from citing.comparison.words.token import COORDINATORS, Token, is_date, is_marker

_OF_VERBS = frozenset({"direction", "begin", "trade", "giving", "enter", "win", "accept", "keep"})
_MOST_ADVERBIAL = 4  # words of meaning in a phrase that opens a sentence
_SUBJECT_WORDS = 4  # content words that open a sentence and may be its subject


class Junctions:
    """Compare how words are joined; record differences in ``found``."""

    def __init__(self, found: Differences) -> None:
        self.found, self.pairing = found, found.pairing
        self.claim, self.source, self.words = found.claim, found.source, found.words

    def roles(self) -> None:
        """Record words with another semantic role than in the source: who does it to whom."""
        exchanged = amounts_exchanged(self.pairing) or subjects_of_amounts_exchanged(self.pairing)
        if exchanged:
            self.found.conflict("role_swap", exchanged[0], self.pairing.partners[exchanged[1]])
        elif moved := misplaced(self.pairing):
            if any(c.kind == "direction" for c in self.found.conflicts):  # "A outlived B", "B died before A"
                self.found.conflict("entity_swap", max(moved), self.pairing.partners.get(max(moved)))
            self.found.open.append(self.claim[max(moved)].word)

    def proposal_left_out(self) -> None:
        """Record a proposal that the claim asserts as done: "raised" for "recommended that it be raised"."""
        first = min(self.pairing.matched_source, default=0)
        if any(is_marker(token, "modality") for token in self.claim):
            return
        for that in range(first):
            verb = next((at for at in range(that) if self.source[at].word in self.words.proposing), None)
            if verb is not None and self.source[that].word in self.words.complement:
                self.found.conflict("modality", None, verb)
                return

    def conditions(self) -> bool:
        """Return whether a word is in a conditional clause on one side only; record the conflict."""
        for i, j in self.pairing.ordered:
            under = {self._under(self.claim, i), self._under(self.source, j)}
            if self.claim[i].kind == "word" and under == {True, False}:
                self.found.conflict("cause_effect", i, j)
                return True
        return False

    def _under(self, tokens: Sequence[Token], at: int) -> bool | None:
        """Return whether a word is in a conditional clause; None after a phrase: "only with consent"."""
        if clause_lead(tokens, at) in ("", "including"):
            return False
        clause = (token for token in tokens if token.clause == tokens[at].clause)
        marker = next((token for token in clause if is_marker(token, "condition")), None)
        return None if marker and self.words.is_phrase(marker.word) else True

    def junctions(self) -> None:
        """Check words of two clauses: the claim may omit nothing where they are joined."""
        ordered = self.pairing.ordered
        pairs = [(i, j) for i, j in ordered if self.claim[i].word not in self.words.period_end]  # "as of"
        wrong = misdated(self.pairing)
        if wrong and not self.found.is_change(wrong[1]):
            self.found.conflict("date", *wrong)
            return
        if (
            at := next((i for i, j in pairs if is_date(self.source[j]) and self._of_first_value(j)), None)
        ) is not None:
            self.found.conflict("time", at, self.pairing.partners[at])
            return
        for (i, j), (k, m) in pairwise(pairs):
            if m > j and self._subject_was_object(i, k) and self._is_object(j) and self._next_predicate(j, m):
                self.found.open.append(self.claim[i].word)
                return
            if self.source[j].clause != self.source[m].clause:
                if self._phrase_of_its_own(k, j, m):
                    return
                if self._broken(i, k):
                    continue
                if self._has_own_subject(j, m) or self._of_antecedent(j, m):
                    self.found.open.append(self.claim[k].word)
                    return
                if self._joined(j, m) or self.ellipsis(max(j, m)):
                    continue
                if self._adverbial(min(j, m)) or (m < j and self._continued(m, j)):
                    continue
                if self._continued(j, m) or self._second_predicate(j, m):
                    continue
                self.found.open.append(self.claim[k].word)
                return
            if m > j and self._with_other_number(k, j, m):
                return
            if m > j and self._second_predicate(j, m):
                continue
            if m > j and (self._between_coordinates(k, j, m) or self._behind_other_verb(k, j, m)):
                return
            if self._passes_rival(k, j, m) if m > j else self._moved_from_rival(k, j, m):
                return

    def _subject_was_object(self, i: int, k: int) -> bool:
        """Return whether a word of the claim may be its subject, followed by its verb without "and"."""
        verbs = self.words.have | self.words.passive | self.words.copula
        before = any(t.word in verbs or t.kind == "marker" for t in self.claim[:i])
        joined = any(t.word in COORDINATORS or t.kind == "break" for t in self.claim[i:k])
        bare = self.claim[i].kind == "word" and not lead(self.claim, i, self.words)
        return bare and not before and not joined

    def _is_object(self, j: int) -> bool:
        """Return whether an omitted verb or an "of" precedes a word: "sued the buyer"."""
        words = self.words
        role = lead(self.source, j, words)
        if role in words.genitive | words.ends | words.starts | words.agent:  # "the owner of Acme"
            return bool(role) and not of_number(self.source, j)
        free = frozenset(self.pairing.unmatched_source)
        start = self._phrase_start(j)
        bare = [k for k in free if start <= k < j and self.source[k].kind == "word"]
        bare = [k for k in bare if not lead(self.source, k, self.words)]
        before = next(
            (k for k in range(j - 1, start - 1, -1) if self.source[k].word not in words.articles), start
        )
        relative = any(token.word in self.words.relatives for token in self.source[start:j])
        return before in bare and (before < j - 1 or len(bare) > 1 or relative)

    def _phrase_start(self, at: int) -> int:
        """Return the start of the stretch between two breaks that contains a word."""
        return next((k + 1 for k in range(at - 1, -1, -1) if self.source[k].kind == "break"), 0)

    def _next_predicate(self, j: int, m: int) -> bool:
        """Return whether a later verb of the same subject is between two words, or is the second of them."""
        between = range(j + 1, m)
        joins = [k for k in between if self.source[k].word in COORDINATORS or self.source[k].kind == "break"]
        behind = self.source[joins[-1] + 1 : m] if joins else ()
        if not joins or self.source[m].kind == "quantity":
            return False
        small = self.words.relatives | self.words.pronouns | self.words.articles | self.words.prepositions
        if any(token.word in small - self.words.have for token in behind[:1]):
            return False
        has_verb = any(t.word in self.words.have | self.words.passive | self.words.copula for t in behind)
        start = self._phrase_start(j)
        inside = lead(self.source, j, self.words) and any(at < start for at in content_places(self.source))
        inside = inside or any(token.word in self.words.relatives for token in self.source[start:j])
        return bool(has_verb or inside) or self.source[joins[-1]].word in COORDINATORS

    def _broken(self, i: int, k: int) -> bool:
        """Return whether the claim breaks between two words, or has a "before" there that the source has."""
        if self.claim[i].clause != self.claim[k].clause:
            return True
        between = range(min(i, k), max(i, k) + 1)
        return any(is_marker(self.claim[at], "time") and at in self.pairing.partners for at in between)

    def _has_own_subject(self, j: int, m: int) -> bool:
        """Return whether a statement after a semicolon opens with words that the claim omits."""
        part = self.source[m].part
        if self.source[j].part >= part:
            return False
        opening = (at for at in content_places(self.source) if at < m and self.source[at].part == part)
        return any(at not in self.pairing.matched_source for at in opening)

    def _of_antecedent(self, j: int, m: int) -> bool:
        """Return whether the claim omits the antecedent of a clause: "the abbess, who refused"."""
        opens = [
            at
            for at in range(j + 1, m + 1)
            if self.source[at - 1].kind == "break"
            and (
                (self.source[at].word in self.words.relatives and at < m and self._ends_with_verb(at))
                or (self.source[at].word in self.words.articles and self._in_apposition(at, m))
            )
        ]
        antecedent = max((at for at in content_places(self.source) if opens and at < opens[-1]), default=j)
        return antecedent != j and antecedent not in self.pairing.matched_source

    def _in_apposition(self, at: int, m: int) -> bool:
        """Return whether a word is in the noun phrase from an article to a break."""
        verbs = self.words.have | self.words.passive | self.words.copula
        phrase = list(takewhile(lambda k: self.source[k].kind != "break", range(at, len(self.source))))
        plain = all(self.source[k].word not in verbs and not self.source[k].marker for k in phrase)
        return plain and m in phrase and self.words.language in ("en", "fr", "es", "it", "pt")

    def _ends_with_verb(self, at: int) -> bool:
        """Return whether a clause ends with its verb, as German relative clauses do."""
        if self.words.language not in ("de", "nl"):
            return True
        own = [t for t in self.source if t.clause == self.source[at].clause and t.content]
        return bool(own) and own[-1].word.endswith(("t", "te", "en", "ten"))

    def _joined(self, j: int, m: int) -> bool:
        if m < j:
            return False
        low, high = j, m
        between = [at for at in self.pairing.unmatched_source if low < at < high]
        ends = {self.source[low].clause, self.source[high].clause}
        return not any(self.source[at].clause in ends for at in between)

    def _adverbial(self, at: int) -> bool:
        """Return whether a word is in the opening phrase, which the claim has whole: "In May 2020, …"."""
        clause = self.source[at].clause
        own = [k for k, t in enumerate(self.source) if t.clause == clause and t.kind != "break"]
        opens = bool(own) and all(t.clause >= clause for t in self.source[: own[0]])
        phrase = [k for k in own if self.source[k].content and not is_marker(self.source[k], "time")]
        bare = self.source[own[0]].word in self.words.prepositions or is_marker(self.source[own[0]], "time")
        to_claim = {j: i for i, j in self.pairing.ordered}
        is_whole = all(k in to_claim and lead(self.claim, to_claim[k], self.words) for k in phrase)
        return opens and bare and is_whole and len(phrase) <= _MOST_ADVERBIAL

    def ellipsis(self, later: int) -> bool:
        """Return whether the claim has all of an elliptical later clause, completed from the earlier one."""
        clause = self.source[later].clause
        own = [at for at in content_places(self.source) if self.source[at].clause == clause]
        if not self.found.has_whole(own):
            return False
        earlier = [
            at for at in self.pairing.unmatched_source if self.source[at].clause in self.pairing.clauses
        ]
        return all(self.found.replaced(at, own) for at in earlier if self.source[at].kind != "word")

    def _continued(self, j: int, m: int) -> bool:
        """Return whether the claim has a whole clause about the subject that opens the sentence."""
        clause = self.source[m].clause
        own = [
            at
            for at, token in enumerate(self.source)
            if token.clause == clause and token.content and not self._compared_with(at)
        ]
        amount = len(own) == 1 and self.source[own[0]].quantity and own[0] in self.pairing.matched_source
        if m < j or not (amount or self.found.has_whole(own)):
            return False
        opening = [at for at in content_places(self.source) if self.source[at].clause < clause]
        before = [at for at in opening if at in self.pairing.matched_source]
        while opening and before and opening[0] != before[0] and is_date(self.source[opening[0]]):
            opening = opening[1:]
        if any(self.source[at].word in self.words.pronouns for at in range(min(own) - 3, min(own) + 1)):
            return all(at in opening[:_SUBJECT_WORDS] and self.source[at].kind == "word" for at in before)
        opening = [at for at in opening if at in before or not self.source[at].quantity]
        return opening[: len(before)] == before and all(
            self.source[at].kind == "word" or is_date(self.source[at]) for at in before
        )

    def _second_predicate(self, j: int, m: int) -> bool:
        """Return whether the claim has the whole predicate after an "and": "covers 2 km² and is dammed"."""
        joins = [at for at in range(j + 1, m) if self.source[at].word in COORDINATORS]
        if not joins or any(joins[-1] < at < m for at in content_places(self.source)):
            return False
        end = next(
            (
                at
                for at in range(m + 1, len(self.source))
                if self.source[at].kind == "break" or self.source[at].word in COORDINATORS
            ),
            len(self.source),
        )
        own = [at for at in content_places(self.source) if m <= at < end]
        left_out = [at for at in content_places(self.source) if j < at < joins[-1]]
        omitted = all(at not in self.pairing.matched_source for at in left_out)
        same_part = self.source[j].part == self.source[m].part
        return same_part and omitted and self.found.has_whole(own) and self.source[m].kind != "quantity"

    def _between_coordinates(self, k: int, j: int, m: int) -> bool:
        """Record words omitted on both sides of an "and": the partners belong to two things."""
        joins = [at for at in range(j + 1, m) if self.source[at].word in COORDINATORS]
        for join in joins:
            left = [at for at in self.pairing.unmatched_source if j < at < join]
            right = [at for at in self.pairing.unmatched_source if join < at < m]
            if left and right:
                if any(self.source[at].quantity for at in (*left, *right)):
                    self.found.conflict("entity_swap", k, right[0])
                else:
                    self.found.open.append(self.claim[k].word)
                return True
        return False

    def _behind_other_verb(self, k: int, j: int, m: int) -> bool:
        """Record a phrase of an omitted second verb: "rose in May and vanished after rain"."""
        for join in range(j + 1, m - 1):
            verb = join + 1
            if self.source[join].word not in COORDINATORS or verb not in self.pairing.unmatched_source:
                continue
            token = self.source[verb]
            verbal = self.words.language == "en" and token.word.endswith("ed")
            if (verbal or {pair for pair, _ in token.poles} & _OF_VERBS) and lead(self.source, m, self.words):
                self.found.open.append(self.claim[k].word)
                return True
        return False

    def _with_other_number(self, k: int, j: int, m: int) -> bool:
        """Record a number joined to a word after an "and" that has a number of its own."""
        before = [q for at in self.pairing.matched_source if at <= j and (q := self.source[at].quantity)]
        if not before or self.source[m].quantity:
            return False
        if not any(token.word in COORDINATORS for token in self.source[j + 1 : m]):
            return False
        behind = takewhile(self._is_noun_like, range(m + 1, len(self.source)))
        own = next((at for at in behind if self.source[at].quantity), None)
        held = self.source[own].quantity if own is not None else None
        if own is None or held is None or own in self.pairing.matched_source:
            return False
        if held.dimension in ("year", "date") or held.dimension != before[-1].dimension:
            return False
        self.found.conflict("entity_swap", k, own)
        return True

    def _is_noun_like(self, at: int) -> bool:
        token = self.source[at]
        return token.kind in ("word", "quantity", "function") and token.word not in COORDINATORS

    def _passes_rival(self, k: int, j: int, m: int) -> bool:
        """Record another number of the same unit between a word and its number."""
        dimensions = {q.dimension for q in (self.source[j].quantity, self.source[m].quantity) if q}
        rivals = [
            at
            for at in self.pairing.unmatched_source
            if j < at < m
            and (other := self.source[at].quantity) is not None
            and other.dimension in dimensions
            and not self._other_side_of_change(at, j, m)
            and not self.found.is_whole(at)
        ]
        if not rivals:
            return False
        one, two = lead(self.claim, k, self.words), lead(self.source, m, self.words)
        if one and one == two:
            return False
        self.found.conflict("digit", k, rivals[0])
        return True

    def _other_side_of_change(self, at: int, j: int, m: int) -> bool:
        """Return whether one number is a change and the other its result: "rose 212 to 1,930"."""
        if lead(self.source, m, self.words) in self.words.ends:
            return self.found.is_change(at) or lead(self.source, at, self.words) in self.words.starts
        return self.found.is_change(j) and lead(self.source, at, self.words) in self.words.ends

    def _phrase_of_its_own(self, k: int, j: int, m: int) -> bool:
        """Record a number of one clause joined to another clause that has a number of its own."""
        if self._joined(j, m):
            return False
        for at, other in ((m, j), (j, m)):
            token, role = self.source[at], lead(self.source, at, self.words)
            if not token.quantity or not role or self._opens_sentence(at):
                continue
            for rival in self.pairing.unmatched_source:
                held = self.source[rival]
                if (
                    abs(held.clause - self.source[other].clause) <= 1
                    and held.clause != token.clause
                    and held.quantity
                    and held.quantity.dimension == token.quantity.dimension
                    and role == lead(self.source, rival, self.words)
                    and rival not in self.found.explained_source
                    and not self._of_first_value(rival)
                ):
                    self.found.conflict(
                        "time" if token.quantity.dimension == "year" else "entity_swap", k, rival
                    )
                    return True
        return False

    def _compared_with(self, at: int) -> bool:
        """Return whether a word belongs to the initial value of a change that the claim omits."""
        if at in self.pairing.matched_source:
            return False
        own = self.source[at].quantity and lead(self.source, at, self.words) in self.words.starts
        return bool(own) or self._of_first_value(at)

    def _of_first_value(self, at: int) -> bool:
        """Return whether a phrase belongs to the initial value of a change: "from 3,194 in 2020"."""
        before = max(
            (k for k in content_places(self.source) if k < at and self.source[k].quantity), default=None
        )
        return (
            before is not None
            and before not in self.pairing.matched_source
            and lead(self.source, before, self.words) in self.words.starts
            and change_role(self.source, before, self.words) != "by"
        )

    def _opens_sentence(self, at: int) -> bool:
        """Return whether a number alone opens the sentence: "In 2022, …"."""
        before = [j for j in content_places(self.source) if self.source[j].clause <= self.source[at].clause]
        return before == [at]

    def _moved_from_rival(self, k: int, j: int, m: int) -> bool:
        """Record a word that has a phrase of its own: "by 40 % at month 3 and by 52 % at month 6"."""
        token = self.source[m]
        role = lead(self.source, m, self.words)
        between = self.source[min(j, m) + 1 : max(j, m)]
        if not any(other.word in COORDINATORS or other.kind == "break" for other in between):
            return False
        for at in self.found.relevant_unmatched():
            other = self.source[at]
            alike = other.stem == token.stem if token.kind == "word" else self._of_one_measure(token, other)
            if (
                at > j
                and alike
                and role == lead(self.source, at, self.words)
                and not self._of_first_value(at)
            ):
                self.found.conflict("entity_swap", k, at)
                return True
        return False

    def _of_one_measure(self, token: Token, other: Token) -> bool:
        one, two = token.quantity, other.quantity  # "six minutes, and the rice for twenty"
        return bool(one and two and (one.dimension == two.dimension or two.bare))
