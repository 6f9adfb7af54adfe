"""Row and column heads of a value in a table: those of its column as the parser stored them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import takewhile

from chat.citations.anchoring.page_text import tokens
from chat.citations.claims import SourceUnit
from pdf.gc_control import cleared_with_memory
from pdf.geometry import Rect
from pdf.structure import Cell
from text.terms import stop_words

# Whether a passage is on the subject of a claim: the share of the claim's content words it has.

_STEM = 5  # letters; enough to distinguish words, few enough to drop their endings
_PERIOD = re.compile(r"\d+|q\d|fy\d*|\d*q\d*")
# Words that do not distinguish lines of a report, in addition to the stop words.
_REPORT_WORDS = frozenset(
    re.findall(
        r"\S+",
        "although among either however may much must per said shall within without year years ended fiscal "
        "amount total company million billion thousand percent january february march april june july "
        "august september october november december ",
    )
)


@cache
def _common_words() -> frozenset[str]:
    return stop_words("en") | _REPORT_WORDS


@lru_cache(maxsize=512)
def content_words(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text: no function words, no numbers."""
    words = (token for token in tokens(text) if len(token) > 1 and token[0].isalpha())
    return frozenset(word[:_STEM] for word in words if word not in _common_words())


def shared_terms(claim: str, passages: Iterable[str]) -> float:
    """Return 0..1, the share of the claim's content words in the passages; 1 when it has none."""
    wanted = content_words(claim)
    if not wanted:
        return 1.0
    return len(wanted & content_words("\n".join(passages))) / len(wanted)


@lru_cache(maxsize=512)
def title_names(title: str) -> frozenset[str]:
    """Return the distinctive words of a title: no years, no kinds of report."""
    words = re.findall(r"[^\W_]+", title.casefold())
    return frozenset(word for word in words if not _PERIOD.fullmatch(word)) - _KINDS - _common_words()


for memory in (content_words, title_names):
    cleared_with_memory(memory.cache_clear)


_KINDS = frozenset(
    re.findall(
        r"\S+",
        "10k 10q 8k k q dated annual quarterly report reports earnings release form pdf final draft "
        "inc corp plc ltd co group holdings document paper version ",
    )
)


_YEAR = re.compile(r"(?:19|20)\d\d")
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


def column_of(unit: SourceUnit, at: int) -> int | None:
    """Return the column of the table cell with ``unit.text[at]``; None outside tables."""
    cells = unit.table.cells if unit.table else ()
    place = unit.char_start + at
    return next((cell.column for cell in cells if cell.char_start <= place < cell.char_end), None)


def head_text(unit: SourceUnit, at: int) -> str:
    """Return the head of the column of ``unit.text[at]``; '' without one."""
    column, heads = column_of(unit, at), unit.table.head_rows if unit.table else ()
    return heads[column] if column is not None and column < len(heads) else ""


def head_years(unit: SourceUnit, at: int) -> frozenset[int]:
    """Return the years in the head of the column of ``unit.text[at]``."""
    return frozenset(map(int, _YEAR.findall(head_text(unit, at))))


def column_heads(unit: SourceUnit, at: int, units: Sequence[SourceUnit]) -> tuple[Rect, ...]:
    """Return boxes of the heads of the column of ``unit.text[at]``: in the table's header rows, or above it.

    ``units``: the others of its page.
    """
    column = column_of(unit, at)
    above = unit.table.head_rects if unit.table else ()
    if column is not None and column < len(above) and (rect := above[column]):
        return (rect,)
    rows = (other.table for other in units if other.table and other.document == unit.document)
    heads = [row for row in rows if unit.table and row.header and row.index == unit.table.index]
    return tuple(cell.rect for row in heads for cell in row.cells if column in _headed(cell) and cell.rect)


def _headed(cell: Cell) -> tuple[int, ...]:
    """Return the columns of a header cell: its own where an older parser or importer stored no others."""
    return cell.headed_columns or (cell.column,)


def names_another_column(claim: str, unit: SourceUnit, at: int) -> bool:
    """Return whether the claim has words of another column's head, and none of this one's."""
    column = column_of(unit, at)
    heads = unit.table.head_rows if unit.table else ()
    if column is None or not 0 < column < len(heads):
        return False
    words = [content_words(head) for head in heads]
    others = set().union(*words[1:column], *words[column + 1 :])
    claimed = content_words(claim) - content_words(unit.text)
    return bool(words[column] - others and claimed & (others - words[column])) and not claimed & words[column]


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
