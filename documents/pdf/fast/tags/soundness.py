"""Whether the tags of one page are sound, by what its lines show.

Tags are distrusted that leave most of the text without a type, that hold several
paragraphs in one, or that make a paragraph of each line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

from documents.pdf.fast.lines import SAME_BASELINE, Line
from documents.pdf.fast.lists import is_bullet, marker_of

# Share of the characters that must stand in units.
TAGGED_SHARE = 0.7
# From this share of the tagged characters in units that are too large on, no unit is believed.
COARSE_SHARE = 0.4
# From this share of the units that tear what runs on, and so many, no unit is believed.
TORN_SHARE, TORN = 0.15, 3
# Within a unit no line is so far below the one before (ems), and so much further than usual.
WIDEST_PITCH, OPENED = 1.5, 1.35
# Type within a unit differs by no more than this, where whole lines are set in it.
SIZES = 1.3
# Items and ends of paragraphs in a unit from which on it is several.
SEVERAL = 3
# A line ends before the edge when it leaves so much of its unit's width empty.
SHORT_LINE = 0.12
_ENDS = (".", "!", "?", ":", "。", "؟")
_GOES_ON = tuple(".,:;!?。，؛،")


def is_coarse(lines: Sequence[Line]) -> bool:
    """Whether the lines of one unit are plainly several paragraphs."""
    if len(lines) < 2:
        return False
    if max(line.size for line in lines) > SIZES * min(line.size for line in lines if line.chars):
        return True
    return _has_gap(lines) or _ends_often(lines) or _items(lines) >= SEVERAL


def _has_gap(lines: Sequence[Line]) -> bool:
    steps = [(b.baseline - a.baseline, max(a.size, b.size)) for a, b in pairwise(lines) if _below(a, b)]
    if not steps:
        return False
    usual = median(pitch for pitch, _ in steps)
    return any(pitch > WIDEST_PITCH * em and pitch > OPENED * usual for pitch, em in steps) or (
        usual > 2 * WIDEST_PITCH * steps[0][1]
    )


def _below(a: Line, b: Line) -> bool:
    return b.baseline - a.baseline > SAME_BASELINE * b.size and min(a.x1, b.x1) > max(a.x0, b.x0)


def _ends_often(lines: Sequence[Line]) -> bool:
    """Whether sentences end, again and again, in lines that leave room."""
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    room = SHORT_LINE * (right - left)
    ends = [
        line
        for line in lines[:-1]
        if line.text.endswith(_ENDS) and (line.x0 - left if line.rtl else right - line.x1) > room
    ]
    return len(ends) >= SEVERAL


def _items(lines: Sequence[Line]) -> int:
    return sum(len(line.words) > 1 and is_bullet(marker_of(line.words[0].text)) for line in lines)


def are_sound(units: Mapping[int, Sequence[Line]], untagged: int) -> bool:
    """Whether a page's units can be believed.

    ``units`` are their lines in the author's order, ``untagged`` the number of characters in none.
    """
    chars = {unit: sum(line.chars for line in lines) for unit, lines in units.items()}
    tagged = sum(chars.values())
    if tagged < TAGGED_SHARE * (tagged + untagged):
        return False
    coarse = sum(chars[unit] for unit, lines in units.items() if is_coarse(lines))
    if coarse > COARSE_SHARE * tagged:
        return False
    torn = sum(_is_torn(a[-1], b[0]) for a, b in pairwise(units.values()))
    return torn < max(TORN, TORN_SHARE * len(units))


def _is_torn(last: Line, line: Line) -> bool:
    """Whether one unit goes on with the other: in the same line, or with a small letter in the next."""
    if abs(last.baseline - line.baseline) <= SAME_BASELINE * line.size:
        return 0 <= line.x0 - last.x1 < 0.5 * line.size
    pitch = line.baseline - last.baseline
    near = 0 < pitch < WIDEST_PITCH * line.size and last.style == line.style
    return near and line.words[0].text[0].islower() and not last.text.endswith(_GOES_ON)
