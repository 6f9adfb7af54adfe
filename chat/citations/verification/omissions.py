"""What a claim leaves out of its sentence: conditions, denials and other words that turn a meaning."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile

from chat.citations.verification.alignment import Differences, content_places
from chat.citations.verification.phrases import lead
from chat.citations.verification.token import COORDINATORS, DENIALS, is_marker
from chat.citations.verification.voice import is_instruction
from text.semantics import UNSPACED

# What may be left out of a claim without making it say more than the source.
_MAY_BE_LEFT_OUT = {"quantifier:all", "quantifier:only", "frequency:once", "ordinal:previous"}
_MAY_BE_LEFT_OUT |= {"condition:including", "time:during", "hedge:shown"}
_KINDS = {"modality": "modality", "hedge": "modality", "quantifier": "quantifier", "ordinal": "ordinal"}
_SURE = {"may", "should", "supposed", "most"}  # values that say less than the claim without them
COMMA_RELATIVES = frozenset({"de", "nl", "ru"})  # a comma stands before every relative clause
_NEAR_RELATIVE = 3  # tokens between "of whom" and the number
_OPEN_WHEN_LEFT_OUT = {"frequency", "time", "cause"}


class Omissions:
    """Looks at the words of a sentence that no word of the claim stands for."""

    def __init__(self, found: Differences) -> None:
        self.found, self.pairing = found, found.pairing
        self.claim, self.source, self.words = found.claim, found.source, found.words

    def find(self) -> None:
        """Report each that changes what the claim says as a conflict or an open question."""
        parts = {self.source[at].part for at in self.pairing.matched_source}
        for at in self.pairing.unmatched_source:
            token = self.source[at]
            if (
                token.quantity
                and at not in self.found.explained_source
                and (self._part_of(at) or self._of_which(at) or self._part_behind_whole(at))
            ):
                self.found.conflict("quantifier", None, at)
            if at in self.found.explained_source or not token.marker or token.part not in parts:
                continue
            if token.marker.category == "condition":
                self._condition_left_out(at)
            elif token.clause in self.pairing.clauses:
                self._marker_left_out(at)
            elif token.marker.category == "negation" and self._denies_next(at):
                self.found.open.append(token.word)
        self._restriction_left_out()
        self._future_said_as_past()
        self._otherwise_left_out()
        self._part_said_as_whole()
        self._denial_moved()
        self._condition_of_alternative()
        self._consent_left_out()
        self._counted_by_other()
        self._frequency_of_next()

    def _denial_moved(self) -> None:
        """Look for a "not" that denies another word there: "is for use only and shall not affect"."""
        if self.words.language in UNSPACED or self.words.language in COMMA_RELATIVES:
            return  # "nicht" may stand behind what it denies
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

    def _consent_left_out(self) -> None:
        """Look for the consent that a permission asks for: "may sublet with the landlord's consent"."""
        may = any(is_marker(self.claim[i], "modality", "may") for i, _ in self.pairing.ordered)
        for at in self.found.relevant_unmatched() if may else ():
            asked = lead(self.source, at, self.words) in self.words.only_with
            if self.source[at].word.split()[0] in self.words.consent and asked:
                self.found.conflict("condition", None, at)
                return

    def _counted_by_other(self) -> None:
        """Look for a noun that another number counts: "$4 shares" of "9 shares for $4"."""
        for (i, j), (k, m) in pairwise(self.pairing.ordered):
            side = self.claim[i].quantity and self.claim[k].kind == "word" and k == i + 1
            counts = m - 1 in self.pairing.unmatched_source and self.source[m - 1].quantity
            if side and counts and m != j + 1 and m - 1 not in self.found.explained_source:
                self.found.conflict("digit", i, m - 1)
                return

    def _condition_of_alternative(self) -> None:
        """Look for a condition taken from an alternative left out: "$20, or $10 if booked online"."""
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
        """Look for a frequency taken from a thing whose own is left out: "heat hourly and light daily"."""
        free = [at for at in self.found.relevant_unmatched() if is_marker(self.source[at], "frequency")]
        for (i, j), (k, m) in pairwise(self.pairing.ordered):
            if is_marker(self.claim[k], "frequency") and self.claim[i].kind == "word" and m < j:
                own = next((at for at in free if at > j), None)
                if own is not None:
                    self.found.conflict("time", k, own)
                    return

    def _part_said_as_whole(self) -> None:
        """Look for what narrows the thing that the claim calls "overall": "progression-free survival"."""
        for at, (token, following) in enumerate(pairwise(self.claim)):
            place = self.pairing.partners.get(at + 1, 0)
            whole = token.word in self.words.total and not token.content and following.kind == "word"
            if whole and place - 1 in self.pairing.unmatched_source and self.source[place - 1].kind == "word":
                self.found.open.append(token.word)

    def _otherwise_left_out(self) -> None:
        """Look for an "otherwise" that opens the statement the claim takes: it holds in the other case."""
        if any(token.word in self.words.otherwise for token in self.claim):
            return
        for at, token in enumerate(self.source):
            opens = not at or self.source[at - 1].kind == "break" or self.source[at - 1].word in COORDINATORS
            behind = (j for j in self.pairing.matched_source if j > at and self.source[j].part == token.part)
            if token.word in self.words.otherwise and opens and any(behind):
                self.found.conflict("condition", None, at)

    def _future_said_as_past(self) -> None:
        """Look for a verb behind "will" that the claim says in another form and without it."""
        for i, j in self.pairing.ordered:
            behind = {token.word for token in self.source[max(0, j - 2) : j]} & self.words.future
            told = any(
                token.word in self.words.future | self.words.be_to or token.marker
                for token in self.claim[max(0, i - 2) : i]
            )
            other_form = self.claim[i].word != self.source[j].word
            if behind and not told and other_form and not self.claim[i].word.split()[0].endswith("s"):
                self.found.open.append(self.claim[i].word)

    def _denies_next(self, at: int) -> bool:
        """Whether a "not" before a comma denies what the claim says: "not, as was thought, in 1746"."""
        alone = at + 1 < len(self.source) and self.source[at + 1].kind == "break"
        said = (j for j in self.pairing.matched_source if self.source[j].part == self.source[at].part)
        return alone and any(j > at for j in said)

    def _restriction_left_out(self) -> None:
        """Look for what narrows the subject: "employees with five years of service", "anyone who …"."""
        first = min(
            (at for at in self.pairing.matched_source if self.source[at].kind == "word"), default=None
        )
        if first is None or self.words.language in UNSPACED or self._is_definite(first):
            return
        comma = self.words.language in COMMA_RELATIVES and self.source[first + 1 : first + 2]
        behind = first + 2 if comma and comma[0].word == "," else first + 1
        opens = self.words.relatives if behind > first + 1 else self.words.relatives | self.words.prepositions
        following = min((at for at in self.pairing.matched_source if at > behind), default=None)
        if following is None or self.source[behind].word not in opens:
            return
        said = next(i for i, j in self.pairing.ordered if j == first) + 1
        if self.claim[said : said + 1] and self.claim[said].word == self.source[behind].word:
            return  # the claim narrows it, too; other checks compare with what
        if said > 1 and self.claim[said - 2].quantity:
            return  # what is true of so many of the narrowed is true of so many
        phrase = [at for at in content_places(self.source) if first < at < following]
        dates = ("year", "date")
        if any((q := self.source[at].quantity) is None or q.dimension not in dates for at in phrase):
            self.found.open.append(self.source[phrase[0]].word)

    def _is_definite(self, at: int) -> bool:
        """Whether a word names a thing already known: "the member", a name."""
        before = [token.word for token in self.source[max(0, at - 3) : at]]
        return self.source[at].name or any(word in self.words.definite for word in before)

    def _part_of(self, at: int) -> bool:
        """Whether a number left out counts a part of what the claim speaks of: "two of the five"."""
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
        said = [self.source[j].quantity for j in self.pairing.matched_source]
        replaced = any(own and q and q.dimension == own.dimension for q in said)
        return governed is not None and not (replaced and not self.source[governed].quantity)

    def _part_behind_whole(self, at: int) -> bool:
        """Whether a number left out counts a part of the whole before it: "of the 240 members, 30 are …"."""
        own = self.source[at].quantity
        numbers = [j for j, t in enumerate(self.source[: at + 1]) if t.quantity]
        whole = self.source[numbers[0]].quantity if numbers[:-1] else None
        opens = self.source[0].word in self.words.among and len(numbers) == 2
        counts = own and whole and not own.dimension and not whole.dimension and own.value < whole.value
        behind = any(j > at for j in self.pairing.matched_source)
        return bool(opens and counts and behind and numbers[0] in self.pairing.matched_source)

    def _of_which(self, at: int) -> bool:
        """Whether a number left out counts a part of the claim's subject: "members, of whom 30 …"."""
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
        second = marker.value == "if" and self._of_second_predicate(at)
        if not own and (second or self._of_later_statement(at) or self._opens_later_clause(at)):
            return
        if not own and self._of_other_segment(at):
            return
        if at and self.source[at - 1].word in ("or", "oder", "ou", "o", "u") and not own:
            return
        joined = any(t.word in COORDINATORS for t in self.source[at : min(own, default=at)])  # "and goes out"
        kept = self._keeps_lead(own) or self._asked_for(at, own) if own else True
        if not kept and not joined and not self._said_as_relative_clause(at):
            self.found.conflict("condition", None, at)
        else:
            self.found.open.append(self.source[at].word)

    def _asked_for(self, at: int, own: Sequence[int]) -> bool:
        """Whether the claim says a proviso as a duty, or with "with": "subject to notice", "with notice"."""
        to_claim = {j: i for i, j in self.pairing.partners.items()}
        proviso = len(self.source[at].word.split()) > 1 or self.words.is_phrase(self.source[at].word)
        duty = any(is_marker(self.claim[i], "modality", "must") for i in self.pairing.unmatched_claim)
        return proviso and (duty or lead(self.claim, to_claim[min(own)], self.words) in self.words.only_with)

    def _said_as_relative_clause(self, at: int) -> bool:
        """Whether the claim says the condition as a relative clause: "a device that has not been used"."""
        clause = self.source[at].clause
        own = [k for k in content_places(self.source) if self.source[k].clause == clause and k != at]
        nouns = self.words.relatives | self.words.complement
        return self.found.said_whole(own) and any(token.word in nouns for token in self.claim)

    def _of_later_statement(self, at: int) -> bool:
        """Whether the condition belongs to a statement behind a "but" that the claim says nothing of."""
        behind = self.source[max(self.pairing.matched_source) + 1 : at]
        return any(token.word in self.words.breaks for token in behind)

    def _of_other_segment(self, at: int) -> bool:
        """Whether it belongs to what follows the claim: "lasts four years, renewable for two unless …"."""
        behind = self.source[max(self.pairing.matched_source) + 1 : at]
        comma = max((k for k, t in enumerate(behind) if t.kind == "break"), default=len(behind))
        segment = behind[comma + 1 :]
        return bool(segment) and segment[0].kind == "word"

    def _opens_later_clause(self, at: int) -> bool:
        """Whether a condition stands behind all of the claim in a language that says conditions first."""
        return (
            self.words.language in UNSPACED
            and is_marker(self.source[at], "condition", "if" if self.words.language == "zh" else "")
            and self.source[at].word != "时"
            and at > max(self.pairing.matched_source)
        )

    def _of_second_predicate(self, at: int) -> bool:
        """Whether a word stands behind an "and" that nothing of the claim stands behind."""
        return any(t.word in COORDINATORS for t in self.source[max(self.pairing.matched_source) + 1 : at])

    def _of_reason(self, at: int) -> bool:
        """Whether a word stands in a reason behind all of the claim: "fell, due to rain on most days"."""
        behind = self.source[max(self.pairing.matched_source) + 1 : at]
        return any(token.marker and token.marker.category == "cause" for token in behind)

    def _is_instruction_of_claim(self, verb: int | None) -> bool:
        i = next((i for i, j in self.pairing.ordered if j == verb), None)
        return i is not None and is_instruction(self.claim, i, self.words)

    def _frequency_of_other(self, at: int) -> bool:
        """Whether the claim has the frequency already, or leaves out the amount before: "tens a year"."""
        token = self.source[at]
        own = (self.source[j] for j in self.pairing.matched_source if self.source[j].clause == token.clause)
        before = max((k for k in content_places(self.source) if k < at), default=at)
        counted = before == at - 1 and before not in self.pairing.matched_source
        return counted or any(other.marker == token.marker for other in own)

    def _said_as_past(self, verb: int | None) -> bool:
        """Whether the claim says as done what "shall" asks for: "paid" for "shall pay"."""
        i = next((i for i, j in self.pairing.ordered if j == verb), 0)
        return self.claim[i].word != self.source[verb or 0].word and not self.claim[i].word.endswith("s")

    def _keeps_lead(self, own: Sequence[int]) -> bool:
        to_claim = {j: i for i, j in self.pairing.partners.items()}
        first = min(own)
        return lead(self.claim, to_claim[first], self.words).startswith("condition")

    def _opens_own_clause(self, at: int) -> bool:
        """Whether a "before" joins a clause that says all of the claim but its subject: "before she left"."""
        behind = self.source[at + 1] if at + 1 < len(self.source) else None
        before = [j for j in self.pairing.matched_source if j < at]
        opening = [j for j in content_places(self.source) if j < at]
        lends_subject = before == opening[: len(before)] and len(before) < len(opening)
        return behind is not None and behind.word in self.words.pronouns and lends_subject

    def _only_subject_before(self, at: int) -> bool:
        """Whether the clause of a "not" lends only its subject: "never met, but praised"."""
        own = [j for j in self.pairing.matched_source if self.source[j].clause == self.source[at].clause]
        end = next(
            (j for j in range(at, len(self.source)) if self.source[j].clause != self.source[at].clause), 0
        )
        contrast = end and any(token.word in self.words.breaks for token in self.source[end - 1 : end + 3])
        return bool(contrast) and all(j < at for j in own)

    def _contrasts(self, at: int) -> bool:
        """Whether a "not" behind all that the claim says opens a contrast: "due to A, not to B"."""
        last = max(self.pairing.matched_source)
        opening = self.source[at + 1].word if at + 1 < len(self.source) else ""
        role = lead(self.source, last, self.words)
        return last < at and opening in self.words.prepositions and opening == role

    def _marker_left_out(self, at: int) -> None:
        token = self.source[at]
        marker = token.marker
        assert marker is not None
        name = f"{marker.category}:{marker.value}"
        following = next(
            (j for j in content_places(self.source) if j > at and self.source[j].clause == token.clause), None
        )
        governs = following is not None and following in self.pairing.matched_source
        behind = self.words.language in UNSPACED  # the verb stands before it
        if token.word in self.words.enacting and (behind or (governs and not self._said_as_past(following))):
            return
        if name in _MAY_BE_LEFT_OUT or self._of_second_predicate(at) or self._of_reason(at):
            return
        if marker.category == "frequency" and self._frequency_of_other(at):
            return
        if marker.category == "negation" or name == "quantifier:none":
            if governs or following is None:
                self.found.conflict("negation", None, at)
            elif self._contrasts(at):
                return
            elif not self._only_subject_before(at):
                self.found.open.append(token.word)
        elif marker.category in _KINDS:
            own = [j for j in self.pairing.matched_source if self.source[j].part == token.part]
            apart = following is not None and not governs and at > max(own, default=at)
            if apart and _KINDS[marker.category] in ("modality", "ordinal"):
                return  # "the first tranche of $12 million shall be drawn by June": "is $12 million"
            verb = min((j for j in own if j > at), default=None)  # "must be shaken and discarded": "discard"
            if name in ("modality:must", "modality:should") and self._is_instruction_of_claim(verb):
                return
            if governs and (marker.category == "ordinal" or marker.value in _SURE):
                self.found.conflict(_KINDS[marker.category], None, at)
            else:
                self.found.open.append(token.word)
        elif marker.category in _OPEN_WHEN_LEFT_OUT and governs and not self._opens_own_clause(at):
            self.found.open.append(token.word)
