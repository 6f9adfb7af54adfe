"""Split units into answer lines: sentences, list items, captions, and table rows with their heads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from chat.answers.prompt import ContextItem, looks_like_injection
from chat.answers.without_model.question import (
    NamedPlace,
    QuestionFeatures,
    caption_pattern,
    place_words,
)
from citing.claims import SourceUnit
from citing.tables import CellReading, read_tables
from pdf.gc_control import cleared_with_memory
from pdf.structure import Cell, TableRow, section_type
from text.numbers import YEAR_DIGITS
from text.sentences import sentence_spans
from text.terms import one_line, terms_of
from text.values import SCALE_WORD

LONGEST_LINE = 700  # characters; longer text is a list that lost its line ends
LEAST_LETTERS = 4  # minimum letters of a line with content
MOST_COLUMNS = 4  # columns given of a wide table when the question names none
LABEL_AMOUNT = re.compile(rf"\s[$€£¥₹]? ?(?!{YEAR_DIGITS}$)\d[\d.,]{{2,}}$")
DIGIT = re.compile(r"\d")
# The sign of a check box says whether the item was chosen: it is no bullet.
BULLET = re.compile(r"^[^\w\s$€£¥(\[\"'“„«「『☐☑☒✓✔✗✘]+\s*")
IDEOGRAPHS = re.compile(r"[\u3040-\u9fff]{2}")
LONGEST_TITLE = 60  # characters
ENTRY = re.compile(r"\W*(?P<label>[^\W\d_][^:.!?：]{0,50}[^\s:.!?：]) ?[:：] ?(?P<value>\S.*)")
"""A line “label: value”."""
CLOSED_END = re.compile(r"[.!?。！？:;%\d—–]\W*$")
QUESTION_END = re.compile(r"[?？؟]\W*$")
DOT_LEADERS = re.compile(r"(?:\. ?){5}")
LIST_NUMBER = re.compile(r"(?:\d{1,2}|[A-Za-z])[.)]")
REFERENCE = re.compile(r"(?<=[.!?。])\s*\([^()]{1,12}\)$")  # after the last sentence: "(C6)"
SENTENCE_END = re.compile(r"\w[.!?。](?:\s*\([^()]{1,12}\))?$")

# Only what is markup in Markdown; a lone bracket or an ampersand is not (CommonMark 0.31).
_MARKDOWN = re.compile(r"([\\`*<]|(?<!\w)_|_(?!\w)|~(?=~)|&(?=[#\w]+;)|\[(?=[^\]]*\]\())")
_LINE_HEAD = re.compile(r"^(\s*)(?:([#+>-])|(\d{1,9})([.)])(?=\s|$))")


@dataclass(frozen=True)
class AnswerLine:
    """One possible line of an answer.

    Attributes:
        text: what is shown: words of the page, or a row with its heads and its unit.
        quote: the words to mark on the page; empty lets the verifier find the values of ``text``.
        place: number of the line in its unit, from 0.
        label, values: of a table row with values, those that the question asks for; empty for all others.
        cells: all cells of the row.
    """

    passage: ContextItem
    text: str
    quote: str
    place: int = 0
    label: str = ""
    values: tuple[CellReading, ...] = ()
    cells: tuple[CellReading, ...] = ()

    @property
    def unit(self) -> SourceUnit:
        return self.passage.unit

    @property
    def language(self) -> str:
        return self.unit.language or "en"

    @property
    def page_text(self) -> str:
        """Return the texts of all units of its page."""
        return "\n".join(unit.text for unit in (self.unit, *self.passage.around))

    @property
    def start(self) -> int:
        """Return its start on its page; lines of one unit are in order."""
        return self.unit.char_start + self.place

    @property
    def terms(self) -> frozenset[str]:
        return distinct_terms(self.text, self.language)

    @property
    def label_terms(self) -> list[str]:
        return list(dict.fromkeys(terms_of(self.label, self.language)))


# Caches pages that are asked about often: the next question reads them again.


@lru_cache(maxsize=8192)
def distinct_terms(text: str, language: str) -> frozenset[str]:
    return frozenset(terms_of(text, language))


@lru_cache(maxsize=8192)
def sentences_with_content(text: str, language: str) -> tuple[tuple[int, str], ...]:
    """Return the sentences of a unit with content and without prompt injection, with their places."""
    found = []
    for place, span in enumerate(sentence_spans(text, language)):
        sentence = BULLET.sub("", " ".join(text[span.start : span.end].split()))
        if has_content(sentence) and len(sentence) <= LONGEST_LINE and not looks_like_injection(sentence):
            found.append((place, sentence))
    return tuple(found)


for memory in (distinct_terms, sentences_with_content):
    cleared_with_memory(memory.cache_clear)


def lines_of(question: QuestionFeatures, passages: Sequence[ContextItem]) -> list[AnswerLine]:
    """Return all lines of the passages in order.

    Lines of a list of references, and of a table of contents, are left out unless it is asked for, or there
    are no others: its titles have the words of many questions and answer none.
    """
    words = question.text.casefold().split()
    asked = any(map(is_references, words))
    places = {*place_words(question.language, "page"), *place_words(question.language, "section")}
    own = [passage for passage in passages if asked or not any(map(is_references, passage.unit.section_path))]
    if not any(word.startswith(place) for word in words for place in places):
        own = [passage for passage in own if not is_of_contents(passage.unit)]
    wanted = {passage.unit.id for passage in passages}
    tables: dict[tuple[str, int], dict[str, tuple[CellReading, ...]]] = {}
    lines: list[AnswerLine] = []
    for passage in own or passages:
        page = passage.unit.document, passage.unit.page
        if page not in tables:
            tables[page] = read_tables(
                tuple({unit.id: unit for unit in (passage.unit, *passage.around)}.values()), wanted
            )
        lines += _lines(question, passage, tables[page].get(passage.unit.id, ()))
    return lines


def is_of_contents(unit: SourceUnit) -> bool:
    """Return whether a unit is an entry of a table of contents: a title and its page."""
    table = unit.table
    pages = {*place_words(unit.language or "en", "page")}
    heads = [
        one_line(table.head_rows[cell.column])
        for cell in (table.cells[1:] if table else ())
        if table and is_value(cell.text) and cell.column < len(table.head_rows)
    ]
    of_pages = bool(heads) and all(pages & set(head.casefold().split()) for head in heads)
    return of_pages or (table is None and bool(DOT_LEADERS.search(unit.text)))


def is_references(title: str) -> bool:
    return section_type(title) == "references"


def _lines(
    question: QuestionFeatures, passage: ContextItem, cells: tuple[CellReading, ...]
) -> Iterator[AnswerLine]:
    unit = passage.unit
    if unit.table is None or len(unit.table.cells) < 2:
        yield from sentence_lines(passage)
    elif not unit.table.header and not looks_like_injection(unit.text):
        yield from row_lines(question, passage, unit.table, cells)


def sentence_lines(passage: ContextItem) -> Iterator[AnswerLine]:
    for place, text in sentences_with_content(passage.unit.text, passage.unit.language or "en"):
        yield AnswerLine(passage, text, text, place)


def has_content(text: str) -> bool:
    """Return whether a text is more than a number, a page reference or a few letters."""
    return sum(map(str.isalpha, text)) >= LEAST_LETTERS or bool(IDEOGRAPHS.search(text))


def row_lines(
    question: QuestionFeatures, passage: ContextItem, row: TableRow, cells: tuple[CellReading, ...]
) -> Iterator[AnswerLine]:
    """Yield the line of a row: values with all that names them, or cells of words in order."""
    texts = [cell for cell in row.cells if cell.text.strip()]
    if not texts:
        return
    label = cells[0].label if cells else one_line(texts[0].text)
    if len(texts) > 2 and is_value(label) and names_row(texts[1].text):
        label, texts = f"{label}, {one_line(texts[1].text)}", texts[1:]
    values = [cell for cell in cells if is_value_cell(cell)]
    if not values or is_value(texts[0].text) or any(is_prose(cell.text) for cell in texts[1:]):
        yield from (replace(line, cells=cells) for line in worded_row(passage, texts))
    else:
        chosen = tuple(chosen_columns(question, values, passage.unit.language or "en"))
        text = row_text(label, chosen)
        quote = chosen[0].text if len(chosen) == 1 else ""
        yield AnswerLine(passage, text, quote, label=label, values=chosen, cells=cells)


def row_text(label: str, cells: Sequence[CellReading]) -> str:
    """Return a row with its groups, heads, and its table's scale; as printed where that is unsure."""
    if not all(cell.head for cell in cells):
        return f"{label}: {'; '.join(cell.text for cell in cells)}"
    name = row_name(label, cells)
    if not all(cell.is_certain for cell in cells):
        return f"{label}, {'; '.join(f'{cell.head}: {cell.text}' for cell in cells)}"
    return f"{name}, {'; '.join(f'{cell.head}: {cell.printed}' for cell in cells)}"


def row_name(label: str, cells: Sequence[CellReading]) -> str:
    """Return what a row is called with its groups: “Revenue, North America”."""
    return label if cells[0].label != label else replace(cells[0], head="").name


def chosen_columns(
    question: QuestionFeatures, values: Sequence[CellReading], language: str
) -> Sequence[CellReading]:
    """Return the columns the question names, by year or by words; else the first few."""
    named = [value for value in values if value.period.years & question.asked_years]
    shares = [len(distinct_terms(value.head, language).intersection(question.terms)) for value in values]
    best = max(shares)
    worded = [value for value, share in zip(values, shares, strict=True) if share == best]
    return (named or (worded if best else values))[:MOST_COLUMNS]


def is_naked(line: AnswerLine) -> bool:
    """Return whether a row has several values without heads.

    An amount at the label's end is a value of an unknown column: "Adjusted EBITDA 609".
    """
    several = len(line.values) > 1 or bool(line.values and LABEL_AMOUNT.search(line.label))
    return several and not all(value.head for value in line.values)


def is_of_other_years(question: QuestionFeatures, line: AnswerLine) -> bool:
    """Return whether the columns of a row are all of years that the question does not ask for."""
    years, asked = [value.period.years for value in line.values], question.asked_years
    return bool(asked and years) and all(own and asked.isdisjoint(own) for own in years)


def names_row(text: str) -> bool:
    """Return whether the cell behind a number names its row: “Swivel chair, black” behind “CH-210”."""
    plain = one_line(text)
    return has_content(plain) and len(plain) <= LONGEST_TITLE and not SENTENCE_END.search(plain)


def worded_row(passage: ContextItem, cells: Sequence[Cell]) -> Iterator[AnswerLine]:
    """Yield a label and the cells with content: ``2.1.1: Passwords have at least 12 characters``."""
    prose = [REFERENCE.sub("", one_line(cell.text)) for cell in cells if is_prose(cell.text)]
    if prose:
        head, *rest = prose if is_prose(cells[0].text) else [one_line(cells[0].text).rstrip(" :."), *prose]
        text = "; ".join(rest) if not head else f"{head}: {'; '.join(rest)}" if rest else head
        quote = max(prose, key=len)
    else:
        text = quote = one_line(passage.unit.text)
    if has_content(text) and len(text) <= 2 * LONGEST_LINE:
        yield AnswerLine(passage, text, quote)


def printed_row(row: TableRow) -> str:
    """Return the row word for word, up to its last cell with a sentence end, if any."""
    ends = [at for at, cell in enumerate(row.cells, 1) if SENTENCE_END.search(one_line(cell.text))]
    return one_line(" ".join(cell.text for cell in row.cells[: ends[-1] if ends else None]))


def is_prose(text: str) -> bool:
    """Return whether a cell has three words, or eight characters without spaces."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    return len(words) >= 3 or unspaced_characters(text) >= 8


def unspaced_characters(text: str) -> int:
    """Return how many characters are kana or Chinese."""
    return sum("\u3040" <= character <= "\u9fff" for character in text)


def is_value(text: str) -> bool:
    return bool(DIGIT.search(text)) and sum(map(str.isalpha, SCALE_WORD.sub("", text))) < 4


def is_value_cell(cell: CellReading) -> bool:
    """Return whether a cell has a value and hardly another word: “2 gigabytes”, “31 October 2025”."""
    value = cell.quantity
    return is_value(cell.text[: value.start] + "0" + cell.text[value.end :] if value else cell.text)


def escaped(text: str) -> str:
    """Escape a text for Markdown."""
    text = _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
    return _LINE_HEAD.sub(lambda m: f"{m[1]}\\{m[2]}" if m[2] else f"{m[1]}{m[3]}\\{m[4]}", text)


def is_title(line: AnswerLine) -> bool:
    """Return whether a line is a few words without a sentence end, and not a list item or row of values."""
    if line.values or len(line.text) >= LONGEST_TITLE or CLOSED_END.search(line.text):
        return False
    return line.unit.type != "list" or is_step(line)


def is_only_title(question: QuestionFeatures, line: AnswerLine) -> bool:
    """Return whether a line only names a subject: a title, the question itself."""
    repeats = QUESTION_END.search(line.text) and line.terms.issuperset(question.terms)
    return is_title(line) or bool(repeats)


def is_step(line: AnswerLine) -> bool:
    """Return whether a line is a numbered item of a list."""
    return line.unit.type == "list" and bool(LIST_NUMBER.match(line.unit.text))


def units_named(places: Sequence[NamedPlace], lines: Sequence[AnswerLine]) -> set[str]:
    """Return the ids of the lines' units at one of the places."""
    found = {line.unit.id: line for line in lines} if places else {}
    return {key for key, line in found.items() if any(is_at(place, line) for place in places)}


def is_at(place: NamedPlace, line: AnswerLine) -> bool:
    """Return whether a line is at the place that the question names.

    A page is meant by its printed number or by its place in the file.
    """
    unit = line.unit
    if place.kind == "page":
        return place.number in (str(unit.page), line.passage.page_label)
    starts, item = _start_of(place, unit.language or "en")
    if place.kind in ("figure", "table"):
        return any(starts.match(text) for text in (unit.text, unit.table.caption if unit.table else ""))
    is_there = starts.match(unit.text) or any(starts.match(text) for text in unit.section_path)
    return bool(is_there and item.match(unit.text))


@cache
def _start_of(place: NamedPlace, language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Match the start of the place's caption or heading, and of its item: (b) of 4.2(b)."""
    if place.kind in ("figure", "table"):
        return re.compile(rf"\W*{caption_pattern(place, language)}(?!\w)", re.I), re.compile("")
    number, *items = place.number.replace(")", "").split("(")
    item = rf".{{0,12}}?\(?\b{items[-1]}\)" if items else ""
    return re.compile(rf"\W*(?:\w+\s+)?[A-Z]?{re.escape(number)}(?![\w.]*\d)"), re.compile(item)


def terms_over(line: AnswerLine) -> frozenset[str]:
    """Return the terms of the headings, caption and column heads of a line, and of the top of its page."""
    table = line.unit.table
    heads = [*table.head_rows, table.caption] if table else []
    over = [*line.unit.section_path[-2:], *heads, line.passage.heading[:120]]
    return distinct_terms(" ".join(over), line.language)
