"""Words of the source sentence that a claim omits although they change its meaning: conditions, negations."""

from __future__ import annotations

from itertools import pairwise, takewhile

from citing.budget import check_budget
from citing.comparison.words.alignment import Differences, content_places
from citing.comparison.words.phrases import comparison_over, lead
from citing.comparison.words.token import COORDINATORS, DENIALS, EITHER, LIST_WORDS, is_date, is_marker
from citing.comparison.words.voice import is_instruction
from text.languages import UNSPACED_LANGUAGES
from text.semantics import Marker

# Markers that a claim may omit without asserting more than the source.
_MAY_BE_LEFT_OUT = {"quantifier:all", "quantifier:only", "frequency:once", "ordinal:previous"}
_MAY_BE_LEFT_OUT |= {"condition:including", "time:during", "hedge:shown"}
_KINDS = {"modality": "modality", "hedge": "modality", "quantifier": "quantifier", "ordinal": "ordinal"}
_SURE = {"may", "should", "supposed", "most"}  # without these values the claim asserts more
COMMA_RELATIVES = frozenset({"de", "nl", "ru"})  # a comma precedes every relative clause
_NEAR_SHARE = 4  # tokens between a share and its whole
_NEAR_VERB = 3  # tokens between "would" and its verb
_NEAR_RELATIVE = 3  # tokens between "of whom" and the number
_UNIVERSAL = frozenset({Marker("quantifier", "all"), Marker("quantifier", "none")})
_OPEN_WHEN_LEFT_OUT = {"frequency", "time", "cause"}


class Omissions:
    """Check the words of the source sentence that have no partner in the claim."""

    def __init__(self, found: Differences) -> None:
        self.found, self.pairing = found, found.pairing
        self.claim, self.source, self.words = found.claim, found.source, found.words

    def find(self) -> None:
        """Record each that changes the meaning of the claim as a conflict or as open."""
        parts = {self.source[at].part for at in self.pairing.matched_source}
        for at in self.pairing.unmatched_source:
            token = self.source[at]
            free = at not in self.found.explained_source
            part = self._part_of(at) or self._of_which(at) or self._part_behind_whole(at)
            if token.quantity and free and part:
                self.found.conflict("quantifier", None, at)
            if not free or not token.marker or token.part not in parts:
                continue
            if token.marker.category == "condition":
                self._condition_left_out(at)
            elif token.clause in self.pairing.clauses:
                self._marker_left_out(at)
            elif token.marker.category == "negation" and self._denies_next(at):
                self.found.open.append(token.word)
        self._restriction_left_out()
        self._universal_widened()
        self._owner_replaced()
        self._compared_with_other()
        self._future_as_past()
        self._otherwise_left_out()
        self._part_as_whole()
        self._denial_moved()
        self._condition_of_alternative()
        self._consent_left_out()
        self._reported_as_true()
        self._hedged_by_small_word()
        self._alternative_left_out()
        self._rate_left_out()
        self._exception_left_out()
        self._counted_by_other()
        self._frequency_of_next()
        self._apposition_moved()
        self._object_of_pronoun_as_subject()

    def _denial_moved(self) -> None:
        """Record a "not" that negates another word in the source: "is for use only and shall not affect"."""
        if self.words.language in UNSPACED_LANGUAGES or self.words.language in COMMA_RELATIVES:
            return  # "nicht" may follow the word it negates
        own, held = content_places(self.claim), content_places(self.source)
        for i, j in self.pairing.ordered:
            if self.claim[i].marker not in DENIALS or self.source[j].marker not in DENIALS:
                continue
            denied = next((k for k in own if k > i), None)
            other = next((k for k in held if k > j), None)
            place = self.pairing.partners.get(denied, j) if denied is not None else j
            freed = next((k for k, m in self.pairing.ordered if m == other), i)
            exchanged = freed < i and self.claim[i].word in self.words.without  # "red, without being blue"
            if place < j and (exchanged or (other is not None and other not in self.pairing.matched_source)):
                self.found.conflict("negation", i, j)

    def _reported_as_true(self) -> None:
        """Record a reporting or denying verb that the claim omits: "critics said the plan failed"."""
        if self.words.language in UNSPACED_LANGUAGES:
            self._reported_in_unspaced()
            return
        claim_words = {token.word for token in self.claim}
        is_reported = bool(claim_words & (self.words.reporting | self.words.saying | self.words.doubting))
        last = max(self.pairing.matched_source, default=0)
        first = min(self.pairing.matched_source, default=0)
        for at, token in enumerate(self.source[:last]):
            free = at not in self.pairing.matched_source and token.part == self.source[last].part
            if free and token.word in self.words.doubting and not claim_words & self.words.doubting:
                self.found.conflict("negation", None, at)
            elif free and token.word in self.words.reporting and at < first and not is_reported:
                self.found.open.append(token.word)

    def _reported_in_unspaced(self) -> None:
        """Do the same for scripts without spaces; also record "one of" after a superlative."""
        places = self.pairing.matched_source
        before, behind = (
            "".join(token.word for token in side)
            for side in (self.source[: min(places, default=0)], self.source[max(places, default=0) + 1 :])
        )
        claim_text = "".join(token.word for token in self.claim)
        verbs = sorted(self.words.doubting | self.words.reporting)
        self.found.open += [v for v in verbs if v in f"{before}|{behind}" and v not in claim_text]
        if any(behind.startswith(end) and end not in claim_text for end in self.words.one_of):
            self.found.conflict("quantifier", None, max(places))

    def _hedged_by_small_word(self) -> None:
        """Record "too small to", "would have" or "rarely" where the claim has the words after it only."""
        claim_words = {token.word for token in self.claim}
        places = sorted(self.pairing.matched_source)
        for at, token in enumerate(self.source):
            if token.clause not in self.pairing.clauses or token.word in claim_words:
                continue
            behind = [j for j in places if at < j and self.source[j].clause == token.clause]
            own = next((j for j, after in enumerate(self.source) if j > at and after.content), None)
            so_as = any(t.word in self.words.so_as for t in self.source[at + 1 :])
            if token.word in self.words.excess and so_as and behind and behind[-1] != own:
                self.found.conflict("negation", None, at)
            elif token.word in self.words.unreal and behind and behind[0] - at <= _NEAR_VERB:
                if not any(is_marker(t, "modality") or t.word in self.words.unreal for t in self.claim):
                    self.found.open.append(token.word)
            elif token.word in self.words.rare:
                self.found.open.append(token.word)
            elif token.word in self.words.no_more and any(
                t.word in ("ne", "n'") for t in self.source[max(0, at - _NEAR_VERB) : at]
            ):
                self.found.conflict("negation", None, at)
            elif token.word in self.words.outside and own in self.pairing.matched_source:
                self.found.conflict("condition", None, at)

    def _alternative_left_out(self) -> None:
        """Record an "or" of which the claim asserts one side, or joins both sides with "and"."""
        if self.words.language in UNSPACED_LANGUAGES:
            texts = ["".join(t.word for t in side) for side in (self.source, self.claim)]
            in_source, in_claim = (any(word in text for word in self.words.either) for text in texts)
            if in_source and not in_claim and any(t.word in LIST_WORDS for t in self.claim):
                self.found.conflict("quantifier", None, 0)
            return
        to_claim = {j: i for i, j in self.pairing.ordered}
        for at, token in enumerate(self.source[1:-1], 1):
            if token.word not in EITHER:
                continue
            own = next((j for j in content_places(self.source) if j > at), None)
            before = max((j for j in content_places(self.source) if j < at), default=None)
            if own is None or before not in to_claim or self.source[own].quantity:
                continue
            if own in to_claim:
                between = self.claim[to_claim[before] + 1 : to_claim[own]]
                words = {t.word for t in between if t.word in COORDINATORS}
                if words and not words & EITHER:
                    self.found.conflict("quantifier", None, at)
            elif any(t.word in self.words.either for t in self.source[:at]) or self._joins_phrases(at):
                self.found.open.append(token.word)

    def _joins_phrases(self, at: int) -> bool:
        """Return whether an "or" joins two phrases with a preposition each: "in person or by proxy"."""
        before = self.source[max(0, at - _NEAR_VERB) : at]
        opens = self.source[at + 1].word in self.words.prepositions
        return opens and any(token.word in self.words.prepositions for token in before)

    def _rate_left_out(self) -> None:
        """Record the omitted unit of a rate: "$5 per share"."""
        for j in self.pairing.matched_source:
            behind = self.source[j + 1 : j + 3]
            if len(behind) < 2 or not self.source[j].quantity or behind[0].word not in self.words.per:
                continue
            said = any(t.stem == behind[1].stem for t in self.claim)  # "$5 per share, after $4 last year"
            if j + 2 in self.pairing.unmatched_source and behind[1].kind == "word" and not said:
                self.found.open.append(behind[1].word)

    def _exception_left_out(self) -> None:
        """Record an exception to "every": "every district but Harbourside"."""
        for at, token in enumerate(self.source[:-1]):
            if token.word not in self.words.breaks or not self.source[at + 1].capital:
                continue
            rest = list(takewhile(lambda t: t.kind != "break", self.source[at + 1 :]))
            all_of = any(is_marker(t, "quantifier") for t in self.source[:at])
            if all_of and len(rest) <= _NEAR_RELATIVE and not any(t.word in self.words.have for t in rest):
                self.found.conflict("condition", None, at + 1)

    def _consent_left_out(self) -> None:
        """Record the consent that a permission requires: "may sublet with the landlord's consent"."""
        may = any(is_marker(self.claim[i], "modality", "may") for i, _ in self.pairing.ordered)
        for at in self.found.relevant_unmatched() if may else ():
            asked = lead(self.source, at, self.words) in self.words.only_with
            if self.source[at].word.split()[0] in self.words.consent and asked:
                self.found.conflict("condition", None, at)
                return

    def _counted_by_other(self) -> None:
        """Record a noun that another number counts: "$4 shares" of "9 shares for $4"."""
        for (i, j), (k, m) in pairwise(self.pairing.ordered):
            side = self.claim[i].quantity and self.claim[k].kind == "word" and k == i + 1
            counts = m - 1 in self.pairing.unmatched_source and self.source[m - 1].quantity
            if side and counts and m != j + 1 and m - 1 not in self.found.explained_source:
                self.found.conflict("digit", i, m - 1)
                return

    def _condition_of_alternative(self) -> None:
        """Record a condition of an alternative that the claim omits: "$20, or $10 if booked online"."""
        for i, j in self.pairing.ordered:
            if not is_marker(self.claim[i], "condition") and not is_marker(self.claim[i], "time"):
                continue
            before = list(takewhile(lambda at: at not in self.pairing.matched_source, range(j - 1, -1, -1)))
            opens = [
                at
                for at in before
                if self.source[at].word in COORDINATORS or self.source[at].word in self.words.breaks
            ]
            left = [at for at in before if opens and at > opens[-1] and self.source[at].content]
            comma = opens and opens[-1] and self.source[opens[-1] - 1].kind == "break"
            if not left or not (comma or any(self.source[at].quantity for at in left)):
                continue
            self.found.conflict("condition", i, left[-1])
            return

    def _frequency_of_next(self) -> None:
        """Record a frequency that belongs to another thing: "heat hourly and light daily"."""
        free = [at for at in self.found.relevant_unmatched() if is_marker(self.source[at], "frequency")]
        for (i, j), (k, m) in pairwise(self.pairing.ordered):
            if is_marker(self.claim[k], "frequency") and self.claim[i].kind == "word" and m < j:
                own = next((at for at in free if at > j), None)
                if own is not None:
                    self.found.conflict("time", k, own)
                    return

    def _part_as_whole(self) -> None:
        """Record a modifier of what the claim calls "overall": "progression-free survival"."""
        for at, (token, following) in enumerate(pairwise(self.claim)):
            place = self.pairing.partners.get(at + 1, 0)
            whole = token.word in self.words.total and not token.content and following.kind == "word"
            if whole and place - 1 in self.pairing.unmatched_source and self.source[place - 1].kind == "word":
                self.found.open.append(token.word)

    def _otherwise_left_out(self) -> None:
        """Record an "otherwise" at the start of the claimed statement: it holds in the other case."""
        if any(token.word in self.words.otherwise for token in self.claim):
            return
        for at, token in enumerate(self.source):
            opens = not at or self.source[at - 1].kind == "break" or self.source[at - 1].word in COORDINATORS
            behind = (j for j in self.pairing.matched_source if j > at and self.source[j].part == token.part)
            if token.word in self.words.otherwise and opens and any(behind):
                self.found.conflict("condition", None, at)

    def _future_as_past(self) -> None:
        """Record a verb after "will" that the claim has in another form without "will"."""
        for i, j in self.pairing.ordered:
            behind = {token.word for token in self.source[max(0, j - 2) : j]} & self.words.future
            is_future = any(
                token.word in self.words.future | self.words.be_to or token.marker
                for token in self.claim[max(0, i - 2) : i]
            )
            other_form = self.claim[i].word != self.source[j].word
            if behind and not is_future and other_form and not self.claim[i].word.split()[0].endswith("s"):
                self.found.open.append(self.claim[i].word)

    def _denies_next(self, at: int) -> bool:
        """Return whether a "not" before a comma negates the claim: "not, as was thought, in 1746"."""
        alone = at + 1 < len(self.source) and self.source[at + 1].kind == "break"
        matched = (j for j in self.pairing.matched_source if self.source[j].part == self.source[at].part)
        return alone and any(j > at for j in matched)

    def _universal_widened(self) -> None:
        """Record the modifier without which "all" says more: "in all material respects"."""
        for i, j in self.pairing.ordered:
            universal = self.source[j].marker == self.claim[i].marker in _UNIVERSAL
            narrowed = j + 1 in self.pairing.unmatched_source and self.source[j + 1].kind == "word"
            if universal and narrowed and self.pairing.partners.get(i + 1) == j + 2:
                self.found.open.append(self.source[j + 1].word)

    def _compared_with_other(self) -> None:
        """Record an amount that is compared with another thing's: "costs were $3, compared with $2"."""
        phrases = {tuple(phrase.split()) for phrase in self.words.compared}
        amounts = [at for at, token in enumerate(self.source) if token.quantity and not is_date(token)]
        for at in amounts:
            opens = any(tuple(t.word for t in self.source[at - len(p) : at]) == p for p in phrases)
            own = self.source[at].quantity
            before = [
                k
                for k in amounts
                if k < at and (q := self.source[k].quantity) and own and q.dimension == own.dimension
            ]
            if not opens or at not in self.pairing.matched_source or not before:
                continue
            base = before[-1]
            clause = [
                k for k in content_places(self.source) if self.source[k].clause == self.source[base].clause
            ]
            subject = [k for k in clause if k < base and self.source[k].kind == "word"]
            if (
                base in self.pairing.unmatched_source
                and subject
                and not {*subject} & self.pairing.matched_source
            ):
                self.found.open.append(self.source[at].word)

    def _owner_replaced(self) -> None:
        """Record an owner with a name in place of whom the claim has "its": "Tarn's mill"."""
        named = {token.stem for token in self.claim}
        subject = next(iter(content_places(self.source)), 0)
        if subject in self.pairing.unmatched_source and self.source[subject].kind == "word":
            named = set()  # "Tarn sold its mill" of "Harrow sold Tarn's mill"
        for i, j in self.pairing.ordered:
            if i and self.claim[i - 1].word in self.words.pronouns and j > 1:
                owner, mark = self.source[j - 2 : j]
                if owner.name and owner.stem not in named and mark.word in ("'s", "’s"):
                    self.found.open.append(owner.word)

    def _object_of_pronoun_as_subject(self) -> None:
        """Record a name that the source has behind a pronoun's verb, as the claim's subject.

        "Bos succeeds Jansen" of "Jansen is appointed; she succeeds Bos", where either may stand first.
        """
        pairs = sorted(self.pairing.partners.items())
        last: dict[str, int] = {token.word: at for at, token in enumerate(self.claim)}
        latest = -1  # place in the claim of a name that the source has before the pronoun
        for k, pronoun in enumerate(self.source):
            if pronoun.capital:
                latest = max(latest, last.get(pronoun.word, -1))
            opens = pronoun.word in self.words.pronouns and pronoun.word not in self.words.articles
            if latest < 0 or not opens:
                continue
            check_budget()
            behind = [(i, j) for i, j in pairs if j > k and self.source[j].part == pronoun.part]
            verbs = [(i, j) for i, j in behind if not self.source[j].capital and self.source[j].content]
            for i, j in behind:
                if self.source[j].capital and any(i < verb < latest and w < j for verb, w in verbs):
                    self.found.open.append(self.claim[i].word)

    def _apposition_moved(self) -> None:
        """Record the name that an apposition belongs to: "Cox leads it; Lund, its founder, left"."""
        openers = self.words.articles | self.words.pronouns
        if not any(t.kind == "word" and (t.capital or not at) for at, t in enumerate(self.claim)):
            return
        for at, token in enumerate(self.source[1:-1], 1):
            owner, following = self.source[at - 1], self.source[at + 1]
            if token.word != "," or following.word not in openers or not owner.capital:
                continue
            check_budget()
            place = next((k for k in range(at - 2, -1, -1) if not self.source[k].capital), at)
            before = self.source[place]
            told = any(self.source[j].clause == following.clause for j in self.pairing.matched_source)
            placed = before.word in self.words.prepositions - self.words.breaks
            own = {k for k in (at - 2, at - 1) if self.source[k].capital}  # "Facility Bank"
            if told and not placed and own.isdisjoint(self.pairing.matched_source):
                self.found.open.append(owner.word)

    def _restriction_left_out(self) -> None:
        """Record a restriction of the subject: "employees with five years of service", "anyone who …"."""
        first = min(
            (at for at in self.pairing.matched_source if self.source[at].kind == "word"), default=None
        )
        if first is None or self.words.language in UNSPACED_LANGUAGES:
            return
        share = self._under_share(first)
        outside = any(token.word in self.words.outside for token in self.source[first + 1 : first + 2])
        if self._is_definite(first) and not share and not outside:
            return
        comma = self.words.language in COMMA_RELATIVES and self.source[first + 1 : first + 2]
        behind = first + 2 if comma and comma[0].word == "," else first + 1
        opens = self.words.relatives if behind > first + 1 else self.words.relatives | self.words.prepositions
        following = min((at for at in self.pairing.matched_source if at > behind), default=None)
        opening = self.source[behind] if behind < len(self.source) else None
        if following is None or opening is None:
            return
        narrowed = opening.word in opens | self.words.outside or self._is_participle(behind, following)
        if not narrowed:
            return
        after = next(i for i, j in self.pairing.ordered if j == first) + 1
        if self.claim[after : after + 1] and self.claim[after].word == self.source[behind].word:
            return  # the claim restricts it too; other checks compare the restrictions
        if after > 1 and self.claim[after - 2].quantity and not share:
            return  # "30 of those hired before 2010 left" implies "30 left"
        phrase = [at for at in content_places(self.source) if first < at < following]
        if opening.word in self.words.relatives and share:
            phrase = phrase or [following]  # "half of the nurses who left": not half left
        dates = ("year", "date")
        if any((q := self.source[at].quantity) is None or q.dimension not in dates for at in phrase):
            self.found.open.append(self.source[phrase[0]].word)

    def _under_share(self, at: int) -> bool:
        """Return whether a word is the whole of a share: "half of the nurses who left"."""
        before = self.source[max(0, at - _NEAR_SHARE) : at]
        shares = any((q := t.quantity) and (q.dimension == "ratio" or 0 < q.value < 1) for t in before)
        return shares and any(t.word in self.words.among for t in before)

    def _is_participle(self, at: int, following: int) -> bool:
        """Return whether an English participle restricts the noun before: "employees hired in May keep"."""
        if self.words.language != "en" or at in self.pairing.matched_source or at + 1 >= len(self.source):
            return False
        between = self.source[at + 1 : following]
        joined = any(t.kind == "break" or t.word in COORDINATORS | self.words.breaks for t in between)
        phrase = self.source[at + 1].word in self.words.prepositions or is_marker(self.source[at + 1], "time")
        return self.source[at].word.endswith(("ed", "ing")) and phrase and not joined

    def _is_definite(self, at: int) -> bool:
        """Return whether a word is definite: "the member", a name."""
        before = [token.word for token in self.source[max(0, at - 3) : at]]
        return self.source[at].name or any(word in self.words.definite for word in before)

    def _part_of(self, at: int) -> bool:
        """Return whether an omitted number counts a part of the claim's subject: "two of the five"."""
        if self.source[at].clause not in self.pairing.clauses or at + 1 >= len(self.source):
            return False
        following = self.source[at + 1]
        if following.word not in self.words.genitive | self.words.among or following.word.startswith("'"):
            return False
        governed = next((j for j in content_places(self.source) if j > at), None)
        if governed not in self.pairing.matched_source:
            return False
        own = self.source[at].quantity
        if own is None or own.dimension in ("year", "date"):
            return False
        matched = [self.source[j].quantity for j in self.pairing.matched_source]
        replaced = any(own and q and q.dimension == own.dimension for q in matched)
        return governed is not None and not (replaced and not self.source[governed].quantity)

    def _part_behind_whole(self, at: int) -> bool:
        """Return whether an omitted number counts a part of the whole before it: "of the 240, 30 …"."""
        own = self.source[at].quantity
        numbers = [j for j, t in enumerate(self.source[: at + 1]) if t.quantity]
        whole = self.source[numbers[0]].quantity if numbers[:-1] else None
        opens = self.source[0].word in self.words.among and len(numbers) == 2
        counts = own and whole and not own.dimension and not whole.dimension and own.value < whole.value
        behind = any(j > at for j in self.pairing.matched_source)
        return bool(opens and counts and behind and numbers[0] in self.pairing.matched_source)

    def _of_which(self, at: int) -> bool:
        """Return whether an omitted number counts a part of the claim's subject: "members, of whom 30 …"."""
        clause = self.source[at].clause
        before = [t for t in self.source[max(0, at - _NEAR_RELATIVE) : at] if t.clause == clause]
        behind = any(j > at and self.source[j].clause == clause for j in self.pairing.matched_source)
        return behind and any(t.word in self.words.of_which | self.words.them for t in before)

    def _condition_left_out(self, at: int) -> None:
        marker = self.source[at].marker
        assert marker is not None
        if marker.value in ("including", "evenif"):
            return
        own = [j for j in self.pairing.matched_source if self.source[j].clause == self.source[at].clause]
        if marker.value == "unlike" and not own:
            return
        second = marker.value == "if" and self._of_second_predicate(at)
        if not own and (second or self._opens_later_clause(at)):
            return
        if at and self.source[at - 1].word in ("or", "oder", "ou", "o", "u") and not own:
            return
        self.found.open.append(self.source[at].word)

    def _opens_later_clause(self, at: int) -> bool:
        """Return whether a condition follows the whole claim in a language that puts conditions first."""
        return (
            self.words.language in UNSPACED_LANGUAGES
            and is_marker(self.source[at], "condition", "if" if self.words.language == "zh" else "")
            and self.source[at].word != "时"
            and at > max(self.pairing.matched_source)
        )

    def _of_second_predicate(self, at: int) -> bool:
        """Return whether a word follows an "and" that no word of the claim follows."""
        return any(t.word in COORDINATORS for t in self.source[max(self.pairing.matched_source) + 1 : at])

    def _of_reason(self, at: int) -> bool:
        """Return whether a word is part of a reason after the claim: "fell, due to rain on most days"."""
        behind = self.source[max(self.pairing.matched_source) + 1 : at]
        return any(token.marker and token.marker.category == "cause" for token in behind)

    def _of_comparison(self, at: int) -> bool:
        """Return whether a word is in a comparison that the claim leaves out: "compared to 5 in May"."""
        start = comparison_over(self.source, at, self.words)
        ends = (k for k in range(at, len(self.source)) if self.source[k].kind == "break")
        whole = range(start or 0, next(ends, len(self.source)))
        return start is not None and self.pairing.matched_source.isdisjoint(whole)

    def _is_instruction_of_claim(self, verb: int | None) -> bool:
        i = next((i for i, j in self.pairing.ordered if j == verb), None)
        return i is not None and is_instruction(self.claim, i, self.words)

    def _is_past(self, verb: int | None) -> bool:
        """Return whether the claim has the past of a verb after "shall": "paid" for "shall pay"."""
        i = next((i for i, j in self.pairing.ordered if j == verb), 0)
        return self.claim[i].word != self.source[verb or 0].word and not self.claim[i].word.endswith("s")

    def _marker_left_out(self, at: int) -> None:
        token = self.source[at]
        marker = token.marker
        assert marker is not None
        name = f"{marker.category}:{marker.value}"
        following = next(
            (j for j in content_places(self.source) if j > at and self.source[j].clause == token.clause), None
        )
        governs = following is not None and following in self.pairing.matched_source
        behind = self.words.language in UNSPACED_LANGUAGES  # the verb precedes it
        if token.word in self.words.enacting and (behind or (governs and not self._is_past(following))):
            return
        if name in _MAY_BE_LEFT_OUT or self._of_second_predicate(at) or self._of_reason(at):
            return
        if self._of_comparison(at):
            return
        if marker.category == "negation" or name == "quantifier:none":
            if governs or following is None:
                self.found.conflict("negation", None, at)
            else:
                self.found.open.append(token.word)
        elif marker.category in _KINDS:
            own = [j for j in self.pairing.matched_source if self.source[j].part == token.part]
            apart = following is not None and not governs and at > max(own, default=at)
            reason = at + 1 < len(self.source) and is_marker(self.source[at + 1], "cause")
            if apart and (reason or _KINDS[marker.category] in ("modality", "ordinal")):
                return  # "the first tranche of $12 million shall be drawn by June": "is $12 million"
            verb = min((j for j in own if j > at), default=None)  # "must be shaken and discarded": "discard"
            if name in ("modality:must", "modality:should") and self._is_instruction_of_claim(verb):
                return
            if governs and (marker.category == "ordinal" or marker.value in _SURE):
                self.found.conflict(_KINDS[marker.category], None, at)
            else:
                self.found.open.append(token.word)
        elif marker.category in _OPEN_WHEN_LEFT_OUT and governs:
            self.found.open.append(token.word)
