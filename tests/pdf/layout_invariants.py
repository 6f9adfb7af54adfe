"""What must hold of every page that the fast engine reads."""

from __future__ import annotations

from collections.abc import Sequence

from pdf.geometry import Rect
from pdf.structure import ParsedPage


def check(pages: Sequence[ParsedPage]) -> None:
    """Raises AssertionError where a page breaks a rule."""
    line = 0
    for page in pages:
        check_slices(page)
        check_words(page)
        check_rectangles(page)
        for unit in page.units:
            assert unit.line_start == line + 1 and unit.line_end >= unit.line_start, "lines are numbered on"
            line = unit.line_end


def check_slices(page: ParsedPage) -> None:
    """Units are slices of the page's text, in order, apart; so are furniture and cells."""
    at = 0
    for index, unit in enumerate(page.units):
        assert unit.index == index
        assert unit.text and unit.text == page.text[unit.char_start : unit.char_end]
        assert unit.char_start >= at, "units do not overlap"
        at = unit.char_end
        for cell in unit.table.cells if unit.table else ():
            assert cell.text == page.text[cell.char_start : cell.char_end]
            assert unit.char_start <= cell.char_start <= cell.char_end <= unit.char_end
    for piece in page.furniture:
        assert piece.text == page.text[piece.char_start : piece.char_end]


def check_words(page: ParsedPage) -> None:
    """Words cover every character but white space, each once, each in one unit or one piece of furniture."""
    owners = sorted((owner.char_start, owner.char_end) for owner in (*page.units, *page.furniture))
    at = owner = 0
    for word in page.words:
        assert at <= word.char_start < word.char_end
        assert page.text[at : word.char_start].isspace() or at == word.char_start
        at = word.char_end
        while owners[owner][1] < word.char_end:
            owner += 1
        assert owners[owner][0] <= word.char_start, "a word stands in no unit"
    assert not page.text[at:].strip()
    assert "\0" not in page.text
    page.text.encode()


def check_rectangles(page: ParsedPage) -> None:
    """Every rectangle lies on the page and is the right way round."""
    for unit in page.units:
        for rect in (unit.bbox, *unit.rects):
            assert on_page(rect, page)
    assert all(on_page(word.rect, page) for word in page.words)
    assert all(on_page(rect, page) for piece in page.furniture for rect in piece.rects)


def on_page(rect: Rect, page: ParsedPage) -> bool:
    slack = 1e-3
    return (
        -slack <= rect.x0 <= rect.x1 <= page.frame.width + slack
        and -slack <= rect.y0 <= rect.y1 <= page.frame.height + slack
    )
