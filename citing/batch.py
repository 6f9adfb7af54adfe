"""Verify the cases of ``manage.py verify --batch``: claims with their passages, as lines of JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import msgspec

from citing.claims import VERIFIED, Claim, SourceUnit, Verification, words_between
from citing.verdict import verify, verify_among
from pdf.api import parse_file
from pdf.sandbox.messages import Limits
from pdf.structure import Cell, ParsedPage, TableRow
from text.numbers import YEAR

_HEADING_WIDTH = 0.75  # maximum share of the widest line for a heading


class Case(msgspec.Struct, frozen=True):
    """A claim and its source: ``passage``, or ``page`` (1-based) of ``pdf``.

    ``unit`` is the index of the cited unit on its page; without it all units of the page are tried.
    """

    claim: str
    quote: str = ""
    question: str = ""
    id: str = ""
    lang: str = ""
    title: str = ""
    passage: str = ""
    pdf: str = ""
    page: int = 1
    unit: int | None = None


class Checked(msgspec.Struct, frozen=True):
    """One line of output. Spans count characters of the claim and of the passage (or the page's text)."""

    id: str
    verdict: str
    verified: bool
    reason: str
    missing: tuple[str, ...]
    conflicts: tuple[CheckedConflict, ...]
    unchecked: tuple[str, ...]
    quote: str
    page: int
    char_start: int
    char_end: int


class CheckedConflict(msgspec.Struct, frozen=True):
    """A difference of claim and source, with the words on both sides."""

    kind: str
    claim: str
    source: str
    claim_span: tuple[int, int]
    source_span: tuple[int, int]


DEFAULT_LIMITS = Limits()
_ENDS = ".!?。！？"  # of a sentence


def check(case: Case, root: Path = Path(), limits: Limits = DEFAULT_LIMITS) -> Checked:
    """Return the verdict. Raises ValueError for a bad case, ``ParseFailure`` for an unreadable file."""
    units = _units(case, root, limits)
    if case.unit is not None and not 0 <= case.unit < len(units):
        raise ValueError(f"The page has no unit {case.unit}.")
    if not units:
        raise ValueError("The passage is empty.")
    claim = Claim(case.claim, case.quote, case.question)
    if case.unit is None or case.passage:
        return _checked(case.id, verify_among(claim, units))
    cited = units[case.unit]
    return _checked(case.id, verify(claim, cited, [unit for unit in units if unit is not cited]))


def verify_on_page(claim: Claim, page: ParsedPage) -> Verification:
    """Return the verdict of the page's unit that fits the claim best. Raises ValueError for an empty page."""
    units = page_units(page, "")
    if not units:
        raise ValueError("The page has no text.")
    return verify_among(claim, units)


def _units(case: Case, root: Path, limits: Limits) -> list[SourceUnit]:
    if not case.claim.strip():
        raise ValueError("The claim is empty.")
    if case.passage.strip():
        return passage_units(case.passage, case.lang, case.title)
    if not case.pdf:
        raise ValueError("Give a passage, or a pdf and a page.")
    pages = _pages(root / case.pdf, limits)
    if not 1 <= case.page <= len(pages):
        raise ValueError(f"The file has no page {case.page}.")
    named = case.title or Path(case.pdf).stem.replace("_", " ")  # whose document it is, claims say by name
    return page_units(pages[case.page - 1], case.pdf, named, case.lang)


@lru_cache(maxsize=4)
def _pages(path: Path, limits: Limits) -> Sequence[ParsedPage]:
    return parse_file(path, limits=limits).pages


def page_units(page: ParsedPage, document: str, title: str = "", language: str = "") -> list[SourceUnit]:
    """Return the units of a parsed page for the verifier."""
    return [
        SourceUnit(
            id=f"{document}:{page.number}:{unit.index}",
            document=document,
            page=page.number,
            text=unit.text,
            char_start=unit.char_start,
            words=words_between(page.words, unit.char_start, unit.char_end),
            type=unit.type,
            section_path=unit.section_path,
            table=unit.table,
            title=title,
            language=language,
        )
        for unit in page.units
    ]


def passage_units(passage: str, language: str = "", title: str = "") -> list[SourceUnit]:
    """Return units for the prose before a table, for each table row, and for the prose after it."""
    units: list[SourceUnit] = []
    heads: tuple[str, ...] = ()
    prose: list[tuple[int, str]] = []
    start = rows = headers = 0
    caption = ""
    section: list[str] = []

    def add(begin: int, text: str, table: TableRow | None = None) -> None:
        kind = "table" if table else "prose"
        name = f"passage:{len(units)}"
        units.append(
            SourceUnit(name, "passage", 1, text, begin, (), kind, tuple(section), table, title, language)  # type: ignore[arg-type]
        )

    def end_prose() -> None:
        for begin, heading, text in _paragraphs(prose):
            add(begin, text)
            if heading:
                units[-1] = replace(units[-1], type="heading")
                section[:] = [text]
        prose.clear()

    for line in passage.split("\n"):
        if line.lstrip().startswith("|"):
            caption = caption or "\n".join(said for _, said in prose).strip()
            end_prose()
            if units and units[-1].type == "prose" and units[-1].text[-1] not in _ENDS:
                units[-1] = replace(units[-1], type="caption")
            cells = _cells(line, start)
            if not _is_rule(cells):
                header = not rows or (len(heads) == len(cells) and rows == headers and _goes_on(heads, cells))
                heads = _joined(heads, cells) if header else heads
                headers += header
                row = TableRow(0, rows, cells, header, () if header else heads, caption)
                add(cells[0].char_start, passage[cells[0].char_start : cells[-1].char_end], row)
                rows += 1
        else:
            prose.append((start, line))
        start += len(line) + 1
    end_prose()
    return units


_AMOUNT = re.compile(r"[-–−$€£¥(]*\d[\d.,]*\s?[%)]*")


def _goes_on(heads: Sequence[str], cells: Sequence[Cell]) -> bool:
    """Return whether a row is the second line of heads, which has nothing under the corner.

    True: "| | 2024 | 2023 |" under "| | Three months | |"; "| | (N = 250) |" under "| | Placebo |".
    False: "| Sales | 20 | 30 |"; "| | 20 | 30 |" under "| Item | 2023 | 2022 |".
    """
    own = [cell.text for cell in cells[1:] if cell.text]
    spans = any(not head for head in heads[1:])
    amounts = any(_AMOUNT.fullmatch(text) and not YEAR.fullmatch(text) for text in own)
    texts = not any(map(str.isdigit, "".join(own)))
    whole = all(cell.text or head for cell, head in zip(cells, heads, strict=True))
    return bool(own) and not amounts and (not cells[0].text or (spans and texts and whole))


def _joined(heads: Sequence[str], cells: Sequence[Cell]) -> tuple[str, ...]:
    """Return the heads with their second line; one that spans columns stands over each of them."""
    found: list[str] = []
    over = ""
    for at, cell in enumerate(cells):
        over = (heads[at] or (over if at > 1 else "")) if heads else ""
        found.append(f"{over} {cell.text}".strip())
    return tuple(found)


def _paragraphs(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, bool, str]]:
    """Yield start, whether it is a heading, and text of each heading or paragraph; line breaks become spaces.

    A short line without a full stop before a capital is a heading; other lines make one paragraph.
    """
    widest = max((len(line.strip()) for _, line in lines), default=0)
    begin, text = 0, ""
    for (start, line), (_, after) in zip(lines, [*lines[1:], (0, "")], strict=False):
        stripped = line.strip()
        opens = after.strip()[:1].isupper() and stripped[-1:].isalnum()
        heading = not text and bool(stripped) and opens and len(stripped) < _HEADING_WIDTH * widest
        begin = begin if text else start + len(line) - len(line.lstrip())
        text += f"{line} " if text else f"{line.lstrip()} " if stripped else ""
        if text and (heading or not after.strip()):
            yield begin, heading, text.rstrip()
            text = ""


_EMPHASIS = " \t*_"  # "**Total**"; also a mark of a footnote


def _cells(line: str, start: int) -> tuple[Cell, ...]:
    """Return the cells of a Markdown row, with their characters in the passage."""
    cells: list[Cell] = []
    at = line.index("|") + 1
    for part in line[at:].rstrip().removesuffix("|").split("|"):
        first = start + at + len(part) - len(part.lstrip(_EMPHASIS))
        text = part.strip(_EMPHASIS)
        cells.append(Cell(len(cells), text, None, False, first, first + len(text)))
        at += len(part) + 1
    return tuple(cells)


def _is_rule(cells: Sequence[Cell]) -> bool:
    return all(cell.text and not cell.text.strip("-:") for cell in cells)


def _checked(name: str, found: Verification) -> Checked:
    conflicts = tuple(
        CheckedConflict(c.kind, c.claim, c.source, c.claim_span, c.source_span) for c in found.conflicts
    )
    return Checked(
        name,
        found.verdict,
        found.verdict in VERIFIED,
        found.reason,
        found.missing,
        conflicts,
        found.unchecked,
        found.quote,
        found.page,
        found.char_start,
        found.char_end,
    )
