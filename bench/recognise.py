"""Character error rate of recognised pages, by script and damage; pages a second.

Pages with text of their own are drawn to pictures, damaged step by step, recognised, laid out, and
compared with their own text, laid out by the same engine: so the order of reading is not measured.
"""

from __future__ import annotations

import io
import random
import time
import unicodedata
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cv2
import msgspec
import numpy as np
import pymupdf
from django.core.management.base import BaseCommand
from numpy.typing import NDArray
from PIL import Image
from rapidfuzz.distance import Levenshtein

from bench.ingest import chosen_files
from documents.ingestion.parser import parse_limits
from pdf.api import parse_file, recognise_pages
from pdf.failures import ParseFailure
from pdf.sandbox.messages import PageRecognised
from pdf.structure import ParsedPage

DOTS_PER_INCH = 170
JPEG_QUALITY = 80
FEWEST_LETTERS = 200  # of a page that is measured
SKEW_DEGREES = 2.0
NOISE = 25.0  # standard deviation of grey values, of 255
SEED = 7

Picture = NDArray[np.uint8]


class ScannedPage(msgspec.Struct, frozen=True):
    """A page with text of its own, as a picture."""

    text: str
    script: str
    picture: Picture


class RecognitionFigures(msgspec.Struct, frozen=True):
    """Mean character error rate (0..1) by damage, then by script; seconds are wall time of OCR."""

    pages: int
    error_rate: dict[str, dict[str, float]]
    pages_per_second: float


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--limit", type=int, default=12, help="most files, spread over the folder")
    parser.add_argument("--json", action="store_true")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    figures = measure(list(pages_of(chosen_files(options["folder"], options["limit"]))))
    if options["json"]:
        command.stdout.write(msgspec.json.encode(figures).decode())
        return 0
    scripts = sorted({script for rates in figures.error_rate.values() for script in rates})
    command.stdout.write(f"{'character error rate':<22}" + "".join(f"{script:>12}" for script in scripts))
    for damage, rates in figures.error_rate.items():
        command.stdout.write(
            f"{damage:<22}" + "".join(f"{rates.get(script, 0):>12.3f}" for script in scripts)
        )
    command.stdout.write(f"{figures.pages} pages, {figures.pages_per_second} recognised a second")
    return 0


def measure(pages: Sequence[ScannedPage]) -> RecognitionFigures:
    rates: dict[str, dict[str, float]] = {}
    seconds, count = 0.0, 0
    for name, damage in DAMAGES.items():
        errors: dict[str, list[float]] = defaultdict(list)
        scans = [damage(page.picture) for page in pages]
        began = time.perf_counter()
        texts = recognised(scans)
        seconds, count = seconds + time.perf_counter() - began, count + len(scans)
        for page, text in zip(pages, texts, strict=True):
            errors[page.script].append(error_rate(page.text, text))
        rates[name] = {script: round(sum(found) / len(found), 4) for script, found in errors.items()}
    rates["two pages on one"] = {}
    for script in {page.script for page in pages}:
        pairs = in_pairs([page for page in pages if page.script == script])
        texts = recognised([side_by_side(left.picture, right.picture) for left, right in pairs])
        errors_of = [
            error_rate(left.text + right.text, text) for (left, right), text in zip(pairs, texts, strict=True)
        ]
        if errors_of:
            rates["two pages on one"][script] = round(sum(errors_of) / len(errors_of), 4)
    return RecognitionFigures(len(pages), rates, round(count / (seconds or 1), 2))


def pages_of(files: Sequence[Path]) -> Iterator[ScannedPage]:
    """Yield one page from the middle of each file that has enough letters."""
    for file in files:
        try:
            parsed = parse_file(file, recognise=False)
        except ParseFailure:
            continue
        middle = parsed.pages[len(parsed.pages) // 3 :]
        page = next((page for page in middle if len(letters(page.text)) >= FEWEST_LETTERS), None)
        if page is not None and not page.awaits:
            yield ScannedPage(page.text, script_of(page.text), drawn(file, page))


def drawn(file: Path, page: ParsedPage) -> Picture:
    with pymupdf.open(file) as document:
        pixmap = document[page.number - 1].get_pixmap(
            dpi=DOTS_PER_INCH, colorspace=pymupdf.csGRAY, alpha=False
        )
        return np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width).copy()


def recognised(pictures: Sequence[Picture]) -> list[str]:
    """Return the OCR text of each picture, as a page of a scan."""
    if not pictures:
        return []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scan.pdf"
        scan_of(pictures).save(path)
        path.chmod(0o644)
        Path(folder).chmod(0o755)
        numbers = range(1, len(pictures) + 1)
        answers = recognise_pages(path, numbers, limits=parse_limits())
        said = {answer.number: answer.packed for answer in answers if isinstance(answer, PageRecognised)}
        try:
            parsed = parse_file(path, recognise=False, recognised=said)
        except ParseFailure:
            return [""] * len(pictures)
        return [page.text for page in parsed.pages]


def scan_of(pictures: Sequence[Picture]) -> pymupdf.Document:
    document = pymupdf.open()
    for picture in pictures:
        height, width = (72 * side / DOTS_PER_INCH for side in picture.shape)
        out = io.BytesIO()
        Image.fromarray(picture).save(out, "JPEG", quality=JPEG_QUALITY)
        document.new_page(width=width, height=height).insert_image(
            (0, 0, width, height), stream=out.getvalue()
        )
    return document


def skewed(picture: Picture) -> Picture:
    height, width = picture.shape
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), SKEW_DEGREES, 1.0)
    return np.asarray(cv2.warpAffine(picture, turn, (width, height), borderValue=(255,)), np.uint8)


def noisy(picture: Picture) -> Picture:
    """Add grey paper, speckles and blur."""
    noise = np.random.default_rng(SEED).normal(0, NOISE, picture.shape)
    blurred = cv2.GaussianBlur(picture, (3, 3), 0).astype(np.float32)
    return np.clip(0.85 * blurred + 20 + noise, 0, 255).astype(np.uint8)


def side_by_side(left: Picture, right: Picture) -> Picture:
    height = max(left.shape[0], right.shape[0])
    return np.hstack(
        [np.pad(each, ((0, height - each.shape[0]), (0, 0)), constant_values=255) for each in (left, right)]
    )


DAMAGES: dict[str, Callable[[Picture], Picture]] = {
    "clean, 170 dpi": lambda picture: picture,
    "turned by 90°": lambda picture: np.ascontiguousarray(np.rot90(picture)),
    "upside down": lambda picture: np.ascontiguousarray(np.rot90(picture, 2)),
    "skewed by 2°": skewed,
    "noise": noisy,
}


def in_pairs(pages: Sequence[ScannedPage]) -> list[tuple[ScannedPage, ScannedPage]]:
    shuffled = random.Random(SEED).sample(pages, len(pages))
    return list(zip(shuffled[::2], shuffled[1::2], strict=False))


def error_rate(truth: str, found: str) -> float:
    """Return the Levenshtein distance divided by the length, without white space; 1 at most."""
    return min(1.0, Levenshtein.distance(letters(truth), letters(found)) / max(1, len(letters(truth))))


def letters(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def script_of(text: str) -> str:
    """Return the first word of most letters' Unicode names: LATIN, CYRILLIC, ARABIC, CJK, HIRAGANA, …"""
    names = Counter(unicodedata.name(letter, "?").split()[0] for letter in text if letter.isalpha())
    found = names.most_common(1)[0][0] if names else "?"
    return "JAPANESE" if names["HIRAGANA"] or names["KATAKANA"] else found
