"""Alignment of versions, and changed values found, on pairs of PDFs made from real texts by known edits.

The paragraphs of a PDF (PyMuPDF's blocks) or a text file are edited without the layout engine: numbers,
modal words, names and words are changed, sections moved, split, renumbered, removed and added (from the file
before). Both versions are drawn as PDFs with other fonts, page sizes and running heads, and read and compared
as uploads are. A section begins with a paragraph printed as a heading, or with a number where there are few
headings. A changed value is found where the list of changes has both of its forms.
"""

from __future__ import annotations

import random
import re
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pymupdf
from django.core.management.base import BaseCommand

from citing.versions import VersionUnit, compare
from documents.ingestion.parser import parse_limits
from pdf.api import parse_file

PAGES = 24  # of a PDF that make a pair
LEAST_SECTIONS = 6
NUMBERS, MODALS, NAMES, WORDS = 30, 6, 4, 12  # edits of a pair
MOVED, SPLIT, RENUMBERED, REMOVED, ADDED = 3, 2, 3, 2, 2  # sections
NUMBER = re.compile(r"(?<![\w.,/-])\d[\d,.]*(?<![.,])(?![\w/-])")
LABEL = re.compile(r"(?:(?:section|article|sec\.)\s+)?(?:\d{1,3}(?:\.\d{1,3})*\.?|[A-Z]\.)\s", re.I)
ITEM = re.compile(r"(?:\W*(?:\d{1,3}(?:\.\d{1,3})*|[a-z]{1,4})(?:[.)]+|(?=\s))(?=[\s(]|$))?", re.I)
NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}(?= [a-z])")
MODAL = {
    "shall": "may", "must": "should", "may": "must", "should": "must",
    "muss": "darf", "müssen": "dürfen", "sollte": "muss", "debe": "puede", "deben": "pueden", "doit": "peut",
}  # fmt: skip
STYLES = (
    ("tiro tibo", 10, "a4", ""),
    ("helv hebo", 11, "letter", "Amended and restated version"),
)  # fonts of text and headings, points, page, running head


@dataclass(slots=True)
class Paragraph:
    """``section``: index of the old section it is from, or -1; ``edits``: (kind, old, new)."""

    text: str
    starts: bool = False
    is_heading: bool = False
    section: int = -1
    edits: list[tuple[str, str, str]] = field(default_factory=list)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.pdf|FILE.txt")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", action="store_true", help="each section and value that was missed")
    parser.add_argument("--keep", type=Path, help="folder for the drawn PDFs")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    generator = random.Random(options["seed"])
    totals: Counter[str] = Counter()
    spare: list[list[Paragraph]] = []
    with TemporaryDirectory() as scratch:
        folder = options["keep"] or Path(scratch)
        for name, old in texts(options["files"]):
            if totals["pairs"] == options["pairs"]:
                break
            starts = sum(paragraph.starts for paragraph in old)
            if starts < LEAST_SECTIONS:
                continue
            new = edited(old, spare, generator)
            spare = sections(old)
            files = [folder / f"{name}.{side}.pdf" for side in ("old", "new")]
            for file, paragraphs, style in zip(files, (old, new), STYLES, strict=True):
                draw(file, paragraphs, *style)
            started = time.process_time()
            counts = score(files, old, new, command if options["misses"] else None)
            totals += counts
            spent = time.process_time() - started
            command.stdout.write(f"{line(counts)}  {len(old):>5} paragraphs {spent:5.1f} s  {name}")
    command.stdout.write(f"{line(totals)}  {totals['pairs']} pairs")
    return 0


# --- Texts ---


def texts(files: Sequence[Path]) -> Iterator[tuple[str, list[Paragraph]]]:
    """Yield the paragraphs of each file; of a PDF by ``PAGES`` pages."""
    for path in files:
        if path.suffix != ".pdf":
            parts = re.split(r"\n\s*\n", path.read_text(errors="replace"))
            yield path.name, marked([(one, is_title(one)) for one in parts])
            continue
        with pymupdf.open(path) as pdf:
            for start in range(0, len(pdf), PAGES):
                pages = [pdf[at] for at in range(start, min(start + PAGES, len(pdf)))]
                yield f"{path.stem}-{start + 1}", marked(blocks(pages))


def is_title(text: str) -> bool:
    """Return whether a paragraph of plain text is a heading: one short line with a number or in capitals."""
    line = text.strip()
    is_marked = LABEL.match(line) or line.isupper()
    return "\n" not in line and len(line) < 80 and bool(is_marked) and not re.search(r"[;,:]$", line)


def blocks(pages: Sequence[pymupdf.Page]) -> list[tuple[str, bool]]:
    """Return the blocks of pages in order, and whether each is in bold or large type; no repeated ones."""
    found: list[tuple[str, float, bool]] = []
    sizes = Counter[int]()
    for page in pages:
        for block in page.get_text("dict", sort=True)["blocks"]:
            spans = [
                span for line in block.get("lines", ()) for span in line["spans"] if span["text"].strip()
            ]
            if spans:
                text = " ".join(span["text"] for line in block["lines"] for span in line["spans"])
                for span in spans:
                    sizes[round(span["size"])] += len(span["text"])
                bold = all(span["flags"] & 16 or "bold" in span["font"].lower() for span in spans)
                found.append((text, min(span["size"] for span in spans), bold))
    body = sizes.most_common(1)[0][0] if sizes else 10
    seen = Counter(re.sub(r"\d+", "#", text.strip()) for text, _, _ in found)
    return [
        (text, len(text) < 100 and (bold or size > body + 1))
        for text, size, bold in found
        if seen[re.sub(r"\d+", "#", text.strip())] < 4
    ]


def marked(drawn: Sequence[tuple[str, bool]]) -> list[Paragraph]:
    """Return the paragraphs with the beginnings of sections: headings, else numbered paragraphs."""
    found = [
        Paragraph(text, is_heading, is_heading)
        for one, is_heading in drawn
        if re.search(r"\w{2}", text := " ".join(one.replace("\ufffd", " ").split()))
    ]
    if sum(paragraph.starts for paragraph in found) < LEAST_SECTIONS:
        for paragraph in found:
            paragraph.starts = bool(LABEL.match(paragraph.text))
    section = -1
    for at, paragraph in enumerate(found):
        paragraph.starts = paragraph.starts or at == 0
        section += paragraph.starts
        paragraph.section = section
    return found


def sections(paragraphs: Sequence[Paragraph]) -> list[list[Paragraph]]:
    found: list[list[Paragraph]] = []
    for paragraph in paragraphs:
        if paragraph.starts:
            found.append([])
        found[-1].append(paragraph)
    return found


# --- Edits ---


def edited(
    old: Sequence[Paragraph], spare: Sequence[list[Paragraph]], generator: random.Random
) -> list[Paragraph]:
    """Return the new version's paragraphs, with their edits."""
    new = [Paragraph(one.text, one.starts, one.is_heading, one.section) for one in old]
    edit_values(new, generator)
    parts = sections(new)
    for _ in range(min(REMOVED, len(parts) // 8)):
        parts.pop(generator.randrange(1, len(parts)))
    long = [part for part in parts[1:] if len(part) >= 6]
    for part in generator.sample(long, min(SPLIT, len(long))):
        middle = len(part) // 2 + 1
        head = Paragraph("Further provisions on this subject", True, part[0].is_heading, part[0].section)
        if not head.is_heading:
            head.text = f"{generator.randrange(100, 190)}. {head.text}"
        parts.insert(parts.index(part) + 1, [head, *part[middle:]])
        del part[middle:]
    for part in generator.sample(parts[1:], min(RENUMBERED, len(parts) - 1)):
        part[0].text = f"{generator.randrange(20, 99)}. {part[0].text[len(label(part[0].text)) :]}"
    for _ in range(min(MOVED, len(parts) // 4)):
        part = parts.pop(generator.randrange(1, len(parts)))
        parts.insert(generator.randrange(1, len(parts) + 1), part)
    short = [part for part in spare if 2 <= len(part) <= 12]
    for part in generator.sample(short, min(ADDED, len(short))):
        copies = [Paragraph(one.text, one.starts, one.is_heading) for one in part]
        parts.insert(generator.randrange(1, len(parts) + 1), copies)
    return [paragraph for part in parts for paragraph in part]


def label(text: str) -> str:
    match = LABEL.match(text)
    return match[0] if match else ""


def edit_values(new: Sequence[Paragraph], generator: random.Random) -> None:
    """Change numbers (and the numbers of dates), modal words, names and words: one edit of a paragraph."""
    body = [one for one in new if not one.is_heading and len(one.text) > 30]
    plans = (
        ("number", NUMBERS, NUMBER, other_number),
        (
            "modal",
            MODALS,
            re.compile(rf"(?<=\w )(?:{'|'.join(MODAL)})(?= [a-zäöü])"),
            lambda old, _: MODAL[old],
        ),
        ("name", NAMES, NAME, lambda _old, random: random.choice(("Harwell", "Ostrava", "Lindqvist"))),
        ("words", WORDS, re.compile(r"(?<=[a-z] )[a-z]{5,}(?= [a-z])"), lambda *_: "notwithstanding"),
    )
    for kind, count, pattern, other in plans:
        done = 0
        for one in generator.sample(body, len(body)):
            item = ITEM.match(one.text)
            spots = list(pattern.finditer(one.text, item.end() if item else 0))
            if spots and not one.edits and done < count:
                spot = generator.choice(spots)
                changed = other(spot[0], generator)
                one.text = one.text[: spot.start()] + changed + one.text[spot.end() :]
                one.edits.append((kind, spot[0], changed))
                done += 1


def other_number(digits: str, generator: random.Random) -> str:
    places = [at for at, mark in enumerate(digits) if mark.isdigit()]
    at = generator.choice(places)
    other = generator.choice([str(d) for d in range(1, 10) if str(d) != digits[at]])
    return digits[:at] + other + digits[at + 1 :]


# --- Drawing, reading ---


def draw(path: Path, paragraphs: Sequence[Paragraph], fonts: str, points: int, size: str, head: str) -> None:
    """Set the paragraphs in lines, headings larger and bold, with space between paragraphs."""
    whole = pymupdf.paper_rect(size)
    faces = [pymupdf.Font(name) for name in fonts.split()]
    pages: list[pymupdf.TextWriter] = []
    y = whole.height
    for one in paragraphs:
        font, height = faces[one.is_heading], points + 3 * one.is_heading
        y += height
        for words in wrapped(one.text, font, height, whole.width - 128):
            if y > whole.height - 72:
                y = 72.0 + height
                pages.append(pymupdf.TextWriter(whole))
                if head:
                    pages[-1].append((64, 40), head, faces[0], 8)
                    pages[-1].append((whole.width / 2, whole.height - 36), str(len(pages)), faces[0], 8)
            pages[-1].append((64, y), words, font, height)
            y += 1.25 * height
    with pymupdf.open() as pdf:
        for writer in pages:
            writer.write_text(pdf.new_page(width=whole.width, height=whole.height))
        pdf.save(path)


def wrapped(text: str, font: pymupdf.Font, size: int, width: float) -> Iterator[str]:
    line, length = "", 0.0
    for word in text.split():
        wide = font.text_length(f"{word} ", size)
        if line and length + wide > width:
            yield line
            line, length = "", 0.0
        line, length = f"{line} {word}".strip(), length + wide
    yield line


def units_in(path: Path) -> list[VersionUnit]:
    parsed = parse_file(path, limits=parse_limits())
    return [
        VersionUnit(
            f"{page.number}.{unit.index}", page.number, unit.text, unit.type == "heading", parsed.language
        )
        for page in parsed.pages
        for unit in page.units
        if unit.text.strip()
    ]


def placed(units: Sequence[VersionUnit], paragraphs: Sequence[Paragraph]) -> list[int]:
    """Return the index of each unit's paragraph, by the letters that both print in the same order."""
    printed = [re.sub(r"\W", "", one.text) for one in paragraphs]
    owner = [at for at, text in enumerate(printed) for _ in text]
    letters = "".join(printed)
    found, place = [], 0
    for unit in units:
        own = re.sub(r"\W", "", unit.text)
        near = max(0, place - 100), place + 600
        at = next((at for part in (own[:40], own[:12]) if (at := letters.find(part, *near)) >= 0), place)
        found.append(owner[min(at, len(owner) - 1)])
        place = at + len(own)
    return found


# --- Scores ---


def score(
    files: Sequence[Path], old: Sequence[Paragraph], new: Sequence[Paragraph], command: BaseCommand | None
) -> Counter[str]:
    units = [units_in(file) for file in files]
    places = [placed(listed, paragraphs) for listed, paragraphs in zip(units, (old, new), strict=True)]
    found = compare(*units)
    numbers: list[list[int]] = []  # section of each paragraph, in its own version
    for paragraphs in (old, new):
        at = -1
        numbers.append([at := at + one.starts for one in paragraphs])
    true = {(one.section, numbers[1][at]) for at, one in enumerate(new) if one.section >= 0}

    def section(side: int, start: int) -> int:
        return numbers[side][places[side][start]]

    links = {
        (section(0, found.old_sections[o].start), section(1, found.new_sections[n].start))
        for pair in found.sections
        for o in pair.old
        for n in pair.new
    }
    counts = Counter(pairs=1, right=len(links & true), links=len(links), true=len(true))
    report = command.stdout.write if command else None
    if report:
        heads = [[part[0].text[:60] for part in sections(side)] for side in (old, new)]
        for o, n in sorted(links ^ true):
            report(f"   {'+' if (o, n) in links else '-'} {heads[0][o]} | {heads[1][n]}")
    edits = [(at, *edit) for at, one in enumerate(new) for edit in one.edits]
    for at, kind, before, after in edits:
        said = [
            change
            for change in found.changes
            if change.old_unit >= 0 <= change.new_unit and before in change.old and after in change.new
        ]
        is_found = any(abs(places[1][change.new_unit] - at) <= 1 for change in said)
        counts[f"all {kind}"] += 1
        counts[f"found {kind}"] += is_found
        if report and not is_found:
            report(f"   {'MISPLACED ' if said else ''}{kind} {before} → {after}: {new[at].text[:160]}")
    values = {edit[2:] for edit in edits}
    for change in found.changes:
        if change.kind in ("number", "date") and change.old_unit >= 0 <= change.new_unit:
            is_true = any(a in change.old and b in change.new for a, b in values)
            counts["said"] += 1
            counts["false"] += not is_true
            if report and not is_true:
                report(f"   false {change.kind}: {change.old[:60]} → {change.new[:60]}")
    return counts


def line(counts: Counter[str]) -> str:
    f1 = 2 * counts["right"] / (counts["links"] + counts["true"] or 1)
    shares = "  ".join(
        f"{kind} {counts[f'found {kind}']}/{counts[f'all {kind}']}" for kind in ("number", "modal", "name")
    )
    return f"F1 {f1:.3f}  {shares}  false numbers {counts['false']}/{counts['said']}"
