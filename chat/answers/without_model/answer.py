"""The answer without a model: one to three lines, or that no direct answer was found; all cited."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import groupby, islice, takewhile
from typing import NamedTuple

from rapidfuzz import fuzz

from chat.answers.prompt import NO_SEARCH_NOTES, ContextItem, Prompt, SearchNotes, looks_like_injection
from chat.answers.without_model.answer_types import in_order, type_match
from chat.answers.without_model.evidence import central_lines, lines_of_section, lines_under_title
from chat.answers.without_model.lines import (
    PER_UNIT,
    AnswerLine,
    CellValue,
    distinct_terms,
    escaped,
    has_content,
    is_naked,
    is_step,
    lines_of,
    measured,
    printed_row,
    row_line,
    same_columns,
    with_marks,
    written_number,
)
from chat.answers.without_model.question import QuestionFeatures, analyse, asks_something, message
from chat.answers.without_model.ranking import RankedPage, TermWeights, rank, relevance, worth_citing
from chat.providers.base import Delta, NativeCitation, StreamEnd, TextDelta
from citing.claim_spans import claim_before, plain
from citing.claims import Claim
from citing.verdict import verify_cited
from documents.contents import trail
from text.measures import Measure, measure_of
from text.quantities import quantities_in
from text.terms import one_line
from text.units import units_by_symbol

NAME = "extractive"
MOST_LINES = 3
MOST_OF_DOCUMENT = 5  # of a summary, of findings, risks, obligations, steps
MOST_NAMED = 4  # missing words that an answer names
MOST_LISTED = 10  # items of a list that was asked for
NEAR = 600  # characters between a line and one that completes it
LONGEST_HEADING = 90  # characters of two sections' names; of longer ones only the last is given
SAME_WORDS = 90  # fuzz.ratio above which two lines are equal
LEAD_IN = re.compile(r"[:：—–]\W*$")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Extractive:
    """The provider that answers without a model; see ``chat.providers.base.Provider``."""

    name: str = NAME
    model: str = ""
    passages: int = 400
    rewrites: bool = False
    is_local: bool = True
    sees: bool = False

    def stream(self, prompt: Prompt) -> Iterator[Delta]:
        yield from answer_without_model(prompt.question, prompt.passages, prompt.notes)
        yield StreamEnd()


def answer_without_model(
    text: str, passages: Sequence[ContextItem], notes: SearchNotes = NO_SEARCH_NOTES
) -> Iterator[Delta]:
    """Yield the answer in Markdown with its citations; every cited line is in a passage word for word."""
    question = analyse(text, list(dict.fromkeys(passage.unit.language for passage in passages)))
    lines = lines_of(question, passages)
    title = single_title(passages)
    if question.topic and passages and not any(passage.rank for passage in passages):
        most = MOST_LINES if question.topic == "about" else MOST_OF_DOCUMENT
        return (yield from written(central_lines(list(verified_lines(lines, passages)), most), title))
    if section := lines_of_section(question, lines):
        most = MOST_LISTED if section[0].unit.type in ("list", "table") else MOST_LINES
        return (yield from written(list(islice(verified_lines(section, passages), most)), title))
    if not notes.absent and (titled := lines_under_title(question, lines, TermWeights(passages))):
        return (yield from written(list(islice(verified_lines(titled, passages), MOST_LISTED)), title))
    pages = rank(question, lines, passages, notes.packs)
    chosen = chosen_lines(question, pages, passages)
    judged = relevance(question, pages, notes, chosen) if chosen else None
    by_meaning = notes.by_meaning and not notes.absent
    is_direct = judged is not None and not question.topic and (judged.is_direct or by_meaning)
    if not is_direct:
        chosen = [line for line in chosen if line.values or len(line.terms) > 1]
    if judged is None or not chosen or not (judged.is_related or by_meaning) or not asks_something(question):
        yield TextDelta(message(question.language, "none"))
        yield from reasons(question, notes)
        return
    if not is_direct:
        yield TextDelta(message(question.language, "closest"))
        yield from reasons(question, notes, judged.lacking)
        yield TextDelta("\n\n")
    else:
        if missing := "".join(delta.text for delta in reasons(question, notes)).strip():
            yield TextDelta(f"{missing}\n\n")
        if result := computed_from(question, chosen):
            yield from computation(question, *result)
    yield from written(chosen, title)


def reasons(
    question: QuestionFeatures, notes: SearchNotes, lacking: Sequence[str] = ()
) -> Iterator[TextDelta]:
    """Yield which words of the question the documents lack, where that is known."""
    lacking = [name for name in lacking if name not in notes.absent]
    for key, names in (("absent", notes.absent), ("lacking", lacking)):
        if names:
            more = ", …" if len(names) > MOST_NAMED else ""
            words = ", ".join(f"“{escaped(word)}”" for word in names[:MOST_NAMED]) + more
            yield TextDelta(f" {message(question.language, key).format(words=words)}")
    if notes.foreign and not notes.by_meaning:
        other_language = message(question.language, "other_language").format(language=notes.foreign)
        yield TextDelta(f" {other_language}")


def chosen_lines(
    question: QuestionFeatures, pages: Sequence[RankedPage], passages: Sequence[ContextItem]
) -> list[AnswerLine]:
    """Return the best verified line of each page that is likely to answer, at most three, without repetition.

    A list that is asked for is given whole. The best page gives a second line where that adds the other row
    of a comparison, or the number, date or name that its first line lacks.
    """
    chosen: list[AnswerLine] = []
    for page in worth_citing(pages):
        chosen += islice((line for line in verified_lines(page.lines, passages) if is_new(line, chosen)), 1)
    if not chosen:
        return []
    if chosen[0].unit.type == "list" and ("list" in question.kinds or asks_for_steps(question, chosen[0])):
        return list_around(chosen[0], [line for page in pages for line in page.lines])
    beside = (line for line in pages[0].lines if adds(question, chosen[0], line) and is_new(line, chosen))
    more = next(verified_lines(beside, passages), None)
    chosen = [chosen[0], *([more] if more else []), *chosen[1:]][:MOST_LINES]
    every = [line for page in pages for line in page.lines]
    led = [*verified_lines(led_in(chosen[0], every), passages)]
    return [chosen[0], *led, *(line for line in chosen[1:] if line not in led)]


def led_in(line: AnswerLine, lines: Sequence[AnswerLine]) -> list[AnswerLine]:
    """Return the list items below a line that ends with a colon, or the one line that follows it."""
    if line.values or not LEAD_IN.search(line.text):
        return []
    after = sorted((other for other in lines if is_below(other, line)), key=in_order)
    if after and after[0].unit.type != "list":
        return after[:1]
    return list(takewhile(lambda other: other.unit.type == "list", after))[:MOST_LISTED]


def is_below(line: AnswerLine, other: AnswerLine) -> bool:
    """Return whether a line is below another in its section, on its page or the next."""
    one, two = line.unit, other.unit
    same = one.document == two.document and one.section_path == two.section_path
    return same and one.page - two.page in (0, 1) and in_order(line) > in_order(other)


def adds(question: QuestionFeatures, first: AnswerLine, line: AnswerLine) -> bool:
    """Return whether a line of the same page has what the question asks for and the first line lacks."""
    if first.values and line.values and (question.computation or "compare" in question.kinds):
        asked = set(question.terms)
        return same_columns(first, line) and bool(asked & set(line.label_terms) - set(first.label_terms))
    near = abs(first.start - line.start) < NEAR and not first.values
    return near and type_match(question, first) == 0 < type_match(question, line)


def asks_for_steps(question: QuestionFeatures, line: AnswerLine) -> bool:
    """Return whether the question asks for steps, and the line is one under a heading that names them."""
    over = distinct_terms(" ".join(line.unit.section_path), line.language)
    return "how" in question.kinds and is_step(line) and not over.isdisjoint(question.terms)


def list_around(line: AnswerLine, lines: Sequence[AnswerLine]) -> list[AnswerLine]:
    """Return the items of the line's list, in order."""
    same = [
        other
        for other in lines
        if other.unit.type == "list"
        and is_step(other) == is_step(line)
        and other.unit.section_path == line.unit.section_path
        and abs(other.unit.page - line.unit.page) <= 1
        and other.unit.document == line.unit.document
    ]
    ordered = sorted(same, key=in_order)
    start = max(0, ordered.index(line) - MOST_LISTED // 2) if len(ordered) > MOST_LISTED else 0
    return ordered[start : start + MOST_LISTED]


def is_new(line: AnswerLine, chosen: Sequence[AnswerLine]) -> bool:
    """Return whether no chosen line has the same words and the same numbers."""
    numbers = _DIGITS.findall(line.text)
    alike = (other for other in chosen if fuzz.ratio(line.text, other.text) >= SAME_WORDS)
    return all(_DIGITS.findall(other.text) != numbers for other in alike)


def verified_lines(lines: Iterable[AnswerLine], passages: Sequence[ContextItem]) -> Iterator[AnswerLine]:
    """Yield lines that the verifier finds on the page as written; else the unit word for word."""
    shown = [passage.unit for passage in passages]
    for line in lines:
        for version in versions_of(line):
            written_line = bullet(version.text)
            span = claim_before(written_line, version.quote)
            claim = Claim(plain(written_line[span.start : span.end]), version.quote)
            if verify_cited(claim, line.unit, line.passage.around, shown).supported:
                yield version
                break


def versions_of(line: AnswerLine) -> Iterator[AnswerLine]:
    """Yield the versions of a line, best first: a row's values with the table's scale, then as printed.

    Values without heads are left out.
    """
    if is_naked(line):
        return
    if line.values:
        if line.measure:
            yield row_line(line, line.measure)
        yield row_line(line)
    elif line.unit.table and has_content(line.unit.text):
        text = printed_row(line.unit.table)
        yield line
        yield replace(line, text=text, quote=text)
    else:
        yield line


def single_title(passages: Sequence[ContextItem]) -> str:
    """Return the title of the only document searched, which headings omit; else ''."""
    titles = {passage.unit.document: passage.unit.title for passage in passages}
    return next(iter(titles.values())) if len(titles) == 1 else ""


def written(chosen: Sequence[AnswerLine], known_title: str = "") -> Iterator[Delta]:
    """Yield the lines under their document and section, where these differ, in the order of the lines."""
    order = {heading_of(line): index for index, line in reversed(list(enumerate(chosen)))}
    for (title, section), group in groupby(
        sorted(chosen, key=lambda line: order[heading_of(line)]), key=heading_of
    ):
        parts = [escaped(part) for part in dict.fromkeys((title, section)) if part and part != known_title]
        if parts:
            yield TextDelta(f"#### {' · '.join(parts)}\n\n")
        for line in group:
            yield TextDelta(bullet(line.text))
            yield NativeCitation(line.passage.alias, line.quote)
            yield TextDelta("\n")
        yield TextDelta("\n")


def heading_of(line: AnswerLine) -> tuple[str, str]:
    """Return the document's title and the section of a line (its page when it has none)."""
    unit = line.unit
    path = unit.section_path[-2:]
    section = trail(path, unit.title) or trail(path)
    section = section if len(section) <= LONGEST_HEADING else trail(path[-1:])
    page = f"page {unit.page}"
    title = "" if looks_like_injection(unit.title) else unit.title
    return title, page if looks_like_injection(section) else section or page


def bullet(text: str) -> str:
    """Return one line of a list."""
    return f"- {escaped(text)}"


# Differences, sums, ratios and growth that a question asks for, computed from the cells an answer cites.

ASKED_MEASURE = re.compile(r"\b(?:in|en|em) ((?:(?:units of|us|usd|eur|[$€£]) ?)*[^\W\d_]{2,})", re.I)


class Operand(NamedTuple):
    """A cell with a single number; ``base``: in base units, ``measure``: the printed unit."""

    line: AnswerLine
    value: CellValue
    base: Decimal
    measure: Measure
    is_plain: bool  # the cell itself has neither scale nor unit, at most a currency

    @property
    def text(self) -> str:
        return one_line(self.value.cell.text)


Computed = tuple[str, tuple[Operand, ...]]
"""The formula with its result, and the cells it is computed from."""


def computed_from(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> Computed | None:
    """Return the value asked for, when the lines give exactly the two cells it needs."""
    if not question.computation:
        return converted(question, lines[0])
    pair = two_columns(lines[0]) or two_rows(question, lines)
    if pair is None or not fit_together(*pair):
        return None
    one, other = pair
    x, y, language = one.base, other.base, one.line.language
    a, b = (described(cell) if one.measure != other.measure else cell.text for cell in pair)
    own = sorted((one.measure, other.measure), key=size, reverse=True)
    measure = asked_measure(question, one)
    match question.computation:
        case "difference":
            measure = measure or next((m for m in own if abs(x - y) >= size(m)), own[-1])
            formula = f"{a} − {b} = {amount(x - y, measure, language)}"
        case "sum":
            formula = f"{a} + {b} = {amount(x + y, measure or own[0], language)}"
        case "ratio":
            share = written_number(100 * x / y, language)
            formula = f"{a} ÷ {b} = {written_number(x / y, language)} ({share} %)"
        case _:
            formula = f"({a} − {b}) ÷ {b} = {written_number(100 * (x - y) / abs(y), language)} %"
    names = dict.fromkeys(cell.line.label.rstrip(" :.") for cell in pair)
    heads = dict.fromkeys(cell.value.head for cell in pair if cell.value.head)
    over = ", ".join(filter(None, (" / ".join(names), " / ".join(heads))))
    return f"{over}: {formula}", pair


def converted(question: QuestionFeatures, line: AnswerLine) -> Computed | None:
    """Return the only value of the line in the scale or unit asked for, where its table has another."""
    operand = operand_of(line) if len(line.values) == 1 else None
    measure = operand and asked_measure(question, operand)
    if operand is None or measure is None or size(operand.measure) in (1, size(measure)):
        return None
    formula = f"{described(operand)} = {amount(operand.base, measure, line.language)}"
    over = ", ".join(filter(None, (line.label.rstrip(" :."), operand.value.head)))
    return f"{over}: {formula}", (operand,)


def asked_measure(question: QuestionFeatures, operand: Operand) -> Measure | None:
    """Return the scale or unit of a question ("in billions", "in hours"), where it fits the cell."""
    units, of = units_by_symbol(), operand.measure
    for asked in ASKED_MEASURE.findall(question.text):
        named = measure_of(asked, question.language)
        found = named.measure if named else Measure()
        if found.symbol and of.symbol and units[found.symbol].dimension == units[of.symbol].dimension:
            return found
        if found.scale > 1 and not of.symbol:
            return replace(of, scale=found.scale)
    return None


def two_columns(line: AnswerLine) -> tuple[Operand, Operand] | None:
    """Return two years of one row, the later first: the columns chosen for the question."""
    dated = sorted((min(value.years), at) for at, value in enumerate(line.values) if len(value.years) == 1)
    if len(dated) != 2 or dated[0][0] == dated[1][0]:
        return None
    later, earlier = operand_of(line, dated[1][1]), operand_of(line, dated[0][1])
    return (later, earlier) if later and earlier else None


def two_rows(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> tuple[Operand, Operand] | None:
    """Return a cell of each of two rows, of the same period, in the order the question names their labels."""
    wanted = list(question.terms)
    named = sorted(
        (min(own), at)
        for at, line in enumerate(lines)
        if len(line.values) == 1 and (own := [wanted.index(t) for t in line.label_terms if t in wanted])
    )
    if len(question.years) > 1 or len(named) != 2 or named[0][0] == named[1][0]:
        return None
    first, second = (lines[at] for _, at in named)
    one, other = operand_of(first), operand_of(second)
    return (one, other) if one and other and same_columns(first, second) else None


def fit_together(one: Operand, other: Operand) -> bool:
    """Return whether two cells are comparable: one currency, units of one dimension, or no unit."""
    units = units_by_symbol()
    dimensions = [units[m.symbol].dimension if m.symbol else m.currency for m in (one.measure, other.measure)]
    is_named = one.measure.currency or (size(one.measure) == 1) == (size(other.measure) == 1)
    return dimensions[0] == dimensions[1] and bool(is_named)


def operand_of(line: AnswerLine, at: int = 0) -> Operand | None:
    """Return a cell with a single number, in the unit of the cell, its column head or its table."""
    value, language = line.values[at], line.language
    found = quantities_in(value.cell.text, language)
    if len(found) != 1 or found[0].dimension in ("year", "date", "ordinal", "temperature"):
        return None
    quantity, printed, table = found[0], found[0].value / found[0].scale, line.measure or Measure()
    if not PER_UNIT.search(line.label):
        head = measure_of(value.head, language)
        quantity = (head.measure.over(table) if head else table).applied(quantity)
    if not printed:
        return None
    measure = Measure(symbol=quantity.unit)
    if quantity.dimension in ("", "money"):
        measure = Measure(quantity.base / printed, quantity.unit)
    is_plain = found[0].scale == 1 and found[0].dimension in ("", "money")
    return Operand(line, value, quantity.base, measure, is_plain)


def size(measure: Measure) -> Decimal:
    """Return one of the measure in base units."""
    return units_by_symbol()[measure.symbol].factor if measure.symbol else measure.scale


def described(operand: Operand) -> str:
    """Return a cell's number with its currency, scale and unit: ``€1.2 billion``."""
    number = operand.base / size(operand.measure)
    text = f"{number:,.{max(0, -int(number.as_tuple().exponent))}f}"
    language = operand.line.language
    text = with_marks(text, language)
    return measured(text, operand.measure, language) if operand.is_plain else operand.text


def amount(base: Decimal, measure: Measure, language: str) -> str:
    return measured(written_number(base / size(measure), language), measure, language)


def computation(question: QuestionFeatures, formula: str, cells: Sequence[Operand]) -> Iterator[Delta]:
    """Yield the computed value with its formula, citing every cell it is computed from."""
    yield TextDelta(f"{message(question.language, 'computed')}:\n\n{bullet(formula)}")
    for operand in cells:
        yield NativeCitation(operand.line.passage.alias, operand.text)
    yield TextDelta("\n\n")
