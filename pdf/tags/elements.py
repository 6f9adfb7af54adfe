"""Structure elements of a page: their words, their standard types, and which of them make units.

The page is read twice from one display list, without and with its structure elements. The words come from
the reading without: MuPDF splits words, lines and drawing order at every element, and only the tags may
depend on that. A sample of at most ``ELEMENTS`` elements decides whether the tree is sound: trees have tens
of thousands of elements, and hostile ones are cyclic or endless.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import msgspec
import pymupdf
from msgspec.structs import replace
from pymupdf import mupdf

from pdf.extract.words import MuPDFWord, RawWord
from pdf.structure import UnitType

# Standard types of blocks of text.
BLOCKS: dict[str, UnitType] = {
    "P": "prose",
    "BlockQuote": "prose",
    "BibEntry": "prose",
    "Title": "heading",
    **{f"H{level}": "heading" for level in ("", 1, 2, 3, 4, 5, 6)},
    "LI": "list",
    "Caption": "caption",
    "Note": "footnote",
    "FENote": "footnote",
    "Code": "code",
    "Formula": "formula",
    "TOCI": "prose",
}
CELLS = {"TD", "TH"}
TABLE, ROW, LABEL = "Table", "TR", "Lbl"
# Types with a meaning; all others only group elements, or mark a run of characters.
MEANINGFUL = {*BLOCKS, *CELLS, "LBody", LABEL}
# Most steps followed through a role map, which may be cyclic.
_LONGEST_CHAIN = 8


def standard(role: str, role_map: Mapping[str, str]) -> str:
    """Return the standard type that the role map gives for ``role``; ``role`` itself if it gives none."""
    for _ in range(_LONGEST_CHAIN):
        if role in MEANINGFUL or role not in role_map:
            break
        role = role_map[role]
    return role


def heading_level(role: str) -> int | None:
    """Return 1..6 for ``H1`` to ``H6``, 1 for ``Title``; None for types without a level."""
    if role == "Title":
        return 1
    return int(role[1]) if len(role) == 2 and role[0] == "H" and role[1] in "123456" else None


# A page with more elements is read as untagged.
MOST_ELEMENTS = 5_000
# With a larger share of the words in no element, word repair may have changed their boxes.
MOVED_SHARE = 0.3
# Words closer than this (ems) may be parts of one word.
JOINED_GAP = 0.15
_EVERYWHERE = mupdf.FzRect(mupdf.FzRect.Fixed_INFINITE)
# Images contain no text, and can take seconds to decode.
_TEXT_ONLY = mupdf.FZ_DONT_DECODE_IMAGES | mupdf.FZ_NO_CACHE
_LINE = itemgetter(5, 6)


class Element(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One element of the structure tree that has words on the page.

    ``role`` is its standard type; ``parent`` the number of its parent, which is less than its own, or -1.
    """

    role: str
    parent: int


class _Node(msgspec.Struct):
    type: str = ""
    raw: str = ""
    std: str = ""
    contents: list[_Node] = []


class _Blocks(msgspec.Struct):
    blocks: list[_Node]


_DECODER = msgspec.json.Decoder(_Blocks)


class TaggedPage:
    """The display list of one page, from which text is read with or without structure elements."""

    def __init__(self, page: pymupdf.Page) -> None:
        """Record the page's display list. Raises MuPDF's exceptions on damaged pages."""
        self._display = _display_list(page)

    def textpage(self, flags: int) -> pymupdf.TextPage:
        """Return the text page for MuPDF's ``flags``, as ``page.get_textpage`` does, but without a clip."""
        options, found = mupdf.FzStextOptions(flags), mupdf.FzStextPage(_EVERYWHERE)
        device = mupdf.fz_new_stext_device(found, options)
        mupdf.fz_run_display_list(self._display, device, mupdf.FzMatrix(), _EVERYWHERE, mupdf.FzCookie())
        mupdf.fz_close_device(device)
        return pymupdf.TextPage(found)

    def elements(
        self, flags: int, role_map: Mapping[str, str]
    ) -> tuple[list[Element], dict[tuple[float, float], int]]:
        """Return the elements in the order of the tree, and the number of each word's element.

        Words are identified by their upper left corners (points). Both results are empty where the tags
        cannot be read.
        """
        textpage = self.textpage(flags | pymupdf.TEXT_COLLECT_STRUCTURE)
        try:
            elements, holders = _elements_and_holders(_DECODER.decode(_as_json(textpage)).blocks, role_map)
            owners = {
                (x0, y0): holders[block]
                for x0, y0, _, _, _, block, _, _ in textpage.extractWORDS()
                if holders[block] >= 0
            }
        except (msgspec.DecodeError, RecursionError, LookupError, UnicodeDecodeError):
            return [], {}
        return elements, owners


def _display_list(page: pymupdf.Page) -> mupdf.FzDisplayList:
    """Return the display list of the page without its rotation."""
    rotation = page.rotation
    if rotation:
        page.set_rotation(0)
    try:
        drawn = mupdf.FzDisplayList(_EVERYWHERE)
        device = mupdf.fz_new_list_device(drawn)
        mupdf.fz_enable_device_hints(device, _TEXT_ONLY)
        mupdf.fz_run_page(page.this, device, mupdf.FzMatrix(), mupdf.FzCookie())
        mupdf.fz_close_device(device)
        return drawn
    finally:
        if rotation:
            page.set_rotation(rotation)


def _as_json(textpage: pymupdf.TextPage) -> bytes:
    buffer = mupdf.fz_new_buffer(4096)
    out = mupdf.FzOutput(buffer)
    mupdf.fz_print_stext_page_as_json(out, textpage.this, 1.0)
    out.fz_close_output()
    return bytes(buffer.fz_buffer_extract())


def _elements_and_holders(
    blocks: list[_Node], role_map: Mapping[str, str]
) -> tuple[list[Element], list[int]]:
    """Return the elements from the root down, and for each text block the number of its element, or -1.

    Raises LookupError when there are more than ``MOST_ELEMENTS``.
    """
    elements: list[Element] = []
    holders: list[int] = []
    types: dict[str, str] = {}
    waiting = [(iter(blocks), -1)]
    while waiting:
        nodes, parent = waiting[-1]
        for node in nodes:
            if node.type == "text":
                holders.append(parent)
            elif node.type == "structure":
                role = types.get(node.raw) or types.setdefault(node.raw, standard(node.raw, role_map))
                waiting.append((iter(node.contents), len(elements)))
                elements.append(Element(role, parent))
                break
        else:
            waiting.pop()
    if len(elements) > MOST_ELEMENTS:
        raise LookupError("too many elements")
    return elements, holders


def with_tags(
    made: list[RawWord], words: list[MuPDFWord], owners: Mapping[tuple[float, float], int]
) -> list[RawWord]:
    """Return the words of ``made`` with the numbers of their elements.

    ``words`` are the words of MuPDF from which they were made; ``owners`` maps the upper left corner of
    a word to its element.
    """
    if not owners:
        return made
    tagged = [
        word if (tag := owners.get((word.x0, word.y0))) is None else replace(word, tag=tag) for word in made
    ]
    missing = sum(word.tag < 0 for word in tagged)
    if missing > MOVED_SHARE * len(tagged):
        tagged = _tagged_by_line(made, words, owners)
    return _with_tails(tagged) if missing else tagged


def _with_tails(words: list[RawWord]) -> list[RawWord]:
    """Give a word without an element, which touches the word before it, that word's element."""
    out = words[:1]
    for word in words[1:]:
        last = out[-1]
        if (
            word.tag < 0 <= last.tag
            and abs(word.baseline - last.baseline) < JOINED_GAP * word.style.size
            and abs(word.x0 - last.x1) < JOINED_GAP * word.style.size
        ):
            out.append(replace(word, tag=last.tag))
        else:
            out.append(word)
    return out


def _tagged_by_line(
    made: list[RawWord], words: list[MuPDFWord], owners: Mapping[tuple[float, float], int]
) -> list[RawWord]:
    """Tag words by their line and left edge, which word repair leaves unchanged."""
    tags = {
        (number, word[0]): owners.get((word[0], word[1]), -1)
        for number, (_, line) in enumerate(groupby(words, key=_LINE))
        for word in line
    }
    return [replace(word, tag=tags.get((word.line, word.x0), -1)) for word in made]


# The first paragraph in one of these is part of it; later ones are units of their own.
_OPENED = {"LI", "Caption", "Note", "FENote", "TOCI", "Title", *(f"H{n}" for n in ("", 1, 2, 3, 4, 5, 6))}
# These may be part of a line of a paragraph.
_INLINE = {"Code", "Formula"}
# Text in a figure, form or table is not running text: cells make rows, or the geometry decides.
_APART = {"Figure", "Form", TABLE, ROW, *CELLS}


class Owners:
    """For each element, the numbers of the elements that contain its words, or -1.

    ``unit`` is its paragraph, heading, list item or the like; ``cell``, ``row`` and ``table`` are set in
    a table; ``role`` is the type of the unit; ``depth`` the number of list items around it; ``apart``
    tells whether it is in a table, a figure or a form.
    """

    def __init__(self, elements: Sequence[Element]) -> None:
        count = len(elements)
        self.unit, self.cell, self.row, self.table = ([-1] * count for _ in range(4))
        self.role = [element.role for element in elements]
        self.depth = [0] * count
        self.apart = [False] * count
        self._opened: set[int] = set()
        for number, element in enumerate(elements):
            if element.parent >= 0:
                self.apart[number] = self.apart[element.parent]
                for inherited in (self.unit, self.cell, self.row, self.table, self.depth):
                    inherited[number] = inherited[element.parent]
            self._place(number, element.role)

    def _place(self, number: int, role: str) -> None:
        if role == TABLE:
            self.table[number], self.row[number], self.cell[number] = number, -1, -1
        elif role == ROW:
            self.row[number] = number
        elif role in CELLS:
            self.cell[number] = number
        elif role == "LI":
            self.depth[number] += 1
        if role in _APART:
            self.unit[number], self.apart[number] = -1, True
        elif role in BLOCKS and self.table[number] < 0:
            self.unit[number] = self._unit(number, role)

    def _unit(self, number: int, role: str) -> int:
        """Return the unit of an element: itself, or the unit around it that it is part of."""
        around = self.unit[number]
        if around < 0:
            return number
        if role in _INLINE:
            return around
        if self.role[around] in _OPENED and around not in self._opened:
            self._opened.add(around)
            if BLOCKS[role] == "heading":
                self.role[around] = role
            if BLOCKS[role] in ("heading", "prose"):
                return around
        return number


# --- Whether a document's structure tree is sound enough to be used ---


# Largest number of sampled elements, and of sampled children of one element, spread evenly.
ELEMENTS = 120
CHILDREN = 12
# MuPDF walks from an element up to the root in time that grows with the square of its depth.
DEEPEST = 40
# Least share of the content that must be under types of ``BLOCKS``.
MEANINGFUL_SHARE = 0.6
_LARGEST_ROLE_MAP = 500

RoleMap = dict[str, str]


def readable_tags(document: pymupdf.Document) -> RoleMap | None:
    """Return the document's role map where its structure tree is sound; None for other documents.

    Raises MuPDF's exceptions on damaged files.
    """
    catalog = mupdf.pdf_dict_gets(mupdf.pdf_trailer(pymupdf._as_pdf_document(document)), "Root")
    marked = mupdf.pdf_dict_gets(mupdf.pdf_dict_gets(catalog, "MarkInfo"), "Marked")
    if not mupdf.pdf_to_bool(marked):
        return None
    root = mupdf.pdf_dict_gets(catalog, "StructTreeRoot")
    if not mupdf.pdf_is_dict(mupdf.pdf_dict_gets(root, "ParentTree")):
        return None
    role_map = _role_map(mupdf.pdf_dict_gets(root, "RoleMap"))
    return role_map if _is_meaningful(root, role_map) else None


def _role_map(named: mupdf.PdfObj) -> RoleMap:
    """Return the standard types of the document's own types.

    MuPDF takes one step through the map, and drops elements whose type is then not a standard one.
    So chains are shortened to one step in the open document; its file is never changed.
    """
    count = min(mupdf.pdf_dict_len(named), _LARGEST_ROLE_MAP)
    found = {
        mupdf.pdf_to_name(mupdf.pdf_dict_get_key(named, i)): mupdf.pdf_to_name(
            mupdf.pdf_dict_get_val(named, i)
        )
        for i in range(count)
    }
    for own, role in found.items():
        if role in found and (final := standard(role, found)) != role:
            mupdf.pdf_dict_puts(named, own, mupdf.pdf_new_name(final))
    return found


def _is_meaningful(root: mupdf.PdfObj, role_map: RoleMap) -> bool:
    """Return whether most of the sampled content outside table cells is under types of ``BLOCKS``."""
    content = meaningful = 0
    waiting = [(kid, "", 1) for kid in _sampled(root)]
    for _ in range(ELEMENTS):
        if not waiting:
            break
        element, known, depth = waiting.pop()
        if depth > DEEPEST:
            return False
        role = _role(element, role_map)
        known = role if role in BLOCKS or (role in CELLS and known not in BLOCKS) else known
        has_content = False
        for kid in _sampled(element):
            if _is_element(kid):
                waiting.append((kid, known, depth + 1))
            else:
                has_content = True
        content += has_content and known not in CELLS
        meaningful += has_content and known in BLOCKS
    return content > 0 and meaningful >= MEANINGFUL_SHARE * content


def _sampled(element: mupdf.PdfObj) -> Iterator[mupdf.PdfObj]:
    """Yield evenly spread children in reverse order, because the walk takes the last one first."""
    kids = mupdf.pdf_dict_gets(element, "K")
    count = mupdf.pdf_array_len(kids)
    if not count:
        if not mupdf.pdf_is_null(kids):
            yield kids
        return
    step = max(1, -(-count // CHILDREN))
    for i in reversed(range(0, count, step)):
        yield mupdf.pdf_array_get(kids, i)


def _is_element(kid: mupdf.PdfObj) -> bool:
    """Return whether a child is an element; content is a number (MCID) or a reference."""
    return bool(mupdf.pdf_is_dict(kid)) and bool(mupdf.pdf_is_name(mupdf.pdf_dict_gets(kid, "S")))


def _role(element: mupdf.PdfObj, role_map: RoleMap) -> str:
    return standard(mupdf.pdf_to_name(mupdf.pdf_dict_gets(element, "S")), role_map)
