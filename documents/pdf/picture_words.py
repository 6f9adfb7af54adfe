"""Words in pictures on pages that have text of their own: slides, charts, figures, screenshots.

They are kept apart: units of their own behind those of the page's text, marked ``from_picture``. Layout,
headings and tables of the text do not depend on them. Pictures that say the same at the same place on
several pages (a logo, a running head) are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from documents.pdf.fast.pipeline import layout
from documents.pdf.fast.raw import RawPage, RawWord
from documents.pdf.geometry import Rect
from documents.pdf.structure import Furniture, ParsedPage, ParsedUnit, Word

# What stands at one place on so many pages is a running head.
_REPEATED = 3
# Points within which places are the same.
_SAME_PLACE = 6
_SEPARATOR = "\n\n"
# Points; a smaller picture is an icon, a ruling or a letter.
_LEAST_WIDTH, _LEAST_HEIGHT = 40.0, 14.0


def without_repeated(words: Mapping[int, Sequence[RawWord]]) -> dict[int, list[RawWord]]:
    """The words in pictures by page number, less those that recur at the same place."""
    count = Counter(place for page in words.values() for place in {_place(word) for word in page})
    return {
        number: [word for word in page if count[_place(word)] < _REPEATED] for number, page in words.items()
    }


def with_picture_words(
    pages: Sequence[ParsedPage], words: Mapping[int, Sequence[RawWord]]
) -> list[ParsedPage]:
    """The laid out pages, and behind the units of each those of its pictures. Lines are numbered anew."""
    written, lines = [], 0
    for page in pages:
        found = words.get(page.number)
        page = _numbered_on(page, lines)
        if found:
            last = max((unit.line_end for unit in page.units), default=lines)
            (pictures,) = layout([RawPage(page.number, page.frame, words=list(found))])
            page = _appended(page, _numbered_on(pictures, last))
            lines += max((unit.line_end for unit in pictures.units), default=0)
        written.append(page)
    return written


def _place(word: RawWord) -> tuple[str, int, int]:
    return word.text, round(word.x0 / _SAME_PLACE), round(word.y0 / _SAME_PLACE)


def _numbered_on(page: ParsedPage, lines: int) -> ParsedPage:
    if not lines:
        return page
    units = tuple(
        replace(unit, line_start=unit.line_start + lines, line_end=unit.line_end + lines)
        for unit in page.units
    )
    return replace(page, units=units)


def _appended(page: ParsedPage, pictures: ParsedPage) -> ParsedPage:
    """The page's text, then that of its pictures."""
    start = len(page.text) + len(_SEPARATOR) if page.text else 0
    return replace(
        page,
        text=page.text + (_SEPARATOR if page.text else "") + pictures.text,
        words=(*page.words, *(_moved(word, start) for word in pictures.words)),
        units=(*page.units, *(_kept_apart(unit, page, start) for unit in pictures.units)),
        furniture=(*page.furniture, *(_aside(each, start) for each in pictures.furniture)),
    )


def _moved(word: Word, start: int) -> Word:
    return replace(word, char_start=word.char_start + start, char_end=word.char_end + start)


def _aside(each: Furniture, start: int) -> Furniture:
    return replace(each, char_start=each.char_start + start, char_end=each.char_end + start)


def _kept_apart(unit: ParsedUnit, page: ParsedPage, start: int) -> ParsedUnit:
    """The unit of a picture as one of the page: prose of the section its page ends with."""
    section = page.units[-1] if page.units else unit
    return replace(
        unit,
        index=len(page.units) + unit.index,
        type="list" if unit.type == "list" else "prose",
        level=unit.level if unit.type == "list" else None,
        char_start=unit.char_start + start,
        char_end=unit.char_end + start,
        section_title=section.section_title,
        section_path=section.section_path,
        section_type=section.section_type,
        table=None,
        continues=False,
        from_picture=True,
    )


def places_of(images: Sequence[Rect]) -> list[Rect]:
    """Those pictures that are large enough to hold words."""
    return [rect for rect in images if rect.width >= _LEAST_WIDTH and rect.height >= _LEAST_HEIGHT]
