"""A value that may be said without a model: a cell that only one reading of the question can mean, or two.

A cell is said where its label, groups and head have all that the question names and nothing else, where its
period is the one asked for, and where all such cells on the pages found agree; an item of a pack only of the
statement that states it. Else nothing is said: the passages stand for themselves. Of two such cells of a
table a ratio, a growth or a difference is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, partial

from chat.answers.prompt import SearchNotes
from chat.answers.without_model.answer_types import type_match
from chat.answers.without_model.lines import AnswerLine, distinct_terms, terms_over
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
ENTRY = re.compile(r"\W*(?P<label>[^\W\d_][^:.!?：]{0,50}[^\s:.!?：]) ?[:：] ?(?P<value>\S.*)")
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
    if notes.absent or question.kinds & NOT_SAID - {"compare"}:
        return None
    if notes.documents > 1 and not notes.subject:  # the question does not say of which
        return None
    if len(question.years) == 2 and question.computation in ("growth", "difference"):
        return _certain_change(question, pages, notes)
    if len(question.years) > 1 or "compare" in question.kinds:
        return None
    if ratio := ratio_asked(question.text, notes.packs):
        return _certain_ratio(ratio, question, pages, notes)
    if question.computation == "sum":  # it may be printed
        return _certain_cell(question, pages, notes)
    if question.computation:
        return None
    return _certain_cell(question, pages, notes) or _certain_entry(question, pages, notes)


def _certain_cell(
    question: QuestionFeatures, pages: Sequence[RankedPage], notes: SearchNotes
) -> SaidValue | None:
    items = items_asked(question.text, notes.packs)
    if len(items) > 1:
        return None
    found = _only_cell(question, pages, items, notes)
    if found is None:
        return None
    cell, line = found.cell, found.line
    if question.computation and not has_word("whole", cell.label, line.language):
        return None
    # the groups of a row of its own statement name no part of it
    name = _with_period((replace(cell, groups=()) if items else cell).name, line, question)
    return SaidValue(f"{name}: {cell.printed}", cell.text, line) if name else None


def _certain_ratio(
    ratio: Ratio, question: QuestionFeatures, pages: Sequence[RankedPage], notes: SearchNotes
) -> SaidValue | None:
    """Return one cell divided by another of the same period and measure, each of which is certain."""
    one, other = (_only_cell(question, pages, [item], notes, computed=True) for item in ratio.of)
    if one is None or other is None or one.cell.period != other.cell.period:
        return None
    if (amounts := _amounts(one, other)) is None:
        return None
    quotient = amounts[0] / amounts[1]
    result = f"{quotient:.1%}" if ratio.is_percent else f"{quotient:.2f}"
    named = ", ".join(filter(None, (f"{one.cell.label} / {other.cell.label}", one.cell.head)))
    name = _with_period(named, one.line, question)
    text = f"{name}: {_digits(one.cell)} / {_digits(other.cell)} = {result}"
    return _computed(text, one, other) if name else None


def _certain_change(
    question: QuestionFeatures, pages: Sequence[RankedPage], notes: SearchNotes
) -> SaidValue | None:
    """Return the growth, or the difference, of a row between the two years asked for."""
    items = items_asked(question.text, notes.packs)
    if len(items) != 1:
        return None
    earlier, later = (
        _only_cell(replace(question, years=frozenset({year})), pages, items, notes, computed=True)
        for year in sorted(question.years)
    )
    if earlier is None or later is None or earlier.line.unit.id != later.line.unit.id:
        return None
    if (amounts := _amounts(later, earlier)) is None:
        return None
    (new, old), (last, first) = (_digits(later.cell), _digits(earlier.cell)), amounts
    if question.computation == "growth":
        text = f"({new} − {old}) / {old} = {(last - first) / abs(first):.1%}"
    else:
        text = f"{new} − {old} = {last - first:,f}"
    name = f"{later.cell.label}, {later.cell.head}, {earlier.cell.head}"
    return _computed(f"{name}: {text}".replace("= -", "= −"), later, earlier)


def _amounts(one: _Meant, other: _Meant) -> tuple[Decimal, Decimal] | None:
    """Return both numbers as printed; None where they are of other units or scales, or the second is 0."""
    first, second = one.cell.quantity, other.cell.quantity
    if first is None or second is None or not second.base:
        return None
    alike = (first.unit, first.scale) == (second.unit, second.scale)
    scale = one.cell.measure.scale
    return (first.base / scale, second.base / scale) if alike else None


def _computed(text: str, one: _Meant, other: _Meant) -> SaidValue | None:
    """Return a value computed from two cells of a table; None unless the verifier computes the same."""
    said = verify_cited(Claim(text), one.line.unit, one.line.passage.around)
    if said.verdict not in VERIFIED:
        return None
    return SaidValue(text, one.cell.text, one.line, (other.cell.text, other.line))


def _digits(cell: CellReading) -> str:
    """Return a cell's number without its currency: "9,889" of "$ 9,889"."""
    return cell.text.strip("".join(CURRENCY_SYMBOLS) + " ")


def _only_cell(
    question: QuestionFeatures,
    pages: Sequence[RankedPage],
    items: Sequence[Item],
    notes: SearchNotes,
    computed: bool = False,
) -> _Meant | None:
    """Return the cell that is meant, if all that may be meant on the best pages agree."""
    read = [page for at, page in enumerate(pages) if at < MOST_PAGES or _states(items, page)]
    found = [value for page in read for value in _values_on(page, question, items[:1], notes, computed)]
    if not found:
        return None
    lacking = [_lacking(value.cell, question) if items else _extra(value.cell, question) for value in found]
    found = [value for value, lacks in zip(found, lacking, strict=True) if lacks == min(lacking)]
    if not question.years:
        latest = max((max(value.cell.period.years, default=0) for value in found), default=0)
        found = [value for value in found if max(value.cell.period.years, default=0) == latest]
    first = found[0].cell
    cells = [cell for page in read for line in page.lines for cell in line.cells]
    if may_lack_scale(first, cells, items):
        return None
    if not all(_agree(first, value.cell) for value in found):
        return None
    several = len(set(map(_table_of, cells))) > 1
    if several and not items and first.kind == "amount":
        return found[0] if any(_is_amount_of_all(value, question, notes) for value in found) else None
    return found[0]


def _table_of(cell: CellReading) -> tuple[int, int]:
    return cell.unit.page, cell.unit.table.index if cell.unit.table else 0


def _states(items: Sequence[Item], page: RankedPage) -> bool:
    """Return whether a page has the item's row in the statement that states it."""
    return any(item_match(items[:1], line) >= ITEM_STATED for line in page.lines if line.values)


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


def _certain_entry(
    question: QuestionFeatures, pages: Sequence[RankedPage], notes: SearchNotes
) -> SaidValue | None:
    """Return a line "Term: value" whose label is what the question names, if all such lines agree.

    True:  "Agreement term: 1 year" for "How long is the agreement term?".
    False: "Term: the period in which …" (a definition), "Delivery term: 3 days" for the agreement's.
    """
    found: dict[str, SaidValue] = {}
    unspoken = cache(partial(_unspoken, question, notes))
    for page in pages[:MOST_PAGES]:
        for line in page.lines:
            entry = ENTRY.match(line.text) if line.unit.table is None else None
            if entry is None or len(entry["value"].split()) > LONGEST_ENTRY:
                continue
            label = distinct_terms(entry["label"], line.language)
            asked = set(question.terms) - unspoken(line.language)
            over = terms_over(line) | distinct_terms(line.unit.title, line.language)
            if not all(year[-4:] in line.text for year in question.years):
                continue
            match = type_match(question, replace(line, text=entry["value"]))
            fits = match == 1.0 or not (question.wants_number or question.kinds & {"when", "who"})
            if label and label <= asked and asked <= label | over and fits:
                found.setdefault(entry["value"].casefold(), SaidValue(line.text, line.text, line))
    return next(iter(found.values())) if len(found) == 1 else None


def _values_on(
    page: RankedPage,
    question: QuestionFeatures,
    items: Sequence[Item],
    notes: SearchNotes,
    computed: bool,
) -> Iterator[_Meant]:
    for line in page.lines:
        for cell in line.cells:
            is_alone = len(line.cells) == 1 or not _beside_period(cell, question)
            if is_alone and _is_meant(cell, line, question, items, notes, computed):
                yield _Meant(cell, line)


def _is_meant(
    cell: CellReading,
    line: AnswerLine,
    question: QuestionFeatures,
    items: Sequence[Item],
    notes: SearchNotes,
    computed: bool,
) -> bool:
    """Return whether a cell has the question's subject, period and kind, and nothing else."""
    if computed and cell.kind not in ("amount", "number"):
        return False
    return (
        cell.is_certain
        and not cell.is_change
        and cell.quantity is not None
        and (computed or _is_of_kind(cell, question))
        and _is_of_period(cell, line, question)
        and _is_of_subject(cell, line, question, items, notes, computed)
    )


def _is_of_kind(cell: CellReading, question: QuestionFeatures) -> bool:
    """Return whether the cell is of the kind that the question wants; a plain number fits most."""
    language = question.language
    own = set(re.findall(r"\w+", cell.name.casefold()))
    rates = set(head_words(language, "rate")) & set(re.findall(r"\w+", question.text.casefold()))
    if rates - own:  # a ratio of a thing is not its amount
        return False
    if cell.kind not in ("rate", "share") and kind_words(language).rate.search(question.text.casefold()):
        return False  # nor is the sum of dividends a dividend per share
    if "count" in question.kinds:
        return cell.kind in ("count", "number")
    if "when" in question.kinds:
        return cell.kind == "date"
    if "who" in question.kinds:
        return False
    rate = any(_names(text, question) for text in (cell.label, cell.head)) if cell.kind == "rate" else True
    if "share" in question.kinds:
        return cell.kind in ("share", "rate")
    if "money" in question.kinds:
        return cell.kind in ("amount", "rate") and rate
    wanted: set[CellKind] = {"amount", "share", "rate", "measure", "number"}
    return not question.kinds - PLAIN_KINDS and cell.kind in wanted and rate


def _names(text: str, question: QuestionFeatures) -> bool:
    """Return whether the question has most words of a label: a rate is only said of a question on it."""
    own = set(terms_of(text, question.language)) - set(YEAR_NOT_AMOUNT.findall(text))
    return bool(own) and 2 * len(own & set(terms_of(question.text, question.language))) >= len(own)


def _is_of_period(cell: CellReading, line: AnswerLine, question: QuestionFeatures) -> bool:
    """Return whether the cell is of the year asked for, and of a part of it only where one is named."""
    asked = {int(year[-4:]) for year in question.years if year[-4:].isdigit()}
    if asked and cell.period.years != asked:
        return False
    part = word_of("part_of_year", question.text, question.language)
    if part == cell.period.part or (bool(part) and part in cell.head.casefold()):
        return True
    return months_of(part, question.language) == months_of(cell.period.part, line.language) and (
        _ordinals(question.text, question.language)
        <= _ordinals(f"{_over(line)} {cell.period.part}", line.language)
    )


def _ordinals(text: str, language: str) -> set[int]:
    """Return the ordinals of a text: 3 for "the third quarter" and "Q3"."""
    ordinals, words = number_words(language).ordinals, re.findall(r"\w+", text.casefold())
    numbered = {int(word[1]) for word in words if QUARTER.fullmatch(word)}
    return numbered | {ordinals[word] for word in words if word in ordinals}


def _over(line: AnswerLine) -> str:
    """Return the headings, the caption and the document's title over a line."""
    return " ".join((*line.unit.section_path, _caption(line), line.unit.title))


def _is_of_subject(
    cell: CellReading,
    line: AnswerLine,
    question: QuestionFeatures,
    items: Sequence[Item],
    notes: SearchNotes,
    computed: bool,
) -> bool:
    language = line.language
    asked = set(question.terms) - _unspoken(question, notes, language)
    groups = distinct_terms(" ".join(cell.groups), language)
    named = distinct_terms(f"{cell.label} {' '.join(cell.groups)}", language)
    head = distinct_terms(cell.head, language)
    over = head | distinct_terms(_over(line), language)
    if _is_apart_or_part(cell, question, asked, groups, language):
        return False
    label = {term for term in distinct_terms(cell.label, language) if not term.isdigit()}
    is_named = bool(label) and label.issubset(question.terms)
    names = {term for word in question.words if word.is_name for term in word.terms}
    if not has_word("part", question.text, question.language) and (
        (cell.scope == "part" and not is_named)
        or (scope_of("", _over(line), language) == "part" and label.isdisjoint(names))
    ):
        return False
    missing = asked - named - over
    if items:
        narrowed = missing & distinct_terms(" ".join(words_beside(question.text, notes.packs)), language)
        return _is_whole_item(items[0], cell, line) and (computed or not narrowed)
    is_all = is_named and head.issubset(question.terms)
    if "money" in question.kinds and is_all and len(missing) == 1:
        missing = set()  # the verb: "a ticket bought online"
    if missing or label.isdisjoint(question.terms):
        return False
    whole = distinct_terms(" ".join(column_words(language).get("whole", ())), language)
    own = distinct_terms(line.unit.title, language) | distinct_terms(" ".join(COMPANY_FORMS), language)
    return all(map(str.isdigit, named - set(question.terms) - whole - own))


def _is_amount_of_all(meant: _Meant, question: QuestionFeatures, notes: SearchNotes) -> bool:
    """Return whether an amount is the whole of what its name says, by the table that it is in.

    Asked where several tables have such a row.

    True:  "Cost of sales" under "Consolidated income" or "Our cost of sales".
    False: "Cost of sales" under "Stock awards"; "Equipment" for "property, plant and equipment"; "Property"
           beside "Property, net" of another amount.
    """
    cell, line = meant.cell, meant.line
    over = f"{' '.join(line.unit.section_path[-2:])} {_caption(line)}"
    asked = set(question.terms) - _unspoken(question, notes, line.language)
    is_on_subject = not distinct_terms(over, line.language).isdisjoint(question.terms)
    if over.strip() and not is_on_subject and not has_word("whole", over, line.language):
        return False
    rows = read_tables((line.unit, *line.passage.around)).values()
    narrower = re.compile(rf"{re.escape(cell.label)}\s*[,(–—-]", re.I)
    rivals = (other for cells in rows for other in cells if narrower.match(other.label))
    return asked <= distinct_terms(cell.name, line.language) and all(
        other.quantity is None or other.period != cell.period or _agree(cell, other) for other in rivals
    )


def _is_whole_item(item: Item, cell: CellReading, line: AnswerLine) -> bool:
    """Return whether a cell is the pack's item in the statement that states it, and no part of it.

    False: the number of shares under "shares used in computing earnings per share".
    """
    if cell.kind == "rate" and cell.quantity and cell.quantity.dimension != "money":
        return False
    is_part = item.part is not None and item.part.search(name_of_item(line, item))
    return not is_part and item_match([item], line) >= ITEM_STATED


def _is_apart_or_part(
    cell: CellReading, question: QuestionFeatures, asked: Set[str], groups: Set[str], language: str
) -> bool:
    """Return whether a row is set apart from what is asked for, or a part of the group that has its name.

    "Total other assets" for the total assets, "Income before income taxes" for the income taxes;
    "Cash" under "Cash and equivalents" for both together.
    """
    if has_word("apart", cell.label, language) and not has_word("apart", question.text, question.language):
        return True
    is_whole = has_word("whole", cell.label, language) or asked <= distinct_terms(cell.label, language)
    return bool(asked) and asked <= groups and not is_whole


def _lacking(cell: CellReading, question: QuestionFeatures) -> int:
    """Return how many words of the question a cell's name lacks: "diluted" in "Basic earnings per share"."""
    whole = terms_of(" ".join(column_words(question.language).get("whole", ())), question.language)
    return len(set(question.terms).difference(whole, terms_of(cell.name, question.language)))


def _extra(cell: CellReading, question: QuestionFeatures) -> int:
    """Return how many words of the cell's name, beside its period, the question lacks."""
    name = " ".join((cell.label, *cell.groups))
    own = set(terms_of(name, question.language)) - set(question.terms)
    return len(own - set(map(str.lower, COMPANY_FORMS))) + len(_beside_period(cell, question))


def _beside_period(cell: CellReading, question: QuestionFeatures) -> set[str]:
    """Return the terms of a head that are neither of a period nor of the question: "North America"."""
    words = lexicon(question.language)
    periods = " ".join((*words.period, *words.period_end, *month_numbers(question.language)))
    own = {t for t in terms_of(cell.head, question.language) if not any(map(str.isdigit, t))}
    columns = column_words(question.language)
    whole = " ".join((*columns.get("whole", ()), *columns.get("part_of_year", ())))
    return own - set(terms_of(f"{periods} {whole}", question.language)) - set(question.terms)


def _unspoken(question: QuestionFeatures, notes: SearchNotes, language: str) -> frozenset[str]:
    """Return terms that name the document, the period or the way of counting, which no label repeats."""
    said = " ".join((*notes.subject, *question.years, *column_words(language).get("whole", ())))
    periods = " ".join(column_words(question.language).get("part_of_year", ()))
    counted = " ".join((*number_words(question.language).scales, *currency_names(question.language)))
    period = " ".join((*lexicon(question.language).period, *number_words(question.language).ordinals))
    money = " ".join(words_of(question.language, "kinds")["money"])
    return distinct_terms(f"{said} {periods} {counted} {period} {money}", language)


def _caption(line: AnswerLine) -> str:
    return line.unit.table.caption if line.unit.table else ""


def _agree(one: CellReading, other: CellReading) -> bool:
    assert one.quantity is not None and other.quantity is not None
    a, b = abs(one.quantity.base), abs(other.quantity.base)
    return abs(a - b) <= max(a, b) * type(a)(str(AGREE))
