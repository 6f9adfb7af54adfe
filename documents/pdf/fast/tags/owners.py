"""What the elements of a page stand for: which makes a unit, which a cell of which row of which table."""

from __future__ import annotations

from collections.abc import Sequence

from documents.pdf.fast.tags.elements import Element
from documents.pdf.fast.tags.roles import BLOCKS, CELLS, ROW, TABLE

# A paragraph that begins one of these is part of it; further ones are units of their own.
_OPENED = {"LI", "Caption", "Note", "FENote", "TOCI", "Title", *(f"H{n}" for n in ("", 1, 2, 3, 4, 5, 6))}
# These may stand in a line of a paragraph.
_INLINE = {"Code", "Formula"}
# What stands in a picture or a table is no running text: cells make rows, or geometry has the word.
_APART = {"Figure", "Form", TABLE, ROW, *CELLS}


class Owners:
    """For each element the number of the one that owns its words, or -1.

    ``unit`` is its paragraph, heading, item or the like; ``cell``, ``row`` and ``table`` where it
    stands in a table; ``role`` the type of the unit; ``depth`` how many items it stands in;
    ``apart`` whether it stands in a table, a figure or a form.
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
