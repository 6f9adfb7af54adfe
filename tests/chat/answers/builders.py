"""Passages for answers without a model, built in memory as those of one search hit."""

from __future__ import annotations

import re
from dataclasses import replace

from chat.answers.prompt import ContextItem, SearchNotes
from chat.answers.without_model.answer import answer_without_model
from chat.providers.base import NativeCitation, TextDelta
from citing.claims import SourceUnit
from pdf.geometry import Rect
from pdf.structure import Cell, TableRow, UnitType, Word


def words_of(text: str, start: int) -> tuple[Word, ...]:
    words, at = [], 0
    for part in text.split():
        begin = text.index(part, at)
        at = begin + len(part)
        words.append(Word(start + begin, start + at, 60 + 5 * begin, start, 60 + 5 * at, start + 10))
    return tuple(words)


def unit_of(
    alias: str,
    text: str,
    page: int = 1,
    section: str = "",
    kind: UnitType = "prose",
    table: TableRow | None = None,
    title: str = "Handbook",
    language: str = "en",
) -> SourceUnit:
    start = int(alias[1:]) * 1000
    path = (section,) if section else ()
    return SourceUnit(
        alias, title, page, text, start, words_of(text, start), kind, path, table, title, language
    )


def prose(alias: str, text: str, page: int = 1, section: str = "", **more: str) -> ContextItem:
    return ContextItem(alias, unit_of(alias, text, page, section, **more), rank=1)  # type: ignore[arg-type]


def row(
    alias: str,
    *cells: str,
    heads: tuple[str, ...] = (),
    page: int = 1,
    section: str = "",
    caption: str = "",
    **more: str,
) -> ContextItem:
    """A table row whose words stand on the page, 100 points a column, under its heads."""
    number, text = int(alias[1:]), "\t".join(cells)
    laid, at = [], number * 1000
    for column, cell in enumerate(cells):
        rect = Rect(60 + 100 * column, number * 20, 60 + 100 * column + 6 * len(cell), number * 20 + 10)
        laid.append(Cell(column, cell, rect, False, at, at + len(cell)))
        at += len(cell) + 1
    table = TableRow(1, number, tuple(laid), head_rows=heads, caption=caption)
    unit = unit_of(alias, text, page, section, "table", table, **more)  # type: ignore[arg-type]
    words = tuple(Word(c.char_start, c.char_end, *c.rect) for c in laid if c.rect)
    return ContextItem(alias, replace(unit, words=words), rank=1)


def on_one_page(*passages: ContextItem) -> list[ContextItem]:
    units = [passage.unit for passage in passages]
    return [replace(p, around=[unit for unit in units if unit is not p.unit]) for p in passages]


def headed(heads: tuple[str, ...], *rows: ContextItem) -> list[ContextItem]:
    """Rows of one page under a header row that prints their heads."""
    head = row("u0", *heads)
    assert head.unit.table is not None
    table = TableRow(1, 0, head.unit.table.cells, header=True)
    return on_one_page(replace(head, unit=replace(head.unit, table=table)), *rows)


def answered(
    question: str, passages: list[ContextItem], absent: tuple[str, ...] = (), packs: tuple[str, ...] = ()
) -> tuple[list[str], list[NativeCitation]]:
    """The notices, then the lit line of each passage behind a dash; and the citations of passages."""
    text, citations = shown(question, passages, absent, packs)
    notice = text.partition("#### ")[0]
    notices = [line for line in notice.splitlines() if line and not line.startswith(HEADINGS)]
    lit = [f"- {found[1]}" for found in LIT.finditer(text.removeprefix(notice))]
    return [*notices, *lit], [citation for citation in citations if citation.is_passage]


def shown(
    question: str, passages: list[ContextItem], absent: tuple[str, ...] = (), packs: tuple[str, ...] = ()
) -> tuple[str, list[NativeCitation]]:
    """All that is shown, as Markdown, and its citations."""
    deltas = list(answer_without_model(question, passages, SearchNotes(absent, packs)))
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    return text, [delta for delta in deltas if isinstance(delta, NativeCitation)]


LIT = re.compile(r"(?<!\\)\*\*(.+?)(?<!\\)\*\*(?!\*)")
HEADINGS = ("**Passages", "**Closest", "**Stellen", "**Nächst", "**相关段落", "**最接近")
