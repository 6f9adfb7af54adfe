"""A value that may be said without a model: a cell that only one reading of the question can mean, or two.

A cell is said where its label, groups and head have all that the question names and nothing else, where its
period is the one asked for, and where all such cells on the pages found agree; an item of a pack only of the
statement that states it. Else nothing is said: the passages stand for themselves. Of two such cells of a
table a ratio is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from chat.answers.prompt import SearchNotes
from chat.answers.without_model.answer_types import type_match
from chat.answers.without_model.lines import ENTRY, AnswerLine, distinct_terms, terms_over
from chat.answers.without_model.question import (
    AnswerKind,
    QuestionFeatures,
    holds_name,
    opening_words,
    without_owner,
    words_of,
)
from chat.answers.without_model.ranking import RankedPage, item_match, name_of_item
from chat.answers.without_model.value_lines import (
    Asked,
    ValueLine,
    added_terms,
    is_of_part,
    period_terms,
    row_values,
    titles_over,
)
from citing.claims import VERIFIED, Claim
from citing.tables import (
    CellKind,
    CellReading,
    column_words,
    has_word,
    kind_words,
    read_tables,
    scope_of,
    word_of,
)
from citing.verdict import verify_cited
from domains.items import Item, Ratio, items_asked, ratio_asked, words_beside, words_known
from text.measures import head_words
from text.numbers import YEAR_NOT_AMOUNT, number_words
from text.quantities import currency_names
from text.terms import one_line, stop_words, terms_of
from text.units import CURRENCY_SYMBOLS

MOST_PAGES = 12  # read for a value, beside those with the statement that states it
QUARTERS = re.compile(r"\b(?:[QH][1-4]|[1-4][QH])\b")
LEAST_SCALED = 1000  # of an amount that may lack its scale; smaller ones are prices and rates
LONGEST_NAME = 240  # characters of a cell's name with its period
LONGEST_ENTRY = 12  # words of a value
ITEM_STATED = 0.75  # of ``item_match``: the row is the pack's item in the statement that states it
PLAIN_KINDS: frozenset[AnswerKind] = frozenset({"amount", "define", "yes_no"})
"""Kinds of question that ask for no special kind of value: "What was …?"."""
NOT_SAID = frozenset({"compare", "why", "how", "list", "where"})
"""Kinds of question that no single value answers."""
AGREE = 0.002  # largest relative difference of one amount printed in thousands and in millions


@dataclass(frozen=True, slots=True)
class SaidValue:
    """A value as it is said, with the words that show it and the line they are in."""

    text: str
    quote: str
    line: AnswerLine
    other: tuple[str, AnswerLine] | None = None  # words and line of the second cell of a computed value


def certain_value(
    question: QuestionFeatures, pages: Sequence[RankedPage], notes: SearchNotes
) -> SaidValue | None:
    """Return the only value that the question can mean; None without one, or with several."""
    opening = re.match(r"\w+", question.text.casefold())
    if question.must_be_seen or (opening and opening[0] in words_of(question.language, "kinds")["yes_no"]):
        return None
    if notes.absent or question.kinds & NOT_SAID or len(question.years) > 1:
        return None
    if notes.documents > 1 and not notes.subject:  # the question does not say of which
        return None
    text = one_line(question.text)
    if ratio := ratio_asked(text, notes.packs):
        return _certain_ratio(ratio, question, pages, notes)
    if question.computation not in ("", "sum"):  # a sum may be printed
        return None
    sought = _Sought(question, notes, items_asked(text, notes.packs))
    return sought.certain_cell(pages) or (None if question.computation else sought.certain_entry(pages))


def _certain_ratio(
    ratio: Ratio, question: QuestionFeatures, pages: Sequence[RankedPage], notes: SearchNotes
) -> SaidValue | None:
    """Return one cell divided by another, or without it, of the same period, each of which is certain.

    None unless the verifier computes the same.
    """
    sought = (_Sought(question, notes, [item], computed=True) for item in ratio.of)
    one, other = (each.only_cell(pages) for each in sought)
    if not (one and other and one.cell and other.cell) or one.cell.period != other.cell.period:
        return None
    if (one.quantity.unit, one.quantity.scale) != (other.quantity.unit, other.quantity.scale):
        return None
    if not other.quantity.base:
        return None
    numbers = [each.cell.text.strip("".join(CURRENCY_SYMBOLS) + " ") for each in (one, other) if each.cell]
    quotient = one.quantity.base / other.quantity.base
    result, sign = f"{quotient:.1%}" if ratio.is_percent else f"{quotient:.2f}", " / "
    if ratio.less:
        left, sign = (one.quantity.base - other.quantity.base) / one.cell.measure.scale, " - "
        result = one.cell.printed.replace(numbers[0], f"{left:,}")
    named = ", ".join(filter(None, (one.cell.label + sign + other.cell.label, one.cell.head)))
    text = f"{_with_period(named, one.line, question)}: {sign.join(numbers)} = {result}"
    if verify_cited(Claim(text), one.line.unit, one.line.passage.around).verdict not in VERIFIED:
        return None
    return SaidValue(text, one.cell.text, one.line, (other.cell.text, other.line))


def may_lack_scale(cell: CellReading, others: Iterable[CellReading], items: Sequence[Item]) -> bool:
    """Return whether an amount may lack its scale, which may be stated once for many pages.

    Smaller amounts may be prices, unless they are an item of a statement.
    """
    is_large = cell.quantity is not None and (bool(items) or abs(cell.quantity.base) >= LEAST_SCALED)
    is_unscaled = cell.kind == "amount" and cell.measure.scale == 1 and is_large
    return is_unscaled and any(other.measure.scale != 1 for other in others)


def _with_period(name: str, line: AnswerLine, question: QuestionFeatures) -> str:
    """Return a cell's name with the period asked for, of what stands over its table if need be; '' without.

    A value is not said without the period that was asked for.
    """
    part = word_of("part_of_year", question.text, question.language)

    def states_period(text: str) -> bool:
        years = all(year[-4:] in text for year in question.years)
        return years and (
            not part or bool(word_of("part_of_year", text, line.language) or QUARTERS.search(text))
        )

    over = [text for text in (_caption(line), *reversed(line.unit.section_path), line.unit.title) if text]
    named = (text for text in (name, *(f"{name}, {text}" for text in over)) if states_period(text))
    return next((text for text in named if len(text) <= LONGEST_NAME), "")


@dataclass(frozen=True, slots=True)
class _Sought:
    """What a question asks for, with the items that packs list for it.

    ``computed``: a cell of two from which a value is computed.
    """

    question: QuestionFeatures
    notes: SearchNotes
    items: Sequence[Item]
    computed: bool = False

    def certain_cell(self, pages: Sequence[RankedPage]) -> SaidValue | None:
        found = self.only_cell(pages) if len(self.items) < 2 else None
        if found is None or found.cell is None:
            return None
        cell, line = found.cell, found.line
        if self.question.computation and not has_word("whole", cell.label, line.language):
            return None
        # the groups of a row of its own statement name no part of it
        name = _with_period((replace(cell, groups=()) if self.items else cell).name, line, self.question)
        return SaidValue(f"{name}: {cell.printed}", cell.text, line) if name else None

    def only_cell(self, pages: Sequence[RankedPage]) -> ValueLine | None:
        """Return the cell that is meant, if all that may be meant on the best pages agree."""
        read = [
            line
            for at, page in enumerate(pages)
            if at < MOST_PAGES or any(item_match(self.items[:1], row) >= ITEM_STATED for row in page.lines)
            for line in page.lines
        ]
        terms = tuple(term for term in self.question.terms if term in self.asked_terms)
        asked = Asked(replace(self.question, terms=terms), self.items)
        found = [
            one for line in read for one in row_values(asked, line) if one.is_named and self.is_meant(one)
        ]
        if self.items:
            lacking = [self.lacking(one) for one in found]
            found = [one for one, lacks in zip(found, lacking, strict=True) if lacks == min(lacking)]
        if not self.question.years:
            latest = max((one.year for one in found), default=0)
            found = [one for one in found if one.year == latest]
        cells = [cell for line in read for cell in line.cells]
        if not found or found[0].cell is None or may_lack_scale(found[0].cell, cells, self.items):
            return None
        if any(abs(found[0].size - one.size) > found[0].size * type(one.size)(str(AGREE)) for one in found):
            return None
        several = len({(cell.unit.page, cell.unit.table.index) for cell in cells if cell.unit.table}) > 1
        if several and not self.items and found[0].cell.kind == "amount":
            return found[0] if any(map(self.is_amount_of_all, found)) else None
        return found[0]

    def certain_entry(self, pages: Sequence[RankedPage]) -> SaidValue | None:
        """Return a line "Term: value" whose label is what the question names, if all such lines agree.

        True:  "Agreement term: 1 year" for "How long is the agreement term?".
        False: "Term: the period in which …" (a definition), "Delivery term: 3 days" for the agreement's.
        """
        question, asked = self.question, self.asked_terms
        found: dict[str, SaidValue] = {}
        for line in (line for page in pages[:MOST_PAGES] for line in page.lines):
            entry = ENTRY.match(line.text) if line.unit.table is None else None
            if entry is None or len(entry["value"].split()) > LONGEST_ENTRY:
                continue
            label = distinct_terms(entry["label"], line.language)
            over = terms_over(line) | distinct_terms(line.unit.title, line.language)
            if not all(year[-4:] in line.text for year in question.years):
                continue
            match = type_match(question, replace(line, text=entry["value"]))
            fits = match == 1.0 or not (question.wants_number or question.kinds & {"when", "who"})
            if label and label <= asked and asked <= label | over and fits:
                found.setdefault(entry["value"].casefold(), SaidValue(line.text, line.text, line))
        return next(iter(found.values())) if len(found) == 1 else None

    def is_meant(self, one: ValueLine) -> bool:
        """Return whether a cell has the question's subject, period and kind, and nothing else."""
        cell, line, question = one.cell, one.line, self.question
        if cell is None or not cell.is_certain or cell.is_change:
            return False
        if question.asked_years and cell.period.years != question.asked_years:
            return False
        if one.quantity.dimension == "money" and self.currencies - {one.quantity.unit}:
            return False
        if is_of_part(cell, line, question) is not True or self.is_of_part_of_group(cell, line):
            return False
        if self.items:
            item, name = self.items[0], name_of_item(line, self.items[0])
            is_part = not item.parts_in(name) <= item.parts_in(question.text)
            # the number of shares under "shares used in computing earnings per share"
            is_other = cell.kind == "rate" and one.quantity.dimension != "money"
            if is_part or is_other or item_match([item], line) < ITEM_STATED:
                return False
        if self.thing_asked - {*line.label_terms} - distinct_terms(cell.name, line.language):
            return False
        said = f"{cell.name} {titles_over(line)}"
        is_narrowed = self.items and self.narrowing - distinct_terms(said, line.language)
        if is_narrowed or not self.is_of_those_named(said):
            return False
        if self.computed:
            return cell.kind in ("amount", "number")
        if not self.is_of_kind(cell):
            return False
        if added_terms(one, question, of_head=len(line.cells) > 1, of_label=not self.items):
            return False
        return bool(self.items) or not {*line.label_terms}.isdisjoint(question.terms)

    @property
    def currencies(self) -> frozenset[str]:
        """Return the codes of the currencies that the question names: of "in euros"."""
        known = currency_names(self.question.language)
        words = re.findall(r"[^\W\d_]+|[$€£¥]", self.question.text.casefold())
        return frozenset(known[word] for word in words if word in known)

    @property
    def narrowing(self) -> frozenset[str]:
        """Return the terms beside a pack's item that may narrow it: of "gross margin target" the target."""
        own = self.question.language
        beside = words_beside(without_owner(self.question.text, own), self.notes.packs)
        asking = distinct_terms(" ".join(words_of(own, "words")["asking_search"]), own)
        return self.words_asked & distinct_terms(" ".join(beside), own) - asking

    def is_of_those_named(self, said: str) -> bool:
        """Return whether a cell's names have each name of the question that is not the document's own."""
        known = {*self.notes.subject, *words_known(self.question.text, self.notes.packs)}
        others = (name for name in self.question.names if name.isalpha() and name not in known)
        return all(holds_name(said, name) for name in others)

    def is_of_kind(self, cell: CellReading) -> bool:
        """Return whether the cell is of the kind that the question wants; a plain number fits most."""
        kinds, language = self.question.kinds, self.question.language
        own = set(re.findall(r"\w+", cell.name.casefold()))
        rates = set(head_words(language, "rate")) & set(re.findall(r"\w+", self.question.text.casefold()))
        if rates - own:  # a ratio of a thing is not its amount
            return False
        if cell.kind not in ("rate", "share") and kind_words(language).rate.search(
            self.question.text.casefold()
        ):
            return False  # nor is the sum of dividends a dividend per share
        if "count" in kinds:
            return cell.kind in ("count", "number")
        if "when" in kinds or "who" in kinds:
            return cell.kind == "date" and "who" not in kinds
        if "share" in kinds:
            return cell.kind in ("share", "rate")
        wanted: set[CellKind] = {"amount", "rate"}
        if "money" not in kinds:
            wanted |= {"share", "measure", "number"}
        is_plain = "money" in kinds or not kinds - PLAIN_KINDS
        is_named = cell.kind != "rate" or self.names(cell.label) or self.names(cell.head)
        return is_plain and cell.kind in wanted and is_named

    def names(self, text: str) -> bool:
        """Return whether the question has most words of a label: a rate is only said of a question on it."""
        language = self.question.language
        own = set(terms_of(text, language)) - set(YEAR_NOT_AMOUNT.findall(text))
        return bool(own) and 2 * len(own & set(terms_of(self.question.text, language))) >= len(own)

    def is_of_part_of_group(self, cell: CellReading, line: AnswerLine) -> bool:
        """Return whether a row is of a segment, set apart, or part of the group that has the name.

        "Total other assets" for the total assets, "Income before income taxes" for the income taxes;
        "Cash" under "Cash and equivalents" for both together.
        """
        question, language, asked = self.question, line.language, self.asked_terms
        label = {term for term in distinct_terms(cell.label, language) if not term.isdigit()}
        names = {term for word in question.words if word.is_name for term in word.terms}
        if not has_word("part", question.text, question.language) and (
            (cell.scope == "part" and not (label and label.issubset(question.terms)))
            or (scope_of("", titles_over(line), language) == "part" and label.isdisjoint(names))
        ):
            return True
        if has_word("apart", cell.label, language) and not has_word("apart", question.text, language):
            return True
        is_whole = has_word("whole", cell.label, language) or asked <= label
        return bool(asked) and asked <= distinct_terms(" ".join(cell.groups), language) and not is_whole

    def is_amount_of_all(self, one: ValueLine) -> bool:
        """Return whether an amount is the whole of what its name says, by the table that it is in.

        Asked where several tables have such a row.

        True:  "Cost of sales" under "Consolidated income" or "Our cost of sales".
        False: "Cost of sales" under "Stock awards"; "Equipment" for "property, plant and equipment";
               "Property" beside "Property, net" of another amount.
        """
        cell, line = one.cell, one.line
        assert cell is not None
        over = f"{' '.join(line.unit.section_path[-2:])} {_caption(line)}"
        is_on_subject = not distinct_terms(over, line.language).isdisjoint(self.question.terms)
        if over.strip() and not is_on_subject and not has_word("whole", over, line.language):
            return False
        rows = read_tables((line.unit, *line.passage.around)).values()
        narrower = re.compile(rf"{re.escape(cell.label)}\s*[,(–—-]", re.I)
        rivals = [other for cells in rows for other in cells if narrower.match(other.label)]
        return self.asked_terms <= distinct_terms(cell.name, line.language) and not any(
            other.quantity and other.period == cell.period and abs(other.quantity.base) != one.size
            for other in rivals
        )

    def lacking(self, one: ValueLine) -> int:
        """Return how many words of the question a cell's name lacks: "diluted" in "Basic earnings"."""
        language = self.question.language
        whole = terms_of(" ".join(column_words(language).get("whole", ())), language)
        name = one.cell.name if one.cell else ""
        return len(set(self.question.terms).difference(whole, terms_of(name, language)))

    @property
    def thing_asked(self) -> frozenset[str]:
        """Return the terms of a noun behind the first word: of "Which state has the largest net sales?"."""
        words = re.match(r"\W*(\w+)\s+([\w-]+)", self.question.text.casefold())
        own = self.question.language
        kinds = chain.from_iterable(words_of(own, "kinds").values())
        asking = stop_words(own).union(" ".join(kinds).split())
        is_noun = words and words[1] in opening_words(own) and words[2] not in asking
        return distinct_terms(words[2], own) if words and is_noun else frozenset()

    @property
    def asked_terms(self) -> frozenset[str]:
        """Return the terms asked for, without those that no label repeats.

        These name the document, the period or the way of counting.
        """
        money = words_of(self.question.language, "kinds")["money"]
        return self.words_asked - distinct_terms(" ".join(money), self.question.language)

    @property
    def words_asked(self) -> frozenset[str]:
        """Return the terms asked for, also those of kinds of money: "budget"."""
        own = self.question.language
        said = (*self.notes.subject, *self.question.years, *column_words(own).get("whole", ()))
        unspoken = " ".join((*said, *number_words(own).scales, *currency_names(own)))
        return frozenset(self.question.terms) - distinct_terms(unspoken, own) - period_terms(own)


def _caption(line: AnswerLine) -> str:
    return line.unit.table.caption if line.unit.table else ""
