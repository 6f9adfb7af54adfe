"""One block of an external parser, whatever parser that was."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

BlockType = Literal["text", "heading", "list", "table", "code", "caption", "footnote", "formula", "media"]
Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]
LONGEST_TEXT = 1_000_000  # characters of one block
MOST_BLOCKS = 200_000


class AdapterError(Exception):
    """The payload is not what the adapter reads; the message is for people."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of an external block.

    Attributes:
        page: from 1; slides and sheets count as pages.
        quad: four corners, clockwise from the top left, in 0..1 of the page, origin top left.
        level: of a heading, from 1; of a list item, its depth from 0.
        rows: of a table, its cells as text, head first where ``has_head``.
        row, column: of a cell on its sheet, from 1.
        start_ms, end_ms: of spoken or moving media.
    """

    type: BlockType = "text"
    text: str
    page: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 1
    quad: tuple[tuple[Fraction, Fraction], ...] = ()
    level: int | None = None
    list_style: str = ""
    code_language: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    has_head: bool = False
    caption: str = ""
    paragraph: int | None = None
    line: int | None = None
    slide: int | None = None
    sheet: str = ""
    row: int | None = None
    column: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None

    @property
    def extras(self) -> dict[str, int | str]:
        """What has no column of its own, small and safe to keep as JSON."""
        names = ("paragraph", "line", "slide", "sheet", "row", "column", "start_ms", "end_ms")
        found = {name: getattr(self, name) for name in names}
        return {name: value for name, value in found.items() if value not in (None, "")}


def make_block(**values: object) -> Block:
    """A validated Block. Raises AdapterError."""
    text = values.get("text")
    if isinstance(text, str):
        values["text"] = clean(text)
    try:
        block = msgspec.convert(values, Block, strict=False)
    except msgspec.ValidationError as error:
        raise AdapterError(f"A block cannot be read: {error}") from None
    if len(block.text) > LONGEST_TEXT:
        raise AdapterError(f"A block is longer than {LONGEST_TEXT:,} characters.")
    return block


def clean(text: str) -> str:
    """Without NUL, which PostgreSQL refuses, and lone surrogates, which are no characters."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def quad_of(x0: float, y0: float, x1: float, y1: float, width: float, height: float) -> tuple:
    """Corners in fractions from a box and its page's size; () where there is no size. Clamped to the page."""
    if width <= 0 or height <= 0:
        return ()
    left, right = sorted((_fraction(x0 / width), _fraction(x1 / width)))
    top, bottom = sorted((_fraction(y0 / height), _fraction(y1 / height)))
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def _fraction(value: float) -> float:
    return min(1.0, max(0.0, value))
