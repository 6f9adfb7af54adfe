"""Group words into lines: words on one baseline, in reading order.

From here to the end of the layout all coordinates are in the reading frame: the page is turned so that most
of its text runs rightwards (see ``page_layout``).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from pdf.extract.right_to_left import in_reading_order, is_rtl
from pdf.extract.words import RawWord, Style, breaks_anywhere
from pdf.geometry import Rect, rect_of

# A gap this wide (ems) between words of one drawn line may separate two cells or columns.
CELL_GAP = 1.0
# Minimum gap between the cells of a row (ems).
COLUMN_GAP = 1.2
# A narrower gap (ems) separates cells if this many lines above or below, within this distance (ems), begin at
# the same x behind a gap of ``COLUMN_GAP``.
NARROW_GAP, COLUMN_LINES, COLUMN_REACH = 0.75, 2, 6.0
# Maximum difference of the baselines of two lines side by side (points).
SAME_LEVEL = 1.0
# Maximum difference of the baselines of one row (ems); superscripts are raised by up to half an em.
SAME_BASELINE = 0.4
# Marks and superscripts: maximum size relative to the text beside them, maximum characters.
SMALL = 0.85
MARK_CHARS = 12


_CODE_SIGN = re.compile(r"[{}=<>_|\\#$@*+]|//|\(\)|--|[;,]$|::")
_MATH_FONT = re.compile(
    r"CMMI|CMSY|CMEX|MSAM|MSBM|MTMI|MTSY|MTEX|Math|(?<!UI)(?<!UI )(?<!Sans)(?<!Sans )Symbol|Euler",
    re.IGNORECASE,
)
_BASELINE = attrgetter("baseline", "x0")
_LEFT = attrgetter("x0")

# Minimum gap before the number of a displayed equation (ems); maximum letters of a word in a formula.
NUMBER_GAP = 2.0
SYMBOL_CHARS = 3
_RELATION = re.compile(r"[=≈≤≥≡∝<>]")
_EQUATION_NUMBER = re.compile(r"(?:^|\s)\(\d+(?:\.\d+)*[a-z]?\)$")
_LETTERS = re.compile(r"[^\W\d_]+")
_LAST_WORD = re.compile(r"[^\W\d_]{5}\.$")


class Line:
    """Words on one baseline without a wide gap, in reading order.

    ``sideways``: its direction differs from that of the page's text.
    ``row``: a cache of the row of cells that begins with this line.
    ``opens_cell``: other rows show that a column begins here, however narrow the gap before it is.
    It is mutable only while it is built; ``merged`` makes a new one.
    """

    __slots__ = (
        "baseline",
        "chars",
        "opens_cell",
        "row",
        "rtl",
        "sideways",
        "size",
        "style",
        "text",
        "words",
        "x0",
        "x1",
        "y0",
        "y1",
    )

    def __init__(self, words: list[RawWord]) -> None:
        self.words = words
        self.row: Any = None
        self.opens_cell = False
        if len(words) == 1:
            (word,) = words
            self.x0, self.y0, self.x1, self.y1 = word.x0, word.y0, word.x1, word.y1
            self.text, self.style, self.baseline = word.text, word.style, word.baseline
        else:
            self._stretch_over(words)
            self.text = " ".join([word.text for word in words])
            styles = [word.style for word in words]
            self.style, self.baseline = styles[0], words[0].baseline
            if styles.count(styles[0]) != len(styles):
                self._take_prevailing_style()
        self.chars = len(self.text)
        self.size = self.style.size
        self.sideways = words[0].turn != 0
        self.rtl = not self.text.isascii() and is_rtl(self.text)

    def _stretch_over(self, words: Iterable[RawWord]) -> None:
        """Set the box around the words. One loop: ``min`` and ``max`` of four lists take twice as long."""
        x0 = y0 = math.inf
        x1 = y1 = -math.inf
        for word in words:
            if word.x0 < x0:
                x0 = word.x0
            if word.y0 < y0:
                y0 = word.y0
            if word.x1 > x1:
                x1 = word.x1
            if word.y1 > y1:
                y1 = word.y1
        self.x0, self.y0, self.x1, self.y1 = x0, y0, x1, y1

    def _take_prevailing_style(self) -> None:
        weight: dict[Style, int] = {}
        baseline: dict[Style, float] = {}
        for word in self.words:
            weight[word.style] = weight.get(word.style, 0) + len(word.text)
            baseline.setdefault(word.style, word.baseline)
        self.style = max(weight, key=weight.__getitem__)
        self.baseline = baseline[self.style]

    @property
    def rect(self) -> Rect:
        return rect_of((self.x0, self.y0, self.x1, self.y1))

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    def __repr__(self) -> str:
        return f"<Line {self.x0:.0f} {self.y0:.0f} {self.text[:40]!r}>"


def merged(lines: Sequence[Line], rtl: bool = False) -> Line:
    """Return one line with all words in reading order. ``rtl``: it is in a right-to-left column."""
    if len(lines) == 1:
        return lines[0]
    words = [word for line in lines for word in line.words]
    return Line(in_reading_order(words, rtl))


@lru_cache(maxsize=1024)
def is_math_font(name: str) -> bool:
    """Return whether it is a font of mathematical signs by TeX, Adobe or Microsoft."""
    return bool(_MATH_FONT.search(name))


def is_numbered_equation(lines: Sequence[Line]) -> bool:
    """Return whether a row is a displayed equation: a relation sign, a gap, and a number such as ``(3)``.

    It has no word of more than three letters, or some word in a math font.
    """
    if not lines[-1].text.endswith(")") or not _EQUATION_NUMBER.search(lines[-1].text):
        return False
    *equation, number = [word for line in lines for word in line.words]
    if not equation or number.x0 - equation[-1].x1 < NUMBER_GAP * lines[-1].size:
        return False
    plain = not any(len(run) > SYMBOL_CHARS for word in equation for run in _LETTERS.findall(word.text))
    return any(_RELATION.search(word.text) for word in equation) and (
        plain or any(is_math_font(word.style.font) for word in equation)
    )


def looks_like_code(lines: Sequence[Line]) -> bool:
    """Return whether a quarter of the lines have signs of programs, commands or tables drawn with signs."""
    return 4 * sum(bool(_CODE_SIGN.search(line.text)) for line in lines) > len(lines)


def drawn_lines(words: Iterable[RawWord]) -> list[Line]:
    """Return the lines as they were drawn, split at wide gaps."""
    return [Line(run) for run in _runs(words)]


def _runs(words: Iterable[RawWord]) -> Iterator[list[RawWord]]:
    run: list[RawWord] = []
    line, left, right, size = -1, 0.0, 0.0, 0.0
    for word in words:
        widest, size = CELL_GAP * min(size, word.style.size), word.style.size
        if word.line == line and word.x0 - right <= widest and left - word.x1 <= widest:
            run.append(word)
        else:
            if run:
                yield run
            run, line = [word], word.line
        left, right = word.x0, word.x1
    if run:
        yield run


# A drop cap: minimum size relative to the lines beside it, and their minimum number; their maximum distance
# from it, and of the last one's baseline from its own (ems of these lines); its height above its baseline.
CAP_SIZE, CAP_LINES, BESIDE_CAP, CAP_LEVEL, CAP_HEIGHT = 1.8, 2, 1.0, 1.1, 0.8


def with_drop_caps(lines: list[Line]) -> list[Line]:
    """Join each drop cap with the first of the lines beside it; these begin where the cap does.

    A drop cap is a large letter, alone, over the height of several lines that begin right behind it.
    """
    caps = [line for line in lines if line.chars == 1 and line.text.isalpha() and not line.sideways]
    for cap in caps:
        beside = [line for line in lines if _is_beside_cap(line, cap)]
        beside.sort(key=_BASELINE)
        em = beside[0].size if beside else 0.0
        if len(beside) < CAP_LINES or abs(beside[-1].baseline - cap.baseline) > CAP_LEVEL * em:
            continue
        first, (head, *rest) = beside[0], beside[0].words
        letter = cap.words[0]
        if _is_one_word(letter.text, head.text, lines):
            words = [replace(head, x0=letter.x0, text=letter.text + head.text), *rest]
        else:
            words = [replace(head, x0=letter.x0, x1=letter.x1, text=letter.text), head, *rest]
        joined = Line(words)
        for line in beside[1:]:
            line.x0 = cap.x0
        lines = [joined if line is first else line for line in lines if line is not cap]
    return lines


def _is_beside_cap(line: Line, cap: Line) -> bool:
    return (
        cap.size >= CAP_SIZE * line.size
        and not line.sideways
        and -SAME_BASELINE * line.size < line.x0 - cap.x1 < BESIDE_CAP * line.size
        and cap.baseline - CAP_HEIGHT * cap.size < line.baseline < cap.baseline + SAME_BASELINE * line.size
    )


def _is_one_word(letter: str, rest: str, lines: Sequence[Line]) -> bool:
    """Return whether the letter begins the word: the page has both joined, or the rest nowhere else."""
    words = Counter(word.text.casefold() for line in lines if line.chars > 1 for word in line.words)
    joined, rest = (letter + rest).casefold(), rest.casefold()
    return words[joined] > 0 or words[rest] < 2  # once: beside the cap


# Letters one below the other: minimum number, maximum pitch (ems), ratio of the pitches.
STACKED, STACK_PITCH, EVEN_PITCH = 5, 1.6, 1.2
# Numbers right before texts: minimum gap (ems), minimum rows, tolerance of the two edges (points).
EDGE_GAP, EDGE_ROWS, SAME_EDGE = 0.5, 3, 1.0
# Where a word ends, and where the next one on its baseline begins.
_Edges = tuple[float, float]


def stacked(lines: list[Line]) -> list[Line]:
    """Return the lines, with one turned line for letters that were drawn one below the other.

    Vertical writing and names up the side of a page are drawn letter by letter.
    """
    letters = [
        n
        for n, line in enumerate(lines)
        if line.chars == 1 and (line.text.isalpha() or breaks_anywhere(line.text))
    ]
    if len(letters) < STACKED:
        return lines
    runs: list[list[int]] = [[letters[0]]]
    for n in letters[1:]:
        if n == runs[-1][-1] + 1 and _is_below(lines[n - 1], lines[n]):
            runs[-1].append(n)
        else:
            runs.append([n])
    out: list[Line | None] = [*lines]
    for run in runs:
        column = lines[run[0] : run[-1] + 1]
        texts = [line.text for line in column]
        pitches = [b.baseline - a.baseline for a, b in pairwise(column)]
        if len(run) < STACKED or max(pitches) > EVEN_PITCH * min(pitches) or texts == sorted(texts):
            continue
        first = column[0].words[0]
        x0, x1 = min(line.x0 for line in column), max(line.x1 for line in column)
        word = replace(first, x0=x0, x1=x1, y1=column[-1].y1, text="".join(texts), baseline=x0, turn=90)
        out[run[0] : run[-1] + 1] = [Line([word]), *[None] * (len(run) - 1)]
    return [line for line in out if line is not None]


def _is_below(line: Line, below: Line) -> bool:
    em = line.size
    centered = abs(line.x0 + line.x1 - below.x0 - below.x1) < em
    return centered and line.style == below.style and 0 < below.baseline - line.baseline < STACK_PITCH * em


def with_cells(lines: list[Line]) -> list[Line]:
    """Return the lines, split where numbers end at one x and the words after them begin at one x.

    Sets ``opens_cell`` of these and of lines behind a narrow gap, where lines of other rows begin behind a
    wide one: the longest text of a column leaves the least space before the next, 12 points in LaTeX's
    tables. Lines in a typewriter face are left out: words of programs begin at the same x by chance.
    """
    edges = _column_edges(lines)
    lines = [piece for line in lines for piece in _split_at(edges, line)] if edges else lines
    narrow: list[Line] = []
    starts: dict[int, list[float]] = {}
    for left, right in pairwise(lines):
        gap = right.x0 - left.x1
        if abs(right.baseline - left.baseline) > SAME_LEVEL or right.sideways or right.style.mono:
            continue
        if gap >= COLUMN_GAP * right.size:
            starts.setdefault(round(right.x0), []).append(right.baseline)
        elif any(_are_near((left.words[-1].x1, right.x0), edge) for edge in edges):
            right.opens_cell = True
        elif gap >= NARROW_GAP * right.size:
            narrow.append(right)
    for line in narrow:
        others = [y for x in (-1, 0, 1) for y in starts.get(round(line.x0) + x, ())]
        close = sum(0 < abs(y - line.baseline) <= COLUMN_REACH * line.size for y in others)
        line.opens_cell = close >= COLUMN_LINES
    return lines


def _column_edges(lines: Sequence[Line]) -> list[_Edges]:
    """Return the edges of columns of numbers and of the texts right behind them.

    The numbers are of several widths, and other cells are on the baselines of most.
    """
    numbers: list[tuple[_Edges, Line]] = []
    for line, below in pairwise([*lines, lines[-1]]) if lines else ():
        if not line.words[0].text.isdecimal() or line.style.mono:
            continue
        beside = abs(line.baseline - below.baseline) <= SAME_LEVEL
        start = line.words[1].x0 if len(line.words) > 1 else below.x0 if beside else -math.inf
        if EDGE_GAP <= (start - line.words[0].x1) / line.size < COLUMN_GAP:
            numbers.append(((line.words[0].x1, start), line))
    if len(numbers) < EDGE_ROWS:
        return []
    levels = Counter(round(line.baseline) for line in lines)
    found: list[_Edges] = []
    for edge, _ in numbers:
        column = [line for other, line in numbers if _are_near(edge, other)]
        widths = [line.words[0].x1 - line.words[0].x0 for line in column]
        rows = sum(levels[round(line.baseline)] > 1 + (len(line.words) == 1) for line in column)
        uneven = max(widths) - min(widths) > 2 * SAME_EDGE
        if len(column) >= EDGE_ROWS and uneven and 2 * rows > len(column):
            found.append(edge)
    return found


def _are_near(edge: _Edges, other: _Edges) -> bool:
    return abs(edge[0] - other[0]) <= SAME_EDGE and abs(edge[1] - other[1]) <= SAME_EDGE


def _split_at(edges: Sequence[_Edges], line: Line) -> list[Line]:
    """Return the line in two where its first word ends and the second begins at such edges."""
    if len(line.words) > 1:
        own = line.words[0].x1, line.words[1].x0
        if any(_are_near(own, edge) for edge in edges):
            return [Line(line.words[:1]), Line(line.words[1:])]
    return [line]


def separate_runs(line: Line) -> list[Line]:
    """Split a merged line at its wide gaps; return other lines whole."""
    words = sorted(line.words, key=lambda word: word.x0)
    starts = [n for n, (left, right) in enumerate(pairwise(words), 1) if _are_apart(left, right)]
    return [Line(words[a:b]) for a, b in pairwise([0, *starts, len(words)])] if starts else [line]


def _are_apart(left: RawWord, right: RawWord) -> bool:
    return right.x0 - left.x1 > CELL_GAP * left.style.size


def rows_of(lines: Sequence[Line]) -> list[list[Line]]:
    """Group lines by baseline, top to bottom; within a row left to right.

    A small line beside a larger one (a superscript, a note mark) belongs to the larger one's row if most of
    its height is within that row.
    """
    if len(lines) == 1:
        return [list(lines)]
    rows: list[list[Line]] = []
    row: list[Line] = []
    for line in sorted(lines, key=_BASELINE):
        if row and (
            line.baseline - row[-1].baseline <= SAME_BASELINE * line.size
            or (line.size != row[-1].size and any(_same_row(line, other) for other in row))
        ):
            row.append(line)
        elif len(rows) > 1 and line.size < SMALL * rows[-2][0].size and _is_raised(line, rows[-2]):
            rows[-2].append(line)
        else:
            row = [line]
            rows.append(row)
    rows = _with_raised_marks(rows)
    for row in rows:
        if len(row) > 1:
            row.sort(key=_LEFT)
    return rows


def _is_raised(line: Line, row: list[Line]) -> bool:
    return any(_same_row(line, other) for other in row)


def _same_row(a: Line, b: Line) -> bool:
    small, large = (a, b) if a.size < b.size else (b, a)
    if abs(a.baseline - b.baseline) <= SAME_BASELINE * small.size:
        return True
    # a mark or a superscript: much smaller, and mostly within the other's height
    if small.size > SMALL * large.size or small.chars > MARK_CHARS:
        return False
    overlap = min(a.y1, b.y1) - max(a.y0, b.y0)
    return overlap >= 0.6 * small.height


def _with_raised_marks(rows: list[list[Line]]) -> list[list[Line]]:
    """Join rows of only small raised marks with the row below."""
    out: list[list[Line]] = []
    for row in rows:
        if (
            out
            and out[-1][0].chars <= 4
            and all(line.chars <= 4 for line in out[-1])
            and any(_same_row(mark, line) for mark in out[-1] for line in row)
        ):
            row = [*out.pop(), *row]
        out.append(row)
    return out


# Maximum leading of lines of one sentence, and difference of their starts (ems).
SENTENCE_LEADING, SENTENCE_INDENT = 1.9, 2.0


def goes_on(above: Line, line: Line, capitals: bool = False) -> bool:
    """Return whether a line goes on with the sentence of the one above, in small letters, or ``capitals``."""
    return (
        len(line.words[0].text) > 1  # no letter as a bullet
        and (capitals or line.text[0].islower())
        and not above.text.endswith((".", ":", ";"))
        and 0 < line.baseline - above.baseline <= SENTENCE_LEADING * line.size
        and abs(line.x0 - above.x0) <= SENTENCE_INDENT * line.size
    )


def ends_sentence(line: Line) -> bool:
    """Return whether the line ends with a word and a full stop, not with an abbreviation, as "Ltd."."""
    return bool(_LAST_WORD.search(line.text))
