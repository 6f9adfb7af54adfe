"""`manage.py evaluate review`: score review cells whose values are known."""

from __future__ import annotations

import math
import statistics
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.core.management.base import CommandError, OutputWrapper

from bench.evaluations.answers import share, write_scores
from bench.evaluations.retrieval import evaluation_user, ingest_folder, read_lines
from chat.providers.base import Provider
from chat.providers.registry import provider_named
from documents.models import Document
from retrieval.provider_calls import ProviderError
from reviews.cell_answers import answered
from reviews.models import ReviewCell, ReviewColumn
from reviews.question_columns import columns_for
from reviews.typed_values import FilledCell
from text.terms import terms_of


class KnownColumn(msgspec.Struct, frozen=True):
    """A column, as in the API."""

    title: str
    question: str
    kind: str = "text"
    unit: str = ""
    choices: list[str] = []


class KnownCell(msgspec.Struct, frozen=True):
    """A cell with its true value.

    Attributes:
        document: the file's stem.
        value: as in ``ReviewCell.value``, or a number without its unit; of text, the words that must occur.
            None: the document does not state it.
        pages: 1-based pages that state it.
        within: tolerance of a number, for one that is printed rounded.
    """

    document: str
    column: KnownColumn
    value: Any = None
    pages: list[int] = []
    within: float = 0


@dataclass(frozen=True, slots=True)
class JudgedCell:
    """A cell with its filled value and time."""

    known: KnownCell
    filled: FilledCell
    milliseconds: float

    @property
    def is_found(self) -> bool:
        return self.filled.state == ReviewCell.State.FOUND

    @property
    def is_right(self) -> bool:
        if self.known.value is None:
            return self.filled.state == ReviewCell.State.NOT_STATED
        return self.is_found and same_value(self.known, self.filled)

    @property
    def page(self) -> int:
        return self.filled.citations[0].page_number if self.filled.citations else 0


class CellScores(msgspec.Struct, frozen=True):
    """Shares of cells.

    Attributes:
        accuracy: the right value, or correctly "not stated".
        found_right: of the filled cells: the value is right.
        cited_page: of the filled cells: the citation is on a page that states the value.
        not_stated_precision: of the cells filled with "not stated": the document does not state it.
        not_stated_recall: of the values that are not stated: the cell is "not stated".
        states, verdicts: counts; verdicts of the citations of values.
        ms: median time of a cell.
    """

    cells: int
    accuracy: float
    found_right: float
    cited_page: float
    not_stated_precision: float
    not_stated_recall: float
    states: dict[str, int]
    verdicts: dict[str, int]
    ms: float


def fill_known(
    known: KnownCell, document: Document, user: User, provider: Provider, is_asked: bool = False
) -> JudgedCell:
    """Answer the cell's question. Stores nothing. ``is_asked``: with the column proposed for the question."""
    column = ReviewColumn(**msgspec.structs.asdict(known.column))
    if is_asked:
        column = columns_for(known.column.question)[0]
        column.choices = known.column.choices
    start = time.perf_counter()
    try:
        filled = answered(column, document, user, provider)
    except ProviderError as error:
        filled = FilledCell(ReviewCell.State.FAILED, error=error.message)
    return JudgedCell(known, filled, (time.perf_counter() - start) * 1000)


def same_value(known: KnownCell, filled: FilledCell) -> bool:
    """Return whether a cell's value is right: amounts with any sign, text that contains the words.

    A column that was proposed may be of another kind: then its text has to contain the value.
    """
    is_number = isinstance(known.value, int | float | dict) and not isinstance(known.value, bool)
    if is_number and not isinstance(filled.value, dict):
        number = known.value["number"] if isinstance(known.value, dict) else known.value
        return f"{number:,}" in filled.text or f"{number}" in filled.text
    if isinstance(filled.value, dict) and is_number:
        true = known.value if isinstance(known.value, dict) else {"number": known.value}
        currency = true.get("currency") or filled.value.get("currency")
        off = max(known.within, abs(true["number"]) * 1e-6)
        near = math.isclose(abs(filled.value["number"]), abs(true["number"]), rel_tol=0, abs_tol=off)
        return near and currency == filled.value.get("currency")
    if known.column.kind == ReviewColumn.Kind.TEXT or not isinstance(filled.value, type(known.value)):
        return set(terms_of(str(known.value), "en")) <= set(terms_of(filled.text, "en"))
    return bool(filled.value == known.value)


def cell_scores(judged: Sequence[JudgedCell]) -> CellScores:
    found = [cell for cell in judged if cell.is_found]
    not_stated = [cell for cell in judged if cell.filled.state == ReviewCell.State.NOT_STATED]
    absent = [cell for cell in judged if cell.known.value is None]
    verdicts = Counter(cell.filled.citations[0].verdict for cell in found if cell.filled.citations)
    return CellScores(
        cells=len(judged),
        accuracy=share(cell.is_right for cell in judged),
        found_right=share(cell.is_right for cell in found),
        cited_page=share(cell.page in cell.known.pages for cell in found),
        not_stated_precision=share(cell.known.value is None for cell in not_stated),
        not_stated_recall=share(cell.is_right for cell in absent),
        states=dict(Counter(cell.filled.state.value for cell in judged).most_common()),
        verdicts=dict(verdicts.most_common()),
        ms=round(statistics.median(cell.milliseconds for cell in judged), 1) if judged else 0.0,
    )


class ReviewEvaluation:
    name = "review"
    help = "Values, cited pages and verdicts of review cells whose values are known."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cells", type=Path, metavar="CELLS.jsonl")
        parser.add_argument("--pdfs", type=Path, required=True, help="folder with <document>.pdf")
        parser.add_argument("--provider", default="extractive", help="the provider (extractive)")
        parser.add_argument("--json", action="store_true", help="one line of JSON")
        parser.add_argument(
            "--asked", action="store_true", help="with the columns proposed for the questions"
        )
        parser.add_argument("--each", action="store_true", help="each cell with its value")

    def run(self, out: OutputWrapper, **options: Any) -> None:
        cells = read_lines(options["cells"], KnownCell)
        try:
            provider = provider_named(options["provider"])
        except ProviderError as error:
            raise CommandError(str(error)) from None
        user = evaluation_user()
        files = [options["pdfs"] / f"{stem}.pdf" for stem in sorted({known.document for known in cells})]
        library = ingest_folder(user, files)
        documents = Document.objects.in_bulk(library.values())
        judged = []
        for known in cells:
            if known.document in library:
                judged.append(
                    fill_known(known, documents[library[known.document]], user, provider, options["asked"])
                )
                if options["each"]:
                    out.write(cell_line(judged[-1]))
        write_scores(out, cell_scores(judged), options["json"])


def cell_line(cell: JudgedCell) -> str:
    known, filled = cell.known, cell.filled
    value = filled.value if isinstance(filled.value, dict) else ""
    text = " ".join(filled.text.split())[:160]
    return (
        f"{'✓' if cell.is_right else '✗'} {known.document} | {known.column.title}"
        f" | true {known.value} p. {known.pages} | {filled.state} {value} “{text}” p. {cell.page or '–'}"
    )
