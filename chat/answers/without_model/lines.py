"""Units as lines that an answer can say: sentences, list items, captions, and table rows with their heads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from chat.answers.prompt import ContextItem, looks_like_injection
from chat.answers.without_model.question import YEAR, QuestionFeatures, words_of
from chat.citations.claims import SourceUnit
from pdf.gc_control import cleared_with_memory
from pdf.structure import Cell, TableRow
from text.sentences import sentence_spans
from text.terms import terms_of

LONGEST_LINE = 700  # characters; longer text is a list that lost its line ends
LEAST_LETTERS = 4  # of a line that says something
MOST_COLUMNS = 4  # said of a wide table when the question names none of them
LONGEST_HEAD = 45  # characters of a column head that is said; a longer one is several that ran together
NEAR_UNITS = 3  # units before a table that may state its unit
SCALE = re.compile(r"(?:\b(?:in|of) )?(?:[$€£¥] ?|usd |eur )?\b(thousands?|millions?|billions?)\b", re.I)
NEAR_SCALE = 14  # characters from a scale to its currency: "millions of euros", "dollars in thousands"
CURRENCY = re.compile(r"[$€£¥₹]|\b(?:USD|EUR|GBP|JPY|CNY|CHF)\b|\b(?:dollar|euro|pound|yen)s?\b", re.I)
CURRENCY_NAMES = {"dollar": "$", "dollars": "$", "euro": "€", "euros": "€", "pounds": "£", "yen": "¥"}
STATED_SCALE = re.compile(r"(?:(?P<currency>[$€£¥₹]|[A-Z]{3}) )?(?P<scale>thousands|millions|billions)")
AMOUNT = re.compile(r"[$€£¥₹]? ?\d[\d.,]*")
PER_UNIT = re.compile(r"\bper\b|%|\bpercent|\bratio\b|\beps\b", re.I)
DIGIT = re.compile(r"\d")
BULLET = re.compile(r"^[^\w\s$€£¥(\[\"'“„«「『]+\s*")
IDEOGRAPHS = re.compile(r"[\u3040-\u9fff]{2}")
FOOTNOTE = re.compile(r"(?<=\w)\s*\(\d{1,2}\)|[*†‡]+$")

# Only what Markdown would take for markup; a lone bracket or an ampersand is none (CommonMark 0.31).
_MARKDOWN = re.compile(r"([\\`*<]|(?<!\w)_|_(?!\w)|~(?=~)|&(?=[#\w]+;)|\[(?=[^\]]*\]\())")
_LINE_HEAD = re.compile(r"^(\s*)(?:([#+>-])|(\d{1,9})([.)])(?=\s|$))")


@dataclass(frozen=True, slots=True)
class CellValue:
    """A cell that holds a value, under its column head ('' when it has none)."""

    cell: Cell
    head: str

    @property
    def years(self) -> frozenset[str]:
        return frozenset(YEAR.findall(self.head))


@dataclass(frozen=True)
class AnswerLine:
    """One line an answer may say.

    Attributes:
        text: what is shown: words of the page, or a row with its heads and its unit.
        quote: the words to mark on the page; empty lets the verifier find the values of ``text``.
        place: number of the line in its unit, from 0.
        label, values: of a table row with values; empty for all others.
        scale: the unit of a row's values as its table states it: "$ millions".
    """

    passage: ContextItem
    text: str
    quote: str
    place: int = 0
    label: str = ""
    values: tuple[CellValue, ...] = ()
    scale: str = ""

    @cached_property  # asked for thousands of times an answer, as are language and terms
    def unit(self) -> SourceUnit:
        return self.passage.unit

    @cached_property
    def language(self) -> str:
        return self.unit.language or "en"

    @property
    def start(self) -> int:
        """Where it begins on its page; lines of one unit follow each other."""
        return self.unit.char_start + self.place

    @property
    def heads(self) -> list[str]:
        return [value.head for value in self.values]

    @cached_property
    def terms(self) -> frozenset[str]:
        return distinct_terms(self.text, self.language)

    @property
    def label_terms(self) -> list[str]:
        return list(dict.fromkeys(terms_of(self.label, self.language)))


# Of the pages that people ask about most: the next question reads them again.


@lru_cache(maxsize=8192)
def distinct_terms(text: str, language: str) -> frozenset[str]:
    return frozenset(terms_of(text, language))


@lru_cache(maxsize=8192)
def said_sentences(text: str, language: str) -> tuple[tuple[int, str], ...]:
    """The sentences of a unit that say something and give no orders, each with its place."""
    said = []
    for place, span in enumerate(sentence_spans(text, language)):
        sentence = BULLET.sub("", " ".join(text[span.start : span.end].split()))
        if says_something(sentence) and len(sentence) <= LONGEST_LINE and not looks_like_injection(sentence):
            said.append((place, sentence))
    return tuple(said)


for memory in (distinct_terms, said_sentences):
    cleared_with_memory(memory.cache_clear)


def lines_of(question: QuestionFeatures, passages: Sequence[ContextItem]) -> list[AnswerLine]:
    """All lines of the passages, in their order."""
    return [line for passage in passages for line in _lines(question, passage)]


def _lines(question: QuestionFeatures, passage: ContextItem) -> Iterator[AnswerLine]:
    unit = passage.unit
    if unit.table is not None and len(unit.table.cells) > 1:
        if not unit.table.header and not looks_like_injection(unit.text):
            yield from row_lines(question, passage, unit.table)
    elif unit.type != "heading" or not has_text_below(passage):
        yield from sentence_lines(passage)


def has_text_below(passage: ContextItem) -> bool:
    """Whether a heading heads something: what stands below it says more than the heading itself."""
    own = passage.unit
    below = next((other for other in passage.around if other.char_start > own.char_start), None)
    return below is not None and below.type != "heading"


def sentence_lines(passage: ContextItem) -> Iterator[AnswerLine]:
    for place, text in said_sentences(passage.unit.text, passage.unit.language or "en"):
        yield AnswerLine(passage, text, text, place)


def says_something(text: str) -> bool:
    """More than a number, a page reference or a crumb."""
    return sum(map(str.isalpha, text)) >= LEAST_LETTERS or bool(IDEOGRAPHS.search(text))


def row_lines(question: QuestionFeatures, passage: ContextItem, row: TableRow) -> Iterator[AnswerLine]:
    """A row with values says them under their heads; a row of words says its cells in order."""
    cells = [cell for cell in row.cells if cell.text.strip()]
    if not cells:
        return
    values = [CellValue(cell, head_of(row, cell)) for cell in cells[1:] if is_value(cell.text)]
    label = one_line(cells[0].text)
    if not values or is_value(cells[0].text) or any(is_prose(cell.text) for cell in cells[1:]):
        yield from worded_row(passage, cells)
        return
    chosen = tuple(chosen_columns(question, values, passage.unit.language or "en"))
    scale = scale_of(passage, row)
    text = row_text(label, chosen, scale)
    yield AnswerLine(
        passage,
        text,
        chosen[0].cell.text if len(chosen) == 1 and text.endswith(one_line(chosen[0].cell.text)) else "",
        label=label,
        values=chosen,
        scale=scale,
    )


def worded_row(passage: ContextItem, cells: Sequence[Cell]) -> Iterator[AnswerLine]:
    """``2.1.1: Passwords have at least 12 characters``: a label, then the cells that say something."""
    prose = [cell for cell in cells if is_prose(cell.text)]
    label = one_line(cells[0].text)
    if prose:
        said = prose[0] if cells[0] is prose[0] else None
        rest = [one_line(cell.text) for cell in prose if cell is not said]
        head = label.rstrip(" :.") if said is None else one_line(said.text)
        text = "; ".join(rest) if not head else f"{head}: {'; '.join(rest)}" if rest else head
        quote = max((one_line(cell.text) for cell in prose), key=len)
    else:
        text = quote = one_line(passage.unit.text)
    if says_something(text) and len(text) <= 2 * LONGEST_LINE:
        yield AnswerLine(passage, text, quote)


def is_prose(text: str) -> bool:
    """Whether a cell says something in words: three of them, or eight characters without spaces."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    return len(words) >= 3 or sum("\u3040" <= character <= "\u9fff" for character in text) >= 8


def is_value(text: str) -> bool:
    return bool(DIGIT.search(text)) and sum(map(str.isalpha, SCALE.sub("", text))) < 4


def is_naked(line: AnswerLine) -> bool:
    """Whether a row has several values of which nothing says what each is of."""
    return len(line.values) > 1 and not all(line.heads)


def same_columns(first: AnswerLine, second: AnswerLine) -> bool:
    """Whether two rows say values of the same columns: of the same years, else under the same heads."""
    one, other = ([value.years or value.head for value in line.values] for line in (first, second))
    return one == other


def head_of(row: TableRow, cell: Cell) -> str:
    """The head of the cell's column, without footnote marks; empty when it has none."""
    head = row.head_rows[cell.column] if cell.column < len(row.head_rows) else ""
    return FOOTNOTE.sub("", one_line(head)).strip(" :")


def one_line(text: str) -> str:
    return " ".join(text.split())


def chosen_columns(question: QuestionFeatures, values: Sequence[CellValue], language: str) -> list[CellValue]:
    """The columns the question names, by year or by words; else the first few."""
    named = [value for value in values if value.years & question.years]
    if len(named) == 1 and "compare" in question.kinds and question.computation in ("", "growth"):
        before = [value for value in values if value.years == {str(int(min(named[0].years)) - 1)}]
        named += before[:1]
    if named:
        return named[:MOST_COLUMNS]
    shares = [len(set(terms_of(value.head, language)) & set(question.terms)) for value in values]
    best = max(shares, default=0)
    worded = [value for value, share in zip(values, shares, strict=True) if share == best]
    return worded[:MOST_COLUMNS] if best and len(worded) < len(values) else list(values[:MOST_COLUMNS])


def row_text(label: str, values: Sequence[CellValue], scale: str, *, spoken: bool = True) -> str:
    """``Net sales, 2022: $14,544 million``; not ``spoken``: ``Net sales ($ millions), 2022: 14,544``."""
    label = label.rstrip(" :.…")
    scale = "" if PER_UNIT.search(label) else scale
    stated = STATED_SCALE.fullmatch(scale) if spoken else None
    texts = [
        with_scale(one_line(value.cell.text), None if PER_UNIT.search(value.head) else stated)
        for value in values
    ]
    unit = f" ({scale})" if scale and not any(map(SCALE.search, texts)) else ""
    if not all(value.head and len(value.head) <= LONGEST_HEAD for value in values):
        return f"{label}{unit}: {'; '.join(texts)}"
    cells = "; ".join(f"{value.head}: {text}" for value, text in zip(values, texts, strict=True))
    return f"{label}{unit}, {cells}"


def with_scale(text: str, stated: re.Match[str] | None) -> str:
    """A plain amount with the currency and the scale that its table states for it: ``$14,544 million``.

    Small numbers with decimals are left alone: in a table of millions they are rates or shares.
    """
    decimals = "." in text and "," not in text and stated is not None and stated["scale"] != "billions"
    if stated is None or decimals or not AMOUNT.fullmatch(text):
        return text
    sign = "" if CURRENCY.search(text) else stated["currency"] or ""
    space = " " if len(sign) > 1 else ""
    return f"{sign}{space}{text} {stated['scale'].removesuffix('s')}"


def scale_of(passage: ContextItem, row: TableRow) -> str:
    """The unit that the table states for its values: in its heads, its caption, or the lines before it."""
    unit = passage.unit
    before = [other.text for other in passage.around if other.char_start < unit.char_start][-NEAR_UNITS:]
    own = [other.text for other in passage.around if other.table and other.table.index == row.index]
    stated = [*row.head_rows, row.caption, *own[:2], *reversed(before), passage.heading]
    for text in stated:
        if found := SCALE.search(text):
            near = text[max(0, found.start() - NEAR_SCALE) : found.end() + NEAR_SCALE]
            currency = CURRENCY.search(near)
            sign = CURRENCY_NAMES.get(currency[0].lower(), currency[0]) if currency else ""
            return f"{sign} {found[1].lower().removesuffix('s')}s".strip()
        for phrase in words_of(unit.language or "en", "words").get("scale", ()):
            if (at := text.lower().find(phrase)) >= 0 and len(text) < LONGEST_LINE:
                return text[at : at + len(phrase)]
    return ""


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    text = _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
    return _LINE_HEAD.sub(lambda m: f"{m[1]}\\{m[2]}" if m[2] else f"{m[1]}{m[3]}\\{m[4]}", text)
