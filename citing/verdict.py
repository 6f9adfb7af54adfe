"""Verification: compare a claim with the page it cites, and find the words that decide it.

Three outcomes: *verified* (all of the claim was compared and holds), *contradicted* (the page has something
else, or nothing of it), and *found* (the words are on the page, but the claim was not judged). The cited
unit is read first, then its neighbours, then the other units that the model was shown.

A quote proves only that its words are on the page; the claim is compared with the sentences around them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from itertools import chain, pairwise, takewhile
from typing import NamedTuple

from citing.anchoring.asked_place import asked_span
from citing.anchoring.clauses import (
    NEXT,
    cell_statements,
    clauses_with_values,
    place_of_values,
    statements_of,
)
from citing.anchoring.find_quote import Anchor, find_quote
from citing.anchoring.page_text import LazyWords, PageText, Span, highlight_rects, text_of
from citing.budget import check_budget, claim_budget, not_counted
from citing.claims import VERIFIED, Claim, Conflict, SourceUnit, Verdict, Verification
from citing.comparison.cells.claim_words import means_last_year
from citing.comparison.cells.doubts import Row
from citing.comparison.cells.stated_cells import cells_said
from citing.comparison.cells.tables import COMPARES
from citing.comparison.units import judge_unit, with_conflicts_as_written
from citing.comparison.values.quantities import same_quantity
from citing.comparison.values.support import (
    ValueSupport,
    check_values,
    column_heads,
    column_of,
    common_words,
    heads_of,
    shared_terms,
)
from citing.comparison.words.framing import without_frame, written_out
from citing.comparison.words.prose import Judgement
from citing.comparison.words.rivals import amounts_exchanged_in_brackets
from citing.comparison.words.verbatim import verbatim_span
from citing.differences import OF_VALUES, groups_digits_otherwise, shown_difference
from domains import words_of_packs
from pdf.gc_control import cleared_with_memory
from pdf.geometry import PageFrame, Rect
from pdf.structure import Cell, TableRow, Word
from text.budget import OverBudget
from text.languages import base_language
from text.quantities import quantities_in
from text.semantics import detected_language, may_be_in
from text.values import values_in

logger = logging.getLogger(__name__)

# Reasons why a claim is not verified, in one sentence for people.

_BOTH = "The claim says {claim}, the page {source}."
_SENTENCES = {
    "role_swap": "The page has these roles reversed: {claim}, {source}.",
    "entity_swap": "The page says this about something else: {source}.",
    "table_swap": "{claim} is in another row or column; this cell says {source}.",
    "cause_effect": "The page states the cause or the condition the other way round.",
    "correlation": "The page calls this a link, not a cause.",
}
_SENTENCES["computed"] = "The claim says {claim}; computed from the page: {source}."
_LEFT_OUT = "The page says “{source}”; the claim leaves that out."
_ADDED = "The claim says “{claim}”; the page does not."


def reason_of(conflict: Conflict) -> str:
    """Return a sentence for people that names the conflict."""
    if conflict.kind in _SENTENCES:
        return _SENTENCES[conflict.kind].format(claim=conflict.claim, source=conflict.source)
    if not conflict.claim:
        return _LEFT_OUT.format(source=conflict.source)
    if not conflict.source:
        return _ADDED.format(claim=conflict.claim)
    if conflict.claim == conflict.source:
        return f"The page says {conflict.source} about something else."
    return _BOTH.format(claim=conflict.claim, source=conflict.source)


def reason_open(judged: Judgement) -> str:
    """Return a sentence for people that names what could not be compared."""
    if judged.missing:
        return f"Not compared: the passage has no words for {_listed(judged.missing)}."
    if judged.unchecked and judged.unchecked[0].endswith("."):
        return judged.unchecked[0]
    if judged.unchecked:
        return f"Not compared: {_listed(judged.unchecked)}."
    return "The claim was not compared with these words."


def reason_not_compared(conflicts: Sequence[Conflict]) -> str:
    """Return a sentence for people that names what does not fit, where that proves no difference."""
    both = next((c for c in conflicts if c.claim and c.source and c.claim != c.source), None)
    if both and _kinds(both.claim) == _kinds(both.source):
        return f"Not compared: “{both.claim}” with “{both.source}” on the page."
    return f"Not compared: {_listed([conflicts[0].claim or conflicts[0].source])}."


def _kinds(words: str) -> list[str]:
    return [value.kind for value in values_in(words)]


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words[:4])


QUOTE_NOT_THERE = "These words are in none of the passages that were compared."
QUOTE_NOWHERE = "These words are not in the document."
LONGEST_CLAIM = 4000  # characters; comparison takes more than linear time, and no sentence is as long
TOO_LONG = "This claim is too long to be compared."
OUT_OF_TIME = "Comparing this claim took too long; it was not judged."
RULE_FAILED = "A rule of comparison failed on this claim; it was not judged."
LEAST_TERMS_ELSEWHERE = 0.6  # minimum share of the claim's words in a passage that the model did not cite
MOST_READ = 8  # units of a page that are read for a claim without a citation, most of its words first
SOME_WORDS = 0.3  # minimum share of the claim's words in a passage on its subject
_READ_WITH_A_ROW = 12  # units of its page that decide the language of a table row
_UNUSED_FRAME = PageFrame(1.0, 1.0)


def verify(
    claim: Claim,
    cited: SourceUnit,
    neighbours: Sequence[SourceUnit] = (),
    shown: Sequence[SourceUnit] = (),
) -> Verification:
    """Verify a claim against the pages.

    Args:
        cited: the unit the model cites.
        neighbours: the other units of its page (heads of tables and "in millions" are read there)
            and, where there are any, the units before and after on the pages beside it. In order.
        shown: all units the model was shown in this turn.
    """
    asked, claim = claim, replace(claim, question="")
    context = _VerificationContext(claim, cited, neighbours, shown)
    found = _not_judged(cited, OUT_OF_TIME)
    with claim_budget(), suppress(OverBudget):
        found = context.verdict()
        lit = _at_asked_place(found, asked)
        return _at_clauses(found, context) if lit is found else lit
    return found


def verify_among(claim: Claim, units: Sequence[SourceUnit]) -> Verification:
    """Verify a claim against a page (units in order) of which no unit is cited, by the unit that fits best.

    The units with most of the claim's words are read first, so that the time is spent where it matters.
    """
    asked, claim = claim, replace(claim, question="")
    candidates = [unit for unit in units if unit.type != "heading" or _has_amount(unit.text)] or list(units)
    shares = {u.id: shared_terms(claim.sentence, [u.text, *heads_of(u)]) for u in candidates}
    candidates.sort(key=lambda unit: -shares[unit.id])
    likely = list(takewhile(lambda unit: shares[unit.id] >= LEAST_TERMS_ELSEWHERE, candidates))
    context = _VerificationContext(claim, candidates[0], units, ())
    found: list[Verification] = []
    with claim_budget(), suppress(OverBudget):
        found += map(context.verdict_of, likely)
        if not any(one.verdict in VERIFIED for one in found) and (apart := context.apart()):
            found.append(apart)
        if not any(one.verdict in VERIFIED for one in found):
            found += map(context.verdict_of, candidates[len(likely) : MOST_READ])
            found += filter(None, [context.in_table()])
    read = _without_captions(found) or [_not_judged(candidates[0], OUT_OF_TIME)]
    best = min(read, key=lambda one: (*_preference(one), -shares.get(one.unit.id, 0.0), -len(one.quote)))
    with claim_budget(), suppress(OverBudget):
        lit = _at_asked_place(best, asked)
        return _at_clauses(best, context) if lit is best else lit
    return best


def _has_amount(text: str) -> bool:
    return any(value.kind not in ("year", "date") for value in values_in(text))


_VERIFIED_ORDER = ("exact", "normalized", "computed", "moved")


def _preference(found: Verification) -> tuple[int, bool]:
    """Return a sort key: verified first, then contradictions, then found."""
    rank = _VERIFIED_ORDER.index(found.verdict) if found.verdict in VERIFIED else len(_VERIFIED_ORDER)
    return rank, not found.conflicts


def _without_captions(found: Sequence[Verification]) -> Sequence[Verification]:
    """Return the verdicts without those of captions that do not verify; all, where no other is left."""
    judged = [f for f in found if f.verdict in VERIFIED or f.unit is None or f.unit.type != "caption"]
    return judged or found


def _at_clauses(found: Verification, context: _VerificationContext) -> Verification:
    """Highlight the place of each clause, where a sentence says several things; its verdict stays.

    "A fell to 5 mg, B rose to 7 mg" lights two places. Words that are lit as one already stay so.
    """
    unit, claim = found.unit, context.claim
    is_one = claim.quote.strip() or unit.type == "table" or len(claim.sentence) > LONGEST_CLAIM
    if is_one or found.verdict not in ("found", "normalized", "moved"):
        return found
    spans = [
        span
        for clause in clauses_with_values(_plain(claim.sentence, unit))
        if (span := _place_of_clause(clause, unit, context.around(unit)))
    ]
    lit = (found.char_start - unit.char_start, found.char_end - unit.char_start)
    told_apart = all(one[1] <= other[0] for one, other in pairwise(sorted(spans)))
    if len(spans) < 2 or not told_apart:
        return found
    if found.verdict != "found" and all(lit[0] <= start and end <= lit[1] for start, end in spans):
        return found
    result = _result(found.verdict, unit, sorted(spans), found.head_rects)
    return replace(
        found, quote=result.quote, char_start=result.char_start, char_end=result.char_end, rects=result.rects
    )


def _place_of_clause(clause: str, unit: SourceUnit, around: tuple[SourceUnit, ...]) -> Span | None:
    """Return the characters that say the clause; else those of its values, if they are printed once."""
    alone = _checked(Claim(clause), unit, around)
    if alone.verdict in ("exact", "normalized") and alone.quote:
        return alone.char_start - unit.char_start, alone.char_end - unit.char_start
    return place_of_values(clause, unit.text)


def _not_judged(unit: SourceUnit, reason: str) -> Verification:
    return Verification("found", unit, unit.page, reason=reason, unchecked=(reason,))


def _at_asked_place(found: Verification, claim: Claim) -> Verification:
    """Highlight the one of several equal values of which question and claim speak."""
    unit = found.unit
    if not claim.question or not found.quote or unit.type == "table" or found.verdict == "computed":
        return found
    lit = (found.char_start - unit.char_start, found.char_end - unit.char_start)
    language = base_language(unit.language) or "en"
    span = asked_span(unit.text, language, f"{claim.sentence} {claim.quote}", claim.question, lit)
    if span is None:
        return found
    result = _result(found.verdict, unit, [span], found.head_rects)
    return replace(
        found,
        quote=result.quote,
        char_start=result.char_start,
        char_end=result.char_end,
        rects=result.rects,
    )


def verify_cited(
    claim: Claim,
    cited: SourceUnit,
    neighbours: Sequence[SourceUnit] = (),
    shown: Sequence[SourceUnit] = (),
) -> Verification:
    """Verify a claim against the cited unit only; arguments as those of ``verify``."""
    with claim_budget(), suppress(OverBudget):
        return _VerificationContext(claim, cited, neighbours, shown).cited_verdict()
    return _not_judged(cited, OUT_OF_TIME)


def located(claim: Claim, unit: SourceUnit, around: Sequence[SourceUnit] = ()) -> Verification:
    """Return where the claim's quote is in the unit, with the heads of its cells: always ``found``.

    For words that are shown and not claimed; the whole unit where they are not in it. ``around``: the other
    units of its page.
    """
    anchor = find_quote([page_of_unit(unit)], claim.quote, claim.sentence)
    spans = anchor.parts[0].spans if anchor else ((0, len(unit.text)),)
    heads: tuple[Rect, ...] = ()
    if unit.type == "table" and values_in(claim.sentence):
        with claim_budget(), suppress(OverBudget):
            heads = _heads(check_values(claim.sentence, unit, around), around)
    return _result("found", unit, spans, heads)


class _VerificationContext:
    """A claim and all units that may be read for it."""

    def __init__(
        self, claim: Claim, cited: SourceUnit, neighbours: Sequence[SourceUnit], shown: Sequence[SourceUnit]
    ) -> None:
        self.claim, self.cited, self.neighbours, self.shown = claim, cited, neighbours, shown
        _load_rules_of(cited)

    def cited_verdict(self) -> Verification:
        if other := self.named_elsewhere:
            reason = f"The claim is about {other}."
            return Verification("unsupported", self.cited, self.cited.page, reason=reason)
        found = self.verdict_of(self.cited)
        units = sorted((self.cited, *self.neighbours), key=lambda unit: (unit.page, unit.char_start))
        if found.reason == QUOTE_NOT_THERE and _quoted_elsewhere(self.claim, units):
            return _checked_in_full(replace(self.claim, quote=""), self.cited, self.around(self.cited))
        return found

    def verdict_of(self, unit: SourceUnit) -> Verification:
        return _checked_in_full(self.claim, unit, self.around(unit))

    def verdict(self) -> Verification:
        """Return the verdict of the cited unit; of another one, where only that verifies the claim."""
        cited_result = self.cited_verdict()
        if cited_result.verdict in VERIFIED or self.named_elsewhere:
            return cited_result
        with suppress(OverBudget):  # the cited unit's verdict stays
            for unit in self.elsewhere():
                if self.may_say(unit):
                    other_result = self.verdict_of(unit)
                    if other_result.verdict in VERIFIED:
                        return replace(other_result, verdict="moved")
            if found := self.in_table():
                return replace(found, verdict="moved")
            return self.apart() or cited_result
        return cited_result

    def apart(self) -> Verification | None:
        """Return the verdict of a claim of which each part is verified elsewhere on the page; else None."""
        return self.in_parts() or self.in_cells()

    def in_table(self) -> Verification | None:
        """Return the verdict of a claim that says cells of a table beside the cited unit; else None."""
        sentence = _plain(self.claim.sentence, self.cited)
        if self.claim.quote.strip() or len(sentence) > LONGEST_CLAIM:
            return None
        page = tuple(sorted((self.cited, *self.around(self.cited)), key=lambda unit: unit.char_start))
        language = detected_language(sentence, self.cited.language)
        for index in dict.fromkeys(unit.table.index for unit in page if unit.table):
            for cell in cells_said(sentence, page, index, language)[:1]:
                found = self.verdict_of(cell.unit)
                if found.verdict in VERIFIED:
                    return found
        return None

    def in_cells(self) -> Verification | None:
        """Return the verdict of a claim of which each clause is a cell of one table; else None."""
        sentence = _plain(self.claim.sentence, self.cited)
        if self.claim.quote.strip() or len(sentence) > LONGEST_CLAIM:
            return None
        language = detected_language(sentence, self.cited.language)
        if means_last_year(sentence, language):  # which year is not seen in a part
            return None
        units = [unit for unit in (self.cited, *self.around(self.cited)) if unit.table]
        for index in dict.fromkeys(unit.table.index for unit in units if unit.table):
            rows = [unit for unit in units if unit.table and unit.table.index == index]
            labels = [label for unit in rows if (label := _row_label(unit))]
            form = written_out(sentence, _known(rows[0]), language)
            statements = cell_statements(form, labels, language)
            parts = [part for said in statements if (part := self._cell(Claim(said), rows))]
            if statements and len(parts) == len(statements) and _share_column(statements, parts, rows):
                return _joined(parts, self.cited)
        return None

    def _cell(self, claim: Claim, rows: Sequence[SourceUnit]) -> Verification | None:
        """Return the verdict of the first row that verifies a statement by its own cells; else None."""
        amounts = [v.digits for v in values_in(claim.sentence) if v.kind not in ("year", "date")]
        digits = {re.sub(r"\D", "", amount) for amount in amounts}
        for unit in rows:
            if any(own in re.sub(r"\D", "", unit.text) for own in digits):
                found = _checked_in_full(claim, unit, self.around(unit))
                if found.verdict in ("exact", "normalized"):
                    return found
        return None

    def in_parts(self) -> Verification | None:
        """Return the verdict of a claim of which each statement stands in a unit of its own; else None."""
        language = detected_language(self.claim.sentence[:LONGEST_CLAIM], self.cited.language)
        if self.claim.quote.strip() or len(self.claim.sentence) > LONGEST_CLAIM:
            return None
        parts: list[Verification] = []
        for statement in statements_of(_plain(self.claim.sentence, self.cited), language):
            part = self._statement(Claim(statement))
            if part is None:
                return None
            parts.append(part)
        apart = len({part.unit.id for part in parts}) == len(parts)  # in one unit it was judged as a whole
        starts = [part.unit.char_start for part in parts]
        apart = apart and (starts == sorted(starts) or not NEXT.search(self.claim.sentence))
        return _joined(parts, self.cited) if parts and apart else None

    def _statement(self, claim: Claim) -> Verification | None:
        """Return the verdict of the first unit of the cited page that verifies a statement."""
        for unit in (self.cited, *self.around(self.cited)):
            if shared_terms(claim.sentence, [unit.text, *heads_of(unit)]) >= LEAST_TERMS_ELSEWHERE:
                found = _checked_in_full(claim, unit, self.around(unit))
                if found.verdict in VERIFIED:
                    return found
        return None

    def elsewhere(self) -> Iterator[SourceUnit]:
        """Yield the units beside the cited one, nearest first, then the other units shown."""
        nearest = sorted(self.neighbours, key=lambda unit: abs(unit.char_start - self.cited.char_start))
        seen = {self.cited.id}
        for unit in chain(nearest, self.shown):
            if unit.id not in seen:
                seen.add(unit.id)
                yield unit

    def around(self, unit: SourceUnit) -> tuple[SourceUnit, ...]:
        """Return the other known units of a unit's page, in order."""
        same_page = {
            u.id: u
            for u in chain((self.cited,), self.neighbours, self.shown)
            if u.page == unit.page and u.document == unit.document
        }
        return tuple(sorted((u for u in same_page.values() if u.id != unit.id), key=lambda u: u.char_start))

    def may_say(self, unit: SourceUnit) -> bool:
        """Return whether an uncited unit has enough of the claim's words to be read for it."""
        return shared_terms(self.claim.sentence, [unit.text, *heads_of(unit)]) >= LEAST_TERMS_ELSEWHERE

    @cached_property
    def named_elsewhere(self) -> str:
        """Return the title of another document that the claim names; '' if the cited page names it too."""
        claim_names = title_names(self.claim.sentence)
        own = title_names(self.cited.title)
        if claim_names & own:
            return ""
        claim_names -= title_names("\n".join(unit.text for unit in (self.cited, *self.around(self.cited))))
        others = {
            title: title_names(title) - own for title in dict.fromkeys(unit.title for unit in self.shown)
        }
        return next((title for title, names in others.items() if names and names <= claim_names), "")


_PERIOD = re.compile(r"\d+|q\d|fy\d*|\d*q\d*")
_KINDS_OF_DOCUMENTS = frozenset(
    ["document", "draft", "final", "form", "paper", "pdf", "release", "report", "reports", "version"]
)


@lru_cache(maxsize=512)
def title_names(title: str) -> frozenset[str]:
    """Return the distinctive words of a title: no years, no kinds of document."""
    words = re.findall(r"[^\W_]+", title.casefold())
    names = frozenset(word for word in words if not _PERIOD.fullmatch(word)) - common_words()
    return names - _KINDS_OF_DOCUMENTS - words_of_packs("title_words.txt")


cleared_with_memory(title_names.cache_clear)


class UnitReading(NamedTuple):
    """The results of reading one unit: ``anchor``: place of the quote; ``quoted``: whether it is whole."""

    claim: Claim
    unit: SourceUnit
    around: Sequence[SourceUnit]
    judged: Judgement
    found: ValueSupport | None
    anchor: Anchor | None
    quoted: bool


def _plain(sentence: str, unit: SourceUnit) -> str:
    """Return the sentence with spaces in place of a lead-in that only names the source; places stay."""
    return without_frame(sentence, _known(unit), detected_language(sentence, unit.language))


def _known(unit: SourceUnit, around: Sequence[SourceUnit] = ()) -> str:
    """Return the text in one line, then the line that introduces its list, its headings and its title."""
    introduction = _introduction(unit, around) if unit.type == "list" else ""
    return "\n".join((unit.text.replace("\n", " "), *filter(None, [introduction]), *heads_of(unit)))


def _introduction(unit: SourceUnit, around: Sequence[SourceUnit]) -> str:
    """Return the line with a colon over the list of an item: "To replace the shelf:"; '' without one."""
    before = [other.text.strip() for other in around if other.char_start < unit.char_start]
    return next((text for text in before[: -MOST_READ - 1 : -1] if text.endswith(":")), "")


@cache
def _load_rules(language: str) -> None:
    """Load the words, numbers and units of a language, which takes up to a second once in a process."""
    unit = SourceUnit("", "", 1, "Two of 3 kg (2019) fell by 5 %.", 0, ())
    cells = (Cell(0, "Two", None, False, 0, 3), Cell(1, "3", None, False, 4, 5))
    row = replace(unit, text="Two\t3", type="table", table=TableRow(0, 1, cells, head_rows=("", "2019")))
    claim = "One of 4 kg (2020) rose by 6 %."
    for source in (unit, row):
        judge_unit(claim, source, (), language, language, check_values(claim, source, ()))
    without_frame(written_out(claim, unit.text, language), unit.text, language)


def _load_rules_of(unit: SourceUnit) -> None:
    with not_counted():
        _load_rules(detected_language(unit.text[:LONGEST_CLAIM], unit.language))


def _checked_in_full(claim: Claim, unit: SourceUnit, around: tuple[SourceUnit, ...]) -> Verification:
    """Return the verdict of one unit, of the claim written out where its own words do not suffice."""
    found = _checked(claim, unit, around)
    if found.verdict in VERIFIED or len(claim.sentence) > LONGEST_CLAIM:
        return found
    language = detected_language(claim.sentence, unit.language)
    form = written_out(claim.sentence, _known(unit, around), language)
    if form.strip() == claim.sentence.strip():
        return found
    other = _checked(replace(claim, sentence=form), unit, around)
    return other if other.verdict in VERIFIED else found


@lru_cache(maxsize=32)
def _checked(claim: Claim, unit: SourceUnit, around: tuple[SourceUnit, ...]) -> Verification:
    """Return the verdict of one unit; cached, as an answer without a model verifies a line, then cites it."""
    check_budget()
    _load_rules_of(unit)
    if len(claim.sentence) > LONGEST_CLAIM:
        return _not_judged(unit, TOO_LONG)
    claim = replace(claim, sentence=_plain(claim.sentence, unit))
    anchor = find_quote([page_of_unit(unit)], claim.quote, claim.sentence) if claim.quote.strip() else None
    quoted = anchor is not None and anchor.verdict != "partial"
    language = _language(unit, around)
    claim_language = detected_language(claim.sentence, language)
    if unit.type == "table" and may_be_in("\n".join([unit.text, *heads_of(unit)]), claim_language):
        language = claim_language  # a list of foreign names around the row does not tell its language
    found = check_values(claim.sentence, unit, around) if values_in(claim.sentence) else None
    judged = _judged(claim, unit, around, language, claim_language, found)
    if judged.outcome != "holds" and claim_language != base_language(language):
        reason = "The claim is in another language than the page."
        missing = tuple(found.missing) if found else ()  # numbers are compared anyway
        judged = Judgement("open", judged.spans, missing=missing, unchecked=(reason,), coverage=1.0)
    judged = with_conflicts_as_written(judged, claim.sentence, unit)
    if judged.outcome == "holds" and (amounts := _exchanged_amounts(claim, unit)):
        judged = replace(judged, outcome="open", unchecked=amounts)
    if judged.outcome == "holds":
        return _verified(UnitReading(claim, unit, around, judged, found, anchor, quoted))
    return _not_holding(UnitReading(claim, unit, around, judged, found, anchor, quoted))


def _exchanged_amounts(claim: Claim, unit: SourceUnit) -> tuple[str, ...]:
    literal = unit.type == "table" or verbatim_span(claim.sentence, unit.text)[1]
    return () if literal else amounts_exchanged_in_brackets(claim.sentence, unit.text)


cleared_with_memory(_checked.cache_clear)


def _judged(
    claim: Claim,
    unit: SourceUnit,
    around: tuple[SourceUnit, ...],
    language: str,
    claim_language: str,
    found: ValueSupport | None,
) -> Judgement:
    """Judge the claim by the unit. A rule that raises is logged and leaves the claim unjudged."""
    try:
        return judge_unit(claim.sentence, unit, around, language, claim_language, found)
    except OverBudget:
        raise
    except Exception:
        logger.exception("a rule of verification failed: unit %s", unit.id)
        return Judgement("open", unchecked=(RULE_FAILED,), coverage=1.0)


def _language(unit: SourceUnit, around: Sequence[SourceUnit]) -> str:
    """Return the unit's language; of a table row, which has few words, by its page."""
    text = unit.text
    if unit.type == "table":
        text = "\n".join([text, *heads_of(unit), *(other.text for other in around[:_READ_WITH_A_ROW])])
    return detected_language(text, unit.language)


def _verified(read: UnitReading) -> Verification:
    """Return a verified claim with its highlights; ``partial`` where its quote is not on the page."""
    claim, unit, around, judged, found, anchor, quoted = read
    heads = _heads(found, around) if found else ()
    if judged.formula:
        return replace(_highlight_cells("computed", around, unit, judged.spans, heads), reason=judged.formula)
    if not claim.quote.strip() and any(not _within(span, unit) for span in judged.spans):
        return _highlight_cells("normalized", around, unit, judged.spans, heads)
    if claim.quote.strip() and not (anchor and quoted) and not _quoted_elsewhere(claim, around):
        lit = _result("partial", unit, _spans(unit, judged, found, claim), heads)
        return replace(lit, missing=(claim.quote,), reason=QUOTE_NOT_THERE)
    if anchor and quoted:
        spans = _clause_of_value(claim, unit, judged) or list(anchor.parts[0].spans)
        return replace(_result(anchor.verdict, unit, spans), head_rects=heads)
    return _result(_exactness(unit, found, claim), unit, _spans(unit, judged, found, claim), heads)


def _clause_of_value(claim: Claim, unit: SourceUnit, judged: Judgement) -> list[Span]:
    """Return the clause of a quoted bare value, which identifies the one meant among equal values."""
    values = values_in(claim.quote)
    letters = sum(map(str.isalpha, claim.quote)) - sum(sum(map(str.isalpha, v.text)) for v in values)
    return sorted(judged.spans) if values and letters <= 0 and unit.type != "table" else []


def _exactness(unit: SourceUnit, found: ValueSupport | None, claim: Claim) -> Verdict:
    """Return ``exact`` where the claim's words or values are on the page as written."""
    if verbatim_span(claim.sentence, unit.text)[1]:
        return "exact"
    values = found is not None and bool(found.places) and not found.missing
    exact = values and all(place.agreement == "exact" for place in (found.places if found else ()))
    return "exact" if exact and unit.type == "table" else "normalized"


def _spans(unit: SourceUnit, judged: Judgement, found: ValueSupport | None, claim: Claim) -> list[Span]:
    """Return the spans to highlight: cells of a row; in prose the claim's words, or the sentence."""
    if unit.type == "table" and found and found.places and not found.missing:
        return sorted({_cell_span(unit, place.printed.start, place.printed.end) for place in found.places})
    start, end = verbatim_span(claim.sentence, unit.text)
    return [(start, end)] if end else sorted(judged.spans)


def _not_holding(read: UnitReading) -> Verification:
    """Return a contradicted or unjudged claim with its highlights and the reason."""
    claim, unit, around, judged, found, anchor, quoted = read
    spans = list(anchor.parts[0].spans) if anchor else sorted(judged.spans)
    lit = _result("found", unit, spans, _heads(found, around) if found else ())
    quote = (claim.quote,) if claim.quote.strip() and not quoted else ()
    missing = (*quote, *judged.missing)
    if quote and not _quoted_elsewhere(claim, around):
        return replace(lit, verdict="unsupported", missing=missing, reason=QUOTE_NOT_THERE)
    if judged.outcome == "conflict":
        return _conflicting(read, lit)
    if COMPARES in judged.unchecked:
        return replace(lit, missing=missing, reason=COMPARES, unchecked=judged.unchecked)
    missed = found is not None and not all(
        unit.type != "table" and _in_other_writing(value, claim, unit, around) for value in found.missing
    )  # in a table it may be the value of another column
    if found and missed and (judged.missing or judged.coverage < SOME_WORDS):
        return replace(lit, missing=found.missing, reason=found.reason)
    if not quoted and judged.coverage < SOME_WORDS:
        return replace(lit, missing=missing, reason="The passage does not mention this.")
    return replace(lit, missing=missing, reason=reason_open(judged), unchecked=judged.unchecked)


def with_quote_sought(found: Verification, locate: Callable[[], Anchor | None]) -> Verification:
    """Return the verdict of a quote that no compared passage has, after a search of the whole document.

    ``locate`` returns its place. What stands on another page is no difference.
    """
    if found.reason != QUOTE_NOT_THERE:
        return found
    anchor = locate()
    if anchor and anchor.verdict != "partial":
        return replace(found, verdict="found")
    return replace(found, reason=QUOTE_NOWHERE)


def _quoted_elsewhere(claim: Claim, around: Sequence[SourceUnit]) -> bool:
    """Return whether the quoted words are in another known unit of the page."""
    found = (
        find_quote([page_of_unit(other) for other in around], claim.quote, claim.sentence) if around else None
    )
    return found is not None and found.verdict != "partial"


def _conflicting(read: UnitReading, lit: Verification) -> Verification:
    """Return the difference that readers may be shown, or an unjudged claim with the conflicts as reason."""
    judged, found = read.judged, read.found
    without_partner = (
        found.missing if found and found.missing else tuple(c.claim for c in judged.conflicts if c.claim)
    )
    unit = read.unit
    language = _language(unit, read.around)
    shown = shown_difference(judged, read.claim.sentence, unit.text, language, unit.char_start)
    page = "\n".join(other.text for other in read.around)
    if (
        shown
        and shown.kind in OF_VALUES
        and (groups_digits_otherwise(shown, page) or _printed_elsewhere(shown, read, base_language(language)))
    ):
        shown = None
    if shown is None:
        reason = reason_not_compared(judged.conflicts)
        return replace(lit, missing=without_partner, reason=reason, unchecked=(reason,))
    return replace(
        lit, verdict="unsupported", missing=without_partner, reason=reason_of(shown), conflicts=(shown,)
    )


def _printed_elsewhere(shown: Conflict, read: UnitReading, language: str) -> bool:
    """Return whether another unit of the page has the claim's value: it may speak of that one."""
    claimed = [
        quantity
        for quantity in quantities_in(read.claim.sentence, language)
        if quantity.start < shown.claim_span[1] and shown.claim_span[0] < quantity.end
    ]
    return any(
        same_quantity(wanted, printed)
        or (
            wanted.value == abs(printed.value)
            and (printed.bare or {wanted.dimension, printed.dimension} <= {"ratio", "points"})
        )
        for other in read.around
        for printed in quantities_in(other.text, language)
        for wanted in claimed
    )


def _in_other_writing(value: str, claim: Claim, unit: SourceUnit, around: Sequence[SourceUnit]) -> bool:
    """Return whether the unit has a value in another notation: "1.250 millones", "1,25 mil millones"."""
    language = base_language(_language(unit, around))
    held = quantities_in(unit.text, language)
    return any(
        value in claim.sentence[written.start : written.end]
        and any(same_quantity(written, other) for other in held)
        for written in quantities_in(claim.sentence, language)
    )


def _cell_span(unit: SourceUnit, start: int, end: int) -> Span:
    """Return the table cell of a value, when it has little more; else the value."""
    for cell in unit.table.cells if unit.table else ():
        first, last = cell.char_start - unit.char_start, cell.char_end - unit.char_start
        if first <= start < last and last - first <= end - start + 4:
            return first, last
    return start, end


def _heads(found: ValueSupport, around: Sequence[SourceUnit]) -> tuple[Rect, ...]:
    """Return row and column heads of the highlighted cells, each once."""
    rows = [rect for place in found.places for rect in row_head(found.unit, place.printed.start, around)]
    columns = [rect for place in found.places for rect in place.heads]
    return tuple(dict.fromkeys(rows + columns))


SAME_LINE = 3.0  # points between the middles of words of one line


@dataclass(frozen=True, slots=True)
class _PlacedWord:
    """``place``: its start in the unit's text."""

    text: str
    rect: Rect
    place: int


def _words(unit: SourceUnit) -> Iterator[_PlacedWord]:
    for word in unit.words:
        start = word.char_start - unit.char_start
        yield _PlacedWord(unit.text[start : start + word.char_end - word.char_start], word.rect, start)


def row_head(unit: SourceUnit, at: int, units: Sequence[SourceUnit]) -> tuple[Rect, ...]:
    """Return boxes, one per line, of the label of the row of ``unit.text[at]``.

    The label of a row without words is the line before it.
    """
    if unit.type != "table":
        return ()
    label = [word for word in _label(unit) if word.place < at]
    if label:
        return _line_boxes(label)
    before = [other for other in units if other.type == "table" and other.char_start < unit.char_start]
    above = max(before, key=lambda other: other.char_start, default=None)
    return _line_boxes(list(_words(above))) if above and all(map(_is_label, _words(above))) else ()


def _share_column(
    statements: Sequence[str], parts: Sequence[Verification], rows: Sequence[SourceUnit]
) -> bool:
    """Return whether statements without the name of a column are about the same as those with one.

    "X was 5 in North, Y 7" says both of North.
    """
    columns = {column_of(part.unit, part.char_start - part.unit.char_start) for part in parts}
    named = [
        bool(Row(said, part.unit, rows, None, part.unit.language or "en", None).named)
        for said, part in zip(statements, parts, strict=True)
    ]
    return len(columns) == 1 or any(named) == all(named)


def _row_label(unit: SourceUnit) -> str:
    """Return the first cell of a row of values; '' without a letter in it."""
    first = unit.table.cells[0].text.strip() if unit.table and unit.table.cells else ""
    return first if any(map(str.isalpha, first)) else ""


def _label(unit: SourceUnit) -> list[_PlacedWord]:
    """Return the first words of the row: the cells before the first without a letter, else up to a number."""
    cells = unit.table.cells if unit.table else ()
    if not cells:
        return list(takewhile(_is_label, _words(unit)))
    named = takewhile(lambda cell: any(map(str.isalpha, cell.text)), cells)
    ends = max((cell.char_end for cell in named), default=0) - unit.char_start
    return [word for word in _words(unit) if word.place < ends]


def _is_label(word: _PlacedWord) -> bool:
    return not word.text[:1].isdigit() and word.text[:1] not in "$£€¥"


def _line_boxes(words: Sequence[_PlacedWord]) -> tuple[Rect, ...]:
    lines: list[Rect] = []
    for word in words:
        if lines and abs(lines[-1].center[1] - word.rect.center[1]) <= SAME_LINE:
            lines[-1] = lines[-1].union(word.rect)
        else:
            lines.append(word.rect)
    return tuple(lines)


def page_of_unit(unit: SourceUnit) -> PageText:
    """Return a unit as a page; characters count from the unit's start, boxes stay in page space."""
    return PageText(unit.page, _UNUSED_FRAME, unit.text, LazyWords(partial(_words_from_start, unit)))


def _words_from_start(unit: SourceUnit) -> list[Word]:
    start = unit.char_start
    return [
        Word(word.char_start - start, word.char_end - start, word.x0, word.y0, word.x1, word.y1)
        for word in unit.words
    ]


def _joined(parts: Sequence[Verification], cited: SourceUnit) -> Verification:
    """Return one verified claim that lights the places of its statements; the cited unit's, if it has one."""
    ordered = sorted(parts, key=lambda part: part.char_start)
    first = next((part for part in ordered if part.unit.id == cited.id), ordered[0])
    return replace(
        first,
        verdict="normalized",
        quote=" … ".join(dict.fromkeys(part.quote for part in ordered)),
        char_start=ordered[0].char_start,
        char_end=max(part.char_end for part in ordered),
        rects=tuple(dict.fromkeys(rect for part in ordered for rect in part.rects)),
        head_rects=tuple(dict.fromkeys(rect for part in ordered for rect in part.head_rects)),
    )


def _within(span: Span, unit: SourceUnit) -> bool:
    return span[0] >= 0 and span[1] <= len(unit.text)


def _highlight_cells(
    verdict: Verdict,
    around: Sequence[SourceUnit],
    unit: SourceUnit,
    spans: Sequence[Span],
    heads: tuple[Rect, ...],
) -> Verification:
    """Return the cells a number is computed from, possibly of several rows, with their heads."""
    found: list[Verification] = []
    beside: list[Rect] = []
    for row in sorted((unit, *around), key=lambda other: other.char_start):
        shift = unit.char_start - row.char_start
        own = [(start + shift, end + shift) for start, end in spans]
        if inside := sorted(span for span in own if _within(span, row)):
            found.append(_result(verdict, row, inside))
            beside += [rect for start, _ in inside for rect in row_head(row, start, around)]
            beside += [rect for start, _ in inside for rect in column_heads(row, start, around)]
    if not found:
        return _result(verdict, unit, (), heads)
    return replace(
        found[0],
        unit=unit,
        quote=" … ".join(lit.quote for lit in found),
        char_end=found[-1].char_end,
        rects=tuple(rect for lit in found for rect in lit.rects),
        head_rects=tuple(dict.fromkeys([*heads, *beside])),
    )


def _result(
    verdict: Verdict, unit: SourceUnit, spans: Sequence[Span], head_rects: tuple[Rect, ...] = ()
) -> Verification:
    spans = [span for span in spans if _within(span, unit)]
    if not spans:
        return Verification(verdict, unit, unit.page, head_rects=head_rects)
    page = page_of_unit(unit)
    return Verification(
        verdict,
        unit,
        unit.page,
        text_of(page, spans),
        unit.char_start + min(start for start, _ in spans),
        unit.char_start + max(end for _, end in spans),
        highlight_rects(page, spans),
        head_rects,
    )
