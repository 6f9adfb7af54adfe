"""The answer without a model: one to three lines, or that no direct answer was found; all cited."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from itertools import groupby
from typing import NamedTuple

from rapidfuzz import fuzz

from chat.answers.context import headed_row
from chat.answers.prompt import NO_SEARCH_NOTES, ContextItem, SearchNotes, looks_like_injection
from chat.answers.without_model.evidence import central_lines
from chat.answers.without_model.lines import (
    STATED_SCALE,
    AnswerLine,
    CellValue,
    lines_of,
    one_line,
    row_lines,
    row_text,
    says_something,
    with_scale,
)
from chat.answers.without_model.question import QuestionFeatures, analyse, message
from chat.answers.without_model.ranking import RankedPage, rank, relevance, type_match, worth_citing
from chat.citations.claim_spans import claim_before, plain
from chat.citations.claims import Claim
from chat.citations.values.written_values import values_in
from chat.citations.verification.verify import verify_cited
from chat.providers.base import Delta, NativeCitation, TextDelta
from documents.contents import trail

MOST_LINES = 3
MOST_LISTED = 10  # items of a list that was asked for
NEAR = 600  # characters between two lines of which the second says what the first lacks
LONGEST_HEADING = 90  # characters of two sections' names; longer ones give the last
SAME_WORDS = 90  # fuzz.ratio above which two lines say the same
_DIGITS = re.compile(r"\d+")
# Only what Markdown would take for markup; a lone bracket or an ampersand is none (CommonMark 0.31).
_MARKDOWN = re.compile(r"([\\`*<]|(?<!\w)_|_(?!\w)|~(?=~)|&(?=[#\w]+;)|\[(?=[^\]]*\]\())")
_LINE_HEAD = re.compile(r"^(\s*)(?:([#+>-])|(\d{1,9})([.)])(?=\s|$))")


def answer_without_model(
    text: str, passages: Sequence[ContextItem], notes: SearchNotes = NO_SEARCH_NOTES
) -> Iterator[Delta]:
    """The answer in Markdown with its citations; every cited line stands in a passage word for word."""
    question = analyse(text, list(dict.fromkeys(passage.unit.language for passage in passages)))
    lines = lines_of(question, passages)
    title = single_title(passages)
    if question.topic and passages and not any(passage.rank for passage in passages):
        yield from written(central_lines(list(holding(lines, passages))), title)
        return
    pages = rank(question, lines, passages, notes.packs)
    chosen = chosen_lines(question, pages, passages)
    judged = relevance(question, pages, notes) if chosen else None
    by_meaning = notes.by_meaning and not notes.absent
    if judged is None or not (judged.is_related or by_meaning) or not any(map(tells, question.terms)):
        yield TextDelta(message(question.language, "none"))
        yield from reasons(question, notes)
        return
    if not (judged.is_direct or by_meaning):
        yield TextDelta(message(question.language, "closest"))
        yield from reasons(question, notes, judged.lacking)
        yield TextDelta("\n\n")
    elif result := computed_from(question, chosen):
        yield from computation(question, result)
    yield from written(chosen, title)


def tells(term: str) -> bool:
    """Whether a term is more than a greeting: three letters, a number, or a word without spaces."""
    return len(term) > 2 or term.isdigit() or not term.isascii()


def reasons(question: QuestionFeatures, notes: SearchNotes, lacking: Sequence[str] = ()) -> Iterator[Delta]:
    """Why no direct answer was found, where that is known."""
    lacking = [name for name in lacking if name not in notes.absent]
    for key, names in (("absent", notes.absent), ("lacking", lacking)):
        if names:
            words = ", ".join(f"“{escaped(word)}”" for word in names[:MOST_LISTED])
            yield TextDelta(f" {message(question.language, key).format(words=words)}")
    if notes.foreign and not notes.by_meaning:
        said = message(question.language, "other_language").format(language=notes.foreign)
        yield TextDelta(f" {said}")


def chosen_lines(
    question: QuestionFeatures, pages: Sequence[RankedPage], passages: Sequence[ContextItem]
) -> list[AnswerLine]:
    """The best line that holds of each page that may well answer, at most three; none repeats another.

    A list that is asked for is said whole. The best page gives a second line where that adds what was
    asked: the other row of a comparison, or the number, date or name that its first line lacks.
    """
    chosen: list[AnswerLine] = []
    for page in worth_citing(pages):
        lines = (with_years(question, line) for line in page.lines)
        held = (line for line in holding(lines, passages) if is_new(line, chosen))
        chosen += [line for line, _ in zip(held, range(1), strict=False)]
    if not chosen:
        return []
    if "list" in question.kinds and chosen[0].unit.type == "list":
        return list_around(chosen[0], [line for page in pages for line in page.lines])
    best = (with_years(question, line) for line in pages[0].lines)
    beside = (line for line in best if adds(question, chosen[0], line) and is_new(line, chosen))
    more = next(holding(beside, passages), None)
    return [chosen[0], *([more] if more else []), *chosen[1:]][:MOST_LINES]


def is_naked(line: AnswerLine) -> bool:
    """Whether a row has several values of which nothing says what each is of."""
    return len(line.values) > 1 and not all(line.heads)


def with_years(question: QuestionFeatures, line: AnswerLine) -> AnswerLine:
    """A row without heads under the years printed above its columns, where there are some."""
    unit, passage = line.unit, line.passage
    if unit.table is None or not is_naked(line):
        return line
    row = headed_row(unit.table, [unit, *passage.around], {})
    return next(row_lines(question, replace(passage, unit=replace(unit, table=row)), row), line)


def adds(question: QuestionFeatures, first: AnswerLine, line: AnswerLine) -> bool:
    """Whether a line of the same page says what the question asks for and the first line does not."""
    if first.values and line.values and (question.computation or "compare" in question.kinds):
        asked = set(question.terms)
        return first.heads == line.heads and bool(asked & set(line.label_terms) - set(first.label_terms))
    near = abs(first.start - line.start) < NEAR and not first.values
    return near and type_match(question, first) == 0 and type_match(question, line) > 0


def list_around(line: AnswerLine, lines: Sequence[AnswerLine]) -> list[AnswerLine]:
    """The items of the list that the line stands in, in order."""
    same = [
        other
        for other in lines
        if other.unit.type == "list"
        and other.unit.section_path == line.unit.section_path
        and abs(other.unit.page - line.unit.page) <= 1
        and other.unit.document == line.unit.document
    ]
    ordered = sorted(same, key=lambda other: (other.unit.page, other.start))
    start = max(0, ordered.index(line) - MOST_LISTED // 2) if len(ordered) > MOST_LISTED else 0
    return ordered[start : start + MOST_LISTED]


def is_new(line: AnswerLine, chosen: Sequence[AnswerLine]) -> bool:
    """Whether no chosen line has the same words and the same numbers."""
    return not any(
        fuzz.ratio(line.text, other.text) >= SAME_WORDS
        and _DIGITS.findall(line.text) == _DIGITS.findall(other.text)
        for other in chosen
    )


def holding(lines: Iterable[AnswerLine], passages: Sequence[ContextItem]) -> Iterator[AnswerLine]:
    """Lines that the verifier finds on the page as they are written; else the unit word for word."""
    shown = [passage.unit for passage in passages]
    for line in lines:
        for version in versions_of(line):
            written_line = bullet(version.text)
            span = claim_before(written_line)
            claim = Claim(plain(written_line[span.start : span.end]), version.quote)
            if verify_cited(claim, line.unit, line.passage.around, shown).supported:
                yield version
                break


def versions_of(line: AnswerLine) -> Iterator[AnswerLine]:
    """Ways to say a line, best first: a row's scale with each value, beside its label, not at all.

    Values of which nothing says what each is of are not said.
    """
    if is_naked(line):
        return
    yield line
    if line.values and line.scale:
        quote = line.values[0].cell.text if len(line.values) == 1 else ""
        for scale in (line.scale, ""):
            yield replace(line, text=row_text(line.label, line.values, scale, spoken=False), quote=quote)
    elif line.unit.table and not line.values and says_something(line.unit.text):
        text = one_line(line.unit.text)
        yield replace(line, text=text, quote=text)


def single_title(passages: Sequence[ContextItem]) -> str:
    """The title of the only document that was searched; a heading need not repeat it."""
    titles = {passage.unit.document: passage.unit.title for passage in passages}
    return next(iter(titles.values())) if len(titles) == 1 else ""


def written(chosen: Sequence[AnswerLine], known_title: str = "") -> Iterator[Delta]:
    """Lines under their document and section where these tell something; groups in the order of the lines."""
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
    """The document's title, and the section a line stands in (its page when it has none)."""
    unit = line.unit
    path = unit.section_path[-2:]
    section = trail(path, unit.title) or trail(path)
    section = section if len(section) <= LONGEST_HEADING else trail(path[-1:])
    page = f"page {unit.page}"
    title = "" if looks_like_injection(unit.title) else unit.title
    return title, page if looks_like_injection(section) else section or page


def bullet(text: str) -> str:
    """One line of a list."""
    return f"- {escaped(text)}"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    text = _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
    return _LINE_HEAD.sub(lambda m: f"{m[1]}\\{m[2]}" if m[2] else f"{m[1]}{m[3]}\\{m[4]}", text)


# Differences, sums, ratios and growth that a question asks for, computed from the cells an answer cites.

ASKED_SCALE = re.compile(
    r"\bin (?:(?:units of|us|u\.s\.|usd|eur|\$|€|£) ?)*(?P<scale>thousand|million|billion)s?\b", re.I
)
EXPONENTS = {"thousand": 3, "million": 6, "billion": 9}


class Operand(NamedTuple):
    line: AnswerLine
    value: CellValue
    number: Decimal

    @property
    def text(self) -> str:
        return one_line(self.value.cell.text)


class Computed(NamedTuple):
    """The formula with its result, and the cells it is computed from."""

    formula: str
    cells: tuple[Operand, ...]


def computed_from(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> Computed | None:
    """The value asked for, when the lines give exactly the two cells it needs."""
    if not question.computation:
        return converted(question, lines[0])
    pair = two_columns(lines[0]) or two_rows(question, lines)
    if pair is None or (question.computation in ("ratio", "growth") and not pair[1].number):
        return None
    (a, x), (b, y) = ((operand.text, operand.number) for operand in pair)
    one, other = pair[0].line, pair[1].line
    scale = f" {one.scale}" if one.scale and one.scale == other.scale else ""
    match question.computation:
        case "difference":
            formula = f"{a} − {b} = {_number(x - y)}{scale}"
        case "sum":
            formula = f"{a} + {b} = {_number(x + y)}{scale}"
        case "ratio":
            formula = f"{a} ÷ {b} = {_number(x / y)} ({_number(100 * x / y)} %)"
        case _:
            formula = f"({a} − {b}) ÷ {b} = {_number(100 * (x - y) / abs(y))} %"
    names = dict.fromkeys(operand.line.label.rstrip(" :.") for operand in pair)
    heads = dict.fromkeys(operand.value.head for operand in pair if one is other and operand.value.head)
    described = ", ".join(filter(None, (" / ".join(names), " − ".join(heads))))
    return Computed(f"{described}: {formula}", pair)


def converted(question: QuestionFeatures, line: AnswerLine) -> Computed | None:
    """The one value of the line in the scale that is asked for, where its table has another."""
    asked = ASKED_SCALE.search(question.text)
    stated = STATED_SCALE.fullmatch(line.scale)
    operand = _operand(line) if asked and stated and len(line.values) == 1 else None
    if asked is None or stated is None or operand is None:
        return None
    scale, own = asked["scale"].lower(), stated["scale"].removesuffix("s")
    printed = with_scale(operand.text, stated)
    if scale == own or own not in printed:
        return None
    sign = stated["currency"] or ""
    number = _number(operand.number.scaleb(EXPONENTS[own] - EXPONENTS[scale]))
    formula = f"{printed} = {sign}{' ' * (len(sign) > 1)}{number} {scale}"
    return Computed(f"{line.label.rstrip(' :.')}: {formula}", (operand,))


def two_columns(line: AnswerLine) -> tuple[Operand, Operand] | None:
    """Two years of one row, the later first: the columns that were chosen for the question."""
    dated = sorted((min(value.years), at) for at, value in enumerate(line.values) if len(value.years) == 1)
    if len(dated) != 2 or dated[0][0] == dated[1][0]:
        return None
    return _pair(_operand(line, dated[1][1]), _operand(line, dated[0][1]))


def two_rows(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> tuple[Operand, Operand] | None:
    """One cell of each of two rows, under the same head, whose labels the question names in this order."""
    wanted = list(question.terms)
    named = [
        (min(own), at, line)
        for at, line in enumerate(lines)
        if len(line.values) == 1 and (own := [wanted.index(t) for t in line.label_terms if t in wanted])
    ]
    named.sort()
    if len(question.years) > 1 or len(named) != 2 or named[0][0] == named[1][0]:
        return None
    (_, _, first), (_, _, second) = named
    return _pair(_operand(first), _operand(second)) if first.heads == second.heads else None


def _pair(first: Operand | None, second: Operand | None) -> tuple[Operand, Operand] | None:
    return (first, second) if first and second else None


def _operand(line: AnswerLine, at: int = 0) -> Operand | None:
    """A cell of the line that holds a single number."""
    try:
        numbers = [found.number for found in values_in(line.values[at].cell.text)]
    except InvalidOperation:
        return None
    return Operand(line, line.values[at], numbers[0]) if len(numbers) == 1 else None


def _number(number: Decimal) -> str:
    text = f"{number:,.4f}" if abs(number) < 1 else f"{number:,.2f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")


def computation(question: QuestionFeatures, result: Computed) -> Iterator[Delta]:
    """The computed value with its formula, citing every cell it is computed from."""
    yield TextDelta(f"{message(question.language, 'computed')}: {escaped(result.formula)}")
    for operand in result.cells:
        yield NativeCitation(operand.line.passage.alias, operand.text)
    yield TextDelta("\n\n")
