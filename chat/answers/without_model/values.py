"""A value that may be said without a model: a cell that only one reading of the question can mean, or two.

A cell is said where its label, groups and head have all that the question names and nothing else, where its
period is the one asked for, and where all such cells on the pages found agree; an item of a pack only of the
statement that states it. Else nothing is said: the passages stand for themselves. Of two such cells of a
table a ratio is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

from chat.answers.prompt import SearchNotes
from chat.answers.without_model.answer_types import type_match
from chat.answers.without_model.lines import ENTRY, AnswerLine, distinct_terms, terms_over
from chat.answers.without_model.question import (
    COMPANY_FORMS,
    AnswerKind,
    QuestionFeatures,
    words_of,
)
from chat.answers.without_model.ranking import RankedPage, item_match, name_of_item
from citing.claims import VERIFIED, Claim
from citing.tables import (
    CellKind,
    CellReading,
    column_words,
    has_word,
    kind_words,
    months_of,
    read_tables,
    scope_of,
    word_of,
)
from citing.verdict import verify_cited
from domains.items import Item, Ratio, items_asked, ratio_asked, words_beside
from text.measures import head_words
from text.numbers import YEAR_NOT_AMOUNT, month_numbers, number_words
from text.quantities import currency_names
from text.semantics import lexicon
from text.terms import terms_of
from text.units import CURRENCY_SYMBOLS

MOST_PAGES = 12  # read for a value, beside those with the statement that states it
BRACKETS = re.compile(r"\([^()]*\)")
QUARTER = re.compile(r"[qh][1-4]")
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


@dataclass(frozen=True, slots=True)
class _Meant:
    """A cell that the question may mean."""

    cell: CellReading
    line: AnswerLine


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
    if ratio := ratio_asked(question.text, notes.packs):
        return _certain_ratio(ratio, question, pages, notes)
    if question.computation not in ("", "sum"):  # a sum may be printed
        return None
    sought = _Sought(question, notes, items_asked(question.text, notes.packs))
    return sought.certain_cell(pages) or (None if question.computation else sought.certain_entry(pages))


def _certain_ratio(
    ratio: Ratio, question: QuestionFeatures, pages: Sequence[RankedPage], notes: SearchNotes
) -> SaidValue | None:
    """Return one cell divided by another of the same period and measure, each of which is certain.

    None unless the verifier computes the same.
    """
    one, other = (_Sought(question, notes, [item], computed=True).only_cell(pages) for item in ratio.of)
    if one is None or other is None or one.cell.period != other.cell.period:
        return None
    first, second = one.cell.quantity, other.cell.quantity
    if first is None or second is None or not second.base:
        return None
    if (first.unit, first.scale) != (second.unit, second.scale):
        return None
    quotient = first.base / second.base
    result = f"{quotient:.1%}" if ratio.is_percent else f"{quotient:.2f}"
    named = ", ".join(filter(None, (f"{one.cell.label} / {other.cell.label}", one.cell.head)))
    numbers = (meant.cell.text.strip("".join(CURRENCY_SYMBOLS) + " ") for meant in (one, other))
    text = f"{_with_period(named, one.line, question)}: {' / '.join(numbers)} = {result}"
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
        if found is None:
            return None
        cell, line = found.cell, found.line
        if self.question.computation and not has_word("whole", cell.label, line.language):
            return None
        # the groups of a row of its own statement name no part of it
        name = _with_period((replace(cell, groups=()) if self.items else cell).name, line, self.question)
        return SaidValue(f"{name}: {cell.printed}", cell.text, line) if name else None

    def only_cell(self, pages: Sequence[RankedPage]) -> _Meant | None:
        """Return the cell that is meant, if all that may be meant on the best pages agree."""
        read = [
            line
            for at, page in enumerate(pages)
            if at < MOST_PAGES or any(item_match(self.items[:1], row) >= ITEM_STATED for row in page.lines)
            for line in page.lines
        ]
        found = [_Meant(cell, line) for line in read for cell in line.cells if self.is_meant(cell, line)]
        if self.items:
            lacking = [self.lacking(value.cell) for value in found]
            found = [value for value, lacks in zip(found, lacking, strict=True) if lacks == min(lacking)]
        if not self.question.years:
            latest = max((cell.year for value in found for cell in value.line.cells), default=0)
            found = [value for value in found if value.cell.year == latest]
        cells = [cell for line in read for cell in line.cells]
        if not found or may_lack_scale(found[0].cell, cells, self.items):
            return None
        if not all(_agree(found[0].cell, value.cell) for value in found):
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
        question = self.question
        found: dict[str, SaidValue] = {}
        for line in (line for page in pages[:MOST_PAGES] for line in page.lines):
            entry = ENTRY.match(line.text) if line.unit.table is None else None
            if entry is None or len(entry["value"].split()) > LONGEST_ENTRY:
                continue
            label = distinct_terms(entry["label"], line.language)
            asked = self.asked_in(line.language)
            over = terms_over(line) | distinct_terms(line.unit.title, line.language)
            if not all(year[-4:] in line.text for year in question.years):
                continue
            match = type_match(question, replace(line, text=entry["value"]))
            fits = match == 1.0 or not (question.wants_number or question.kinds & {"when", "who"})
            if label and label <= asked and asked <= label | over and fits:
                found.setdefault(entry["value"].casefold(), SaidValue(line.text, line.text, line))
        return next(iter(found.values())) if len(found) == 1 else None

    def is_meant(self, cell: CellReading, line: AnswerLine) -> bool:
        """Return whether a cell has the question's subject, period and kind, and nothing else."""
        if not cell.is_certain or cell.is_change or cell.quantity is None:
            return False
        if len(line.cells) > 1 and self.beside_period(cell):
            return False
        if self.computed and cell.kind not in ("amount", "number"):
            return False
        is_of_kind = self.computed or self.is_of_kind(cell)
        return is_of_kind and self.is_of_period(cell, line) and self.is_of_subject(cell, line)

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

    def is_of_period(self, cell: CellReading, line: AnswerLine) -> bool:
        """Return whether the cell is of the year asked for, and of a part of it only where one is named."""
        question = self.question
        if question.asked_years and cell.period.years != question.asked_years:
            return False
        return is_of_part(cell, line, question) is True

    def is_of_subject(self, cell: CellReading, line: AnswerLine) -> bool:
        question, language = self.question, line.language
        asked = self.asked_in(language)
        groups = distinct_terms(" ".join(cell.groups), language)
        named = distinct_terms(f"{cell.label} {' '.join(cell.groups)}", language)
        head = distinct_terms(cell.head, language)
        if self.is_apart_or_part(cell, asked, groups, language):
            return False
        label = {term for term in distinct_terms(cell.label, language) if not term.isdigit()}
        is_named = bool(label) and label.issubset(question.terms)
        names = {term for word in question.words if word.is_name for term in word.terms}
        if not has_word("part", question.text, question.language) and (
            (cell.scope == "part" and not is_named)
            or (scope_of("", _over(line), language) == "part" and label.isdisjoint(names))
        ):
            return False
        missing = asked - named - head - distinct_terms(_over(line), language)
        if self.items:
            beside = " ".join(words_beside(question.text, self.notes.packs))
            narrowed = missing & distinct_terms(beside, language)
            return self.is_whole_item(cell, line) and (self.computed or not narrowed)
        if "money" in question.kinds and is_named and head.issubset(question.terms) and len(missing) == 1:
            missing = frozenset()  # the verb: "a ticket bought online"
        if missing or label.isdisjoint(question.terms):
            return False
        known = " ".join((*column_words(language).get("whole", ()), line.unit.title, *COMPANY_FORMS))
        return all(map(str.isdigit, named - set(question.terms) - distinct_terms(known, language)))

    def is_amount_of_all(self, meant: _Meant) -> bool:
        """Return whether an amount is the whole of what its name says, by the table that it is in.

        Asked where several tables have such a row.

        True:  "Cost of sales" under "Consolidated income" or "Our cost of sales".
        False: "Cost of sales" under "Stock awards"; "Equipment" for "property, plant and equipment";
               "Property" beside "Property, net" of another amount.
        """
        cell, line = meant.cell, meant.line
        over = f"{' '.join(line.unit.section_path[-2:])} {_caption(line)}"
        is_on_subject = not distinct_terms(over, line.language).isdisjoint(self.question.terms)
        if over.strip() and not is_on_subject and not has_word("whole", over, line.language):
            return False
        rows = read_tables((line.unit, *line.passage.around)).values()
        narrower = re.compile(rf"{re.escape(cell.label)}\s*[,(–—-]", re.I)
        rivals = (other for cells in rows for other in cells if narrower.match(other.label))
        return self.asked_in(line.language) <= distinct_terms(cell.name, line.language) and all(
            other.quantity is None or other.period != cell.period or _agree(cell, other) for other in rivals
        )

    def is_whole_item(self, cell: CellReading, line: AnswerLine) -> bool:
        """Return whether a cell is the pack's item in the statement that states it, and no part of it.

        False: the number of shares under "shares used in computing earnings per share".
        """
        item = self.items[0]
        if cell.kind == "rate" and cell.quantity and cell.quantity.dimension != "money":
            return False
        is_part = item.part is not None and item.part.search(name_of_item(line, item))
        return not is_part and item_match([item], line) >= ITEM_STATED

    def is_apart_or_part(self, cell: CellReading, asked: Set[str], groups: Set[str], language: str) -> bool:
        """Return whether a row is set apart from what is asked for, or a part of the group that has its name.

        "Total other assets" for the total assets, "Income before income taxes" for the income taxes;
        "Cash" under "Cash and equivalents" for both together.
        """
        question = self.question
        if has_word("apart", cell.label, language) and not has_word(
            "apart", question.text, question.language
        ):
            return True
        is_whole = has_word("whole", cell.label, language) or asked <= distinct_terms(cell.label, language)
        return bool(asked) and asked <= groups and not is_whole

    def lacking(self, cell: CellReading) -> int:
        """Return how many words of the question a cell's name lacks: "diluted" in "Basic earnings"."""
        language = self.question.language
        whole = terms_of(" ".join(column_words(language).get("whole", ())), language)
        return len(set(self.question.terms).difference(whole, terms_of(cell.name, language)))

    def beside_period(self, cell: CellReading) -> set[str]:
        """Return the terms of a head that are neither of a period nor of the question: "North America"."""
        language = self.question.language
        words, columns = lexicon(language), column_words(language)
        whole = (*columns.get("whole", ()), *columns.get("part_of_year", ()))
        periods = " ".join((*words.period, *words.period_end, *month_numbers(language), *whole))
        head = BRACKETS.sub(" ", cell.head)  # "(unaudited)"
        own = {term for term in terms_of(head, language) if not any(map(str.isdigit, term))}
        return own - set(terms_of(periods, language)) - set(self.question.terms)

    def asked_in(self, language: str) -> frozenset[str]:
        """Return the terms asked for, without those that no label repeats.

        These name the document, the period or the way of counting.
        """
        own = self.question.language
        said = (*self.notes.subject, *self.question.years, *column_words(language).get("whole", ()))
        counted = (*number_words(own).scales, *currency_names(own))
        unspoken = " ".join((*said, *counted, *words_of(own, "kinds")["money"]))
        return frozenset(self.question.terms) - distinct_terms(unspoken, language) - period_terms(own)


def is_of_part(cell: CellReading, line: AnswerLine, question: QuestionFeatures) -> bool | None:
    """Return whether the cell is of the part of a year that the question names, or both of none.

    True:  "Q2 2023" for "in the second quarter".
    False: "H1 2023", "Third quarter 2023".
    None:  "2023", "Three months ended June 30".
    """
    part, own = word_of("part_of_year", question.text, question.language), cell.period.part
    if not part or not own:
        return None if part else not own
    if months_of(part, question.language) != months_of(own, line.language):
        return False
    asked = _ordinals(question.text, question.language)
    if asked and (stated := _ordinals(f"{cell.head} {own}", line.language)):
        return asked <= stated
    return part == own or asked <= _ordinals(_over(line), line.language) or None


def _ordinals(text: str, language: str) -> set[int]:
    """Return the ordinals of a text: 3 for "the third quarter" and "Q3"."""
    ordinals, words = number_words(language).ordinals, re.findall(r"\w+", text.casefold())
    numbered = {int(word[1]) for word in words if QUARTER.fullmatch(word)}
    return numbered | {ordinals[word] for word in words if word in ordinals}


def _over(line: AnswerLine) -> str:
    """Return the headings, the caption and the document's title over a line."""
    return " ".join((*line.unit.section_path, _caption(line), line.unit.title))


def period_terms(language: str) -> frozenset[str]:
    """Return the terms of a language that name a part of a year: "second", "quarter"."""
    parts = column_words(language).get("part_of_year", ())
    return distinct_terms(
        " ".join((*parts, *lexicon(language).period, *number_words(language).ordinals)), language
    )


def _caption(line: AnswerLine) -> str:
    return line.unit.table.caption if line.unit.table else ""


def _agree(one: CellReading, other: CellReading) -> bool:
    assert one.quantity is not None and other.quantity is not None
    a, b = abs(one.quantity.base), abs(other.quantity.base)
    return abs(a - b) <= max(a, b) * type(a)(str(AGREE))
