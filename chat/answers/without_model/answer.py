"""The answer without a model: one to three lines, or that no direct answer was found; all cited."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from itertools import groupby, islice
from typing import NamedTuple

from rapidfuzz import fuzz

from chat.answers.prompt import NO_SEARCH_NOTES, ContextItem, SearchNotes, looks_like_injection
from chat.answers.without_model.evidence import central_lines
from chat.answers.without_model.lines import (
    STATED_SCALE,
    AnswerLine,
    CellValue,
    lines_of,
    one_line,
    row_text,
    with_scale,
)
from chat.answers.without_model.question import QuestionFeatures, analyse, message
from chat.answers.without_model.ranking import RankedPage, are_near, rank, type_match
from chat.answers.without_model.relevance import relevance
from chat.citations.claim_spans import claim_before, plain
from chat.citations.claims import Claim
from chat.citations.values.written_values import values_in
from chat.citations.verification.verify import verify_cited
from chat.providers.base import Delta, NativeCitation, TextDelta
from documents.contents import trail
from pdf.structure import Cell
from text.terms import terms_of

# Differences, sums, ratios and growth that a question asks for, computed from the cells an answer cites.

ASKED_SCALE = re.compile(
    r"\bin (?:(?:units of|us|u\.s\.|usd|eur|\$|€|£) ?)*(?P<scale>thousand|million|billion)s?\b", re.I
)
EXPONENTS = {"thousands": 3, "millions": 6, "billions": 9}
Operand = tuple[AnswerLine, CellValue, Decimal]


class Computed(NamedTuple):
    """The formula with its result, and the cells it is computed from."""

    formula: str
    cells: tuple[tuple[AnswerLine, Cell], ...]


def computed_from(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> Computed | None:
    """The value asked for, when the lines give exactly the two cells it needs."""
    if not question.computation:
        return converted(question, lines)
    pair = two_columns(question, lines) or two_rows(question, lines)
    if pair is None:
        return None
    (line, value, a), (other_line, other_value, b) = pair
    scale = f" {line.scale}" if line.scale and line.scale == other_line.scale else ""
    compute: dict[str, Callable[[], str]] = {
        "difference": lambda: f"{_text(value)} − {_text(other_value)} = {_number(a - b)}{scale}",
        "sum": lambda: f"{_text(value)} + {_text(other_value)} = {_number(a + b)}{scale}",
        "ratio": lambda: (
            f"{_text(value)} ÷ {_text(other_value)} = {_number(a / b)} ({_number(100 * a / b)} %)"
        ),
        "growth": lambda: (
            f"({_text(value)} − {_text(other_value)}) ÷ {_text(other_value)}"
            f" = {_number(100 * (a - b) / abs(b))} %"
        ),
    }
    if question.computation in ("ratio", "growth") and not b:
        return None
    name = line.label if line is other_line else f"{line.label} / {other_line.label}"
    heads = " − ".join(dict.fromkeys(v.head for v in (value, other_value) if v.head))
    described = ", ".join(part for part in (name.rstrip(" :."), heads if line is other_line else "") if part)
    return Computed(
        f"{described}: {compute[question.computation]()}",
        ((line, value.cell), (other_line, other_value.cell)),
    )


def converted(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> Computed | None:
    """The one value of the first line in the scale that is asked for, where its table has another."""
    asked = ASKED_SCALE.search(question.text)
    line = lines[0] if lines else None
    stated = STATED_SCALE.fullmatch(line.scale) if line else None
    if line is None or stated is None or asked is None or len(line.values) != 1:
        return None
    scale, number = asked["scale"].lower(), number_of(line.values[0])
    printed = with_scale(_text(line.values[0]), stated)
    if number is None or scale in stated["scale"] or stated["scale"] not in printed + "s":
        return None
    exponent = EXPONENTS[stated["scale"]] - EXPONENTS[f"{scale}s"]
    sign = stated["currency"] or ""
    formula = f"{printed} = {sign}{' ' * (len(sign) > 1)}{_number(number.scaleb(exponent))} {scale}"
    return Computed(f"{line.label.rstrip(' :.')}: {formula}", ((line, line.values[0].cell),))


def two_columns(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> tuple[Operand, Operand] | None:
    """Two years of one row, the later first: the columns that were chosen for the question."""
    for line in lines[:1]:
        named = [(value, min(value.years)) for value in line.values if len(value.years) == 1]
        if len(named) == 2 and named[0][1] != named[1][1]:
            later, earlier = sorted(named, key=lambda pair: pair[1], reverse=True)
            return _operands((line, later[0]), (line, earlier[0]))
    return None


def two_rows(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> tuple[Operand, Operand] | None:
    """One cell of each of two rows, under the same head, whose labels the question names in this order."""
    if len(question.years) > 1:
        return None
    wanted = list(question.terms)
    named = []
    for line in lines:
        own = [
            wanted.index(term)
            for term in dict.fromkeys(terms_of(line.label, line.language))
            if term in wanted
        ]
        if own and len(line.values) == 1:
            named.append((min(own), line, line.values[0]))
    named.sort(key=lambda entry: entry[0])
    if len(named) != 2 or named[0][2].head != named[1][2].head or named[0][0] == named[1][0]:
        return None
    return _operands((named[0][1], named[0][2]), (named[1][1], named[1][2]))


def _operands(*cells: tuple[AnswerLine, CellValue]) -> tuple[Operand, Operand] | None:
    read = [(line, value, number) for line, value in cells if (number := number_of(value)) is not None]
    return (read[0], read[1]) if len(read) == 2 else None


def number_of(value: CellValue) -> Decimal | None:
    """The single number a cell holds; None when it holds none, or several."""
    try:
        numbers = [found.number for found in values_in(value.cell.text)]
    except InvalidOperation:
        return None
    return numbers[0] if len(numbers) == 1 else None


def _text(value: CellValue) -> str:
    return " ".join(value.cell.text.split())


def _number(number: Decimal) -> str:
    text = f"{number:,.4f}" if abs(number) < 1 else f"{number:,.2f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")


MOST_LINES = 3
MOST_LISTED = 10  # items of a list that was asked for
LINES_A_PAGE = 2
LESS_AGAIN = 4  # by which a page's probability is divided for each line it gave: other pages come in turn
WORTH_CITING = 0.08  # least probability, so divided, of a page that gives one more line
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
    title = single_title(passages)
    if question.topic and passages and not any(passage.rank for passage in passages):
        yield from written(central_lines(list(holding(lines_of(question, passages), passages))), title)
        return
    pages = rank(question, lines_of(question, passages), passages, notes.packs)
    chosen = chosen_lines(question, pages, passages)
    judged = relevance(question, [page for page, _ in slots(pages)], passages, notes) if chosen else None
    by_meaning = notes.by_meaning and not notes.absent
    if judged is None or not (judged.is_related or by_meaning) or not any(map(tells, question.terms)):
        yield TextDelta(message(question.language, "none"))
        yield from reasons(question, notes)
    elif not (judged.is_direct or by_meaning):
        yield TextDelta(message(question.language, "closest"))
        yield from reasons(question, notes, judged.lacking)
        yield TextDelta("\n\n")
        yield from written(chosen, title)
    else:
        if result := computed_from(question, chosen):
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
    """At most three lines that hold, none that repeats another.

    A list that is asked for is said whole; a line without the number, date or name that is wanted
    brings the line beside it that has it.
    """
    chosen: list[AnswerLine] = []
    for page, count in slots(pages):
        unsaid = (line for line in page.lines if line.unit.table or is_new(line, chosen))
        held = (line for line in holding(unsaid, passages) if is_new(line, chosen))
        for line in islice(held, count):
            chosen.append(line)  # noqa: PERF402  (what is held depends on what was chosen)
    lines = [line for page in pages for line in page.lines]
    if chosen and "list" in question.kinds and chosen[0].unit.type == "list":
        return list_around(chosen[0], lines)
    return with_neighbour(question, chosen, lines)


def slots(pages: Sequence[RankedPage]) -> list[tuple[RankedPage, int]]:
    """The pages that give lines, best first, with how many: seats shared out by probability, as D'Hondt's."""
    given = [0] * len(pages)
    for _ in range(MOST_LINES if pages else 0):
        worth = [
            page.probability / (1 + LESS_AGAIN * count) if count < min(LINES_A_PAGE, len(page.lines)) else 0.0
            for page, count in zip(pages, given, strict=True)
        ]
        best = max(range(len(pages)), key=worth.__getitem__)
        if any(given) and worth[best] < WORTH_CITING:
            break
        given[best] += 1
    return [(page, count) for page, count in zip(pages, given, strict=True) if count]


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
    ordered = sorted(same, key=lambda other: (other.unit.page, other.unit.char_start, other.place))
    start = max(0, ordered.index(line) - MOST_LISTED // 2) if len(ordered) > MOST_LISTED else 0
    return ordered[start : start + MOST_LISTED]


def with_neighbour(
    question: QuestionFeatures, chosen: list[AnswerLine], lines: Sequence[AnswerLine]
) -> list[AnswerLine]:
    """The lines, and after the first the one beside it when only that has what the question wants."""
    if not chosen or type_match(question, chosen[0]) > 0 or any(type_match(question, c) for c in chosen):
        return chosen
    first = chosen[0]
    near = [other for other in lines if other is not first and are_near(first, other)]
    near = [other for other in near if type_match(question, other) > 0 and abs(_at(other) - _at(first)) < 600]
    if not near:
        return chosen
    nearest = min(near, key=lambda other: (abs(_at(other) - _at(first)), _at(other) < _at(first)))
    return [first, nearest, *chosen[1 : MOST_LINES - 1]]


def _at(line: AnswerLine) -> int:
    return line.unit.char_start + line.place


def is_new(line: AnswerLine, chosen: Sequence[AnswerLine]) -> bool:
    return not any(says_the_same(line.text, other.text) for other in chosen)


def says_the_same(text: str, other: str) -> bool:
    """The same words and the same numbers."""
    return fuzz.ratio(text, other) >= SAME_WORDS and _DIGITS.findall(text) == _DIGITS.findall(other)


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
    """Ways to say a line, best first: a row's scale with each value, beside its label, its bare words."""
    yield line
    if line.values and line.scale:
        quote = line.values[0].cell.text if len(line.values) == 1 else ""
        for scale in (line.scale, ""):
            text = row_text(line.label, line.values, scale, spoken=False)
            yield replace(line, text=text, quote=quote)
    if line.unit.table:
        text = one_line(line.unit.text)
        yield replace(line, text=text, quote=text)


def computation(question: QuestionFeatures, result: Computed) -> Iterator[Delta]:
    """The computed value with its formula, citing every cell it is computed from."""
    yield TextDelta(f"{message(question.language, 'computed')}: {escaped(result.formula)}")
    for line, cell in result.cells:
        yield NativeCitation(line.passage.alias, one_line(cell.text))
    yield TextDelta("\n\n")


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
