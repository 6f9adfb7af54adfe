"""Base classes of the admin: read-only lists that stay fast with millions of rows, pages with overlays."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.filters import AllValuesFieldListFilter
from django.core.paginator import Paginator
from django.db import connection, models
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from documents.models import CitationUnit, Document, Page
from documents.models.library import uuid_or_none
from pdf import word_boxes
from pdf.geometry import PageFrame, Rect, bounding_box

EXACT_BELOW = 10_000  # rows; an exact count of more is not worth its cost


def estimated_rows(model: type[models.Model]) -> int:
    """Return PostgreSQL's estimate of the number of rows; -1 before the first ANALYZE."""
    estimates = from_catalogue(model, "SELECT reltuples::bigint FROM pg_class WHERE oid = '%s'::regclass")
    return sum(map(int, estimates))


def from_catalogue(model: type[models.Model], query: str) -> list[str]:
    """Query PostgreSQL's catalogue for one value of a model's table; omit NULL and ''.

    ``%s`` in the query is the table's name. If Citus distributes the table, return one value for each shard,
    since only shards have statistics.
    """
    table = model._meta.db_table
    distributed = is_distributed(connection.settings_dict["NAME"], table)
    with connection.cursor() as cursor:
        if distributed:
            cursor.execute("SELECT result FROM run_command_on_shards(%s, %s)", [table, query])
        else:
            cursor.execute(query % table)
        return [value for (value,) in cursor.fetchall() if value not in (None, "")]


@cache
def is_distributed(database: str, table: str) -> bool:
    """Return whether Citus distributes the table. Cached in each process."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('citus_tables') IS NOT NULL")
        if not cursor.fetchone()[0]:
            return False
        cursor.execute("SELECT citus_table_type FROM citus_tables WHERE table_name = %s::regclass", [table])
        return cursor.fetchone() == ("distributed",)


class EstimatingPaginator(Paginator):
    """A paginator that counts up to ``EXACT_BELOW``, and estimates the size of a larger unfiltered table."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        if not isinstance(rows, models.QuerySet):
            return super().count
        counted = rows.order_by()[:EXACT_BELOW].count()
        if counted < EXACT_BELOW or rows.query.where:
            return counted
        return max(counted, estimated_rows(rows.model))


class CommonValuesFilter(AllValuesFieldListFilter):
    """A filter by a column's values: all of a small table, PostgreSQL's statistics for a large one.

    ``SELECT DISTINCT`` would read every row.
    """

    def __init__(
        self, field: Any, request: Any, params: Any, model: Any, model_admin: Any, field_path: str
    ) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        if estimated_rows(model) >= EXACT_BELOW:
            self.lookup_choices = common_values(model, field)  # type: ignore[assignment]  # any iterable will do

    def choices(self, changelist: Any) -> Iterator[Any]:
        """Return Django's choices, with a label for the empty value."""
        for choice in super().choices(changelist):
            value, *count = str(choice["display"]).split(" (")
            yield choice if value else choice | {"display": " (".join([gettext("empty"), *count])}


def common_values(model: type[models.Model], field: models.Field) -> list[str]:
    """Return the most frequent values of a column by PostgreSQL's statistics, sorted."""
    query = (
        "SELECT array_to_json(most_common_vals::text::text[]) FROM pg_stats"
        " WHERE schemaname = current_schema() AND attname = '{}'"
        " AND tablename = (SELECT relname FROM pg_class WHERE oid = '%s'::regclass)"
    )
    arrays = from_catalogue(model, query.format(field.column))
    lists = (value if isinstance(value, list) else json.loads(value) for value in arrays)
    return sorted({value for values in lists for value in values})


class ReadOnlyAdmin(admin.ModelAdmin):
    """A read-only list that can be searched by indexed columns only.

    A typed id is looked up in ``id_paths``, anything else as a title in ``title_path`` (to a document).
    """

    show_full_result_count = False
    paginator = EstimatingPaginator
    list_per_page = 50
    id_paths: tuple[str, ...] = ()
    title_path = ""

    def get_search_results(
        self, request: HttpRequest, queryset: models.QuerySet, search_term: str
    ) -> tuple[models.QuerySet, bool]:
        typed = search_term.strip()
        if not typed or not (self.id_paths or self.title_path):
            return super().get_search_results(request, queryset, search_term)
        if (found := uuid_or_none(typed)) and self.id_paths:
            return queryset.filter(Q(*((path, found) for path in self.id_paths), _connector=Q.OR)), False
        if not self.title_path:
            return queryset.none(), False
        titled = Document.objects.filter(title__icontains=typed).values("pk")
        return queryset.filter(**{f"{self.title_path}__in": titled}), False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows are deleted with their parent, never from their own page."""
        match, meta = request.resolver_match, self.opts
        on_own_page = match is not None and (match.url_name or "").startswith(
            f"{meta.app_label}_{meta.model_name}_"
        )
        return not on_own_page and super().has_delete_permission(request, obj)


def link_to(row: models.Model | None, text: str = "") -> SafeString | str:
    """Return a link to the row's admin page."""
    if row is None:
        return "–"
    meta = row._meta
    url = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', url, (text or str(row) or "…")[:100])


def link_to_list(model: type[models.Model], text: str, **filters: Any) -> SafeString:
    """Return a link to the model's admin list, filtered."""
    meta = model._meta
    url = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist", query=filters)
    return format_html('<a href="{}">{}</a>', url, text)


# --- Pages with what the parser found, as SVG layers over the page's picture ---


@dataclass(frozen=True, slots=True)
class LabelledRect:
    """A labelled rectangle in points of the page as displayed, the SVG's units."""

    x: float
    y: float
    width: float
    height: float
    label: str = ""
    kind: str = ""

    @property
    def center(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Layer:
    """Marks that are shown and hidden together; ``line`` holds the points of a polyline."""

    name: str
    title: str
    marks: tuple[LabelledRect, ...]
    line: str = ""
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Overlay:
    """The layers of one page, and its size as displayed, in points."""

    page: Page
    width: float
    height: float
    layers: tuple[Layer, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class _Pen:
    """Convert rectangles in page space to the SVG's units."""

    frame: PageFrame

    def mark(self, rect: Sequence[float], label: str = "", kind: str = "") -> LabelledRect:
        shown = self.frame.to_display(Rect(*rect))
        width, height = self.frame.display_size
        sizes = (shown.x0 * width, shown.y0 * height, shown.width * width, shown.height * height)
        x, y, across, down = (round(size, 2) for size in sizes)
        return LabelledRect(x, y, across, down, label, kind)

    def marks(self, rects: Iterable[Sequence[float]], label: str = "", kind: str = "") -> list[LabelledRect]:
        return [self.mark(rect, label, kind) for rect in rects]


def page_overlay(page: Page) -> Overlay:
    """Return all layers of a page, in at most two queries."""
    units = list(CitationUnit.objects.filter(document=page.document_id, page_number=page.number))
    units.sort(key=lambda unit: unit.position)
    words = word_boxes.unpack(bytes(page.word_boxes), page.width, page.height)
    running = [rect for piece in page.furniture for rect in piece["rects"]]
    pen = _Pen(page.frame)
    layers = (
        Layer("units", "units", tuple(_units(pen, units)), shown=True),
        Layer("order", "reading order", *_order(pen, units), shown=True),
        Layer("lines", "lines", tuple(mark for unit in units for mark in pen.marks(unit.rects))),
        Layer("words", "words", tuple(pen.marks(words.boxes.tolist()))),
        Layer("chunks", "chunks", tuple(_chunks(pen, units))),
        Layer("tables", "table cells", tuple(_cells(pen, units))),
        Layer("furniture", "running heads", tuple(pen.marks(running))),
        Layer("figures", "figures", tuple(pen.mark(figure["rect"]) for figure in page.figures)),
    )
    return Overlay(page, *page.frame.display_size, layers)


def highlight_overlay(
    page: Page,
    rects: Iterable[Sequence[float]],
    anchor: Iterable[Sequence[float]] = (),
    heads: Iterable[Sequence[float]] = (),
) -> Overlay:
    """Highlight a passage (pale), its anchor (strong) and the headers of its cell."""
    pen = _Pen(page.frame)
    layers = (
        Layer("heads", "row and column heads", tuple(pen.marks(heads)), shown=True),
        Layer("passage", "passage", tuple(pen.marks(rects)), shown=True),
        Layer("anchor", "anchor", tuple(pen.marks(anchor)), shown=True),
    )
    return Overlay(page, *page.frame.display_size, layers)


def _units(pen: _Pen, units: list[CitationUnit]) -> Iterator[LabelledRect]:
    for unit in units:
        if unit.rects:
            yield pen.mark(unit.bbox, unit.unit_type, unit.unit_type)


def _order(pen: _Pen, units: list[CitationUnit]) -> tuple[tuple[LabelledRect, ...], str]:
    placed = [unit for unit in units if unit.rects]
    marks = tuple(pen.mark(unit.bbox, str(unit.paragraph_index)) for unit in placed)
    return marks, " ".join(f"{x:.1f},{y:.1f}" for x, y in (mark.center for mark in marks))


def _chunks(pen: _Pen, units: list[CitationUnit]) -> Iterator[LabelledRect]:
    rects: dict[UUID, list[Rect]] = defaultdict(list)
    for unit in units:
        if unit.chunk_id and unit.rects:
            rects[unit.chunk_id].append(Rect(*unit.bbox))
    for chunk_id, boxes in rects.items():
        yield pen.mark(bounding_box(boxes), chunk_id.hex[:6])


def _cells(pen: _Pen, units: list[CitationUnit]) -> Iterator[LabelledRect]:
    for unit in units:
        for cell in (unit.cells or {}).get("cells", []):
            if cell.get("rect"):
                yield pen.mark(
                    cell["rect"], f"{unit.table_row}/{cell['column']}", "head" if cell["header"] else ""
                )


def highlight_units(units: list[CitationUnit]) -> list[Overlay]:
    """Return the pages of these units of one document, with their lines highlighted. One query."""
    numbers = {unit.page_number for unit in units}
    pages = Page.objects.filter(document=units[0].document_id, number__in=numbers) if units else ()
    return [
        highlight_overlay(
            page, [rect for unit in units if unit.page_number == page.number for rect in unit.rects]
        )
        for page in pages
    ]


class PlacedAdmin(ReadOnlyAdmin):
    """Read-only rows with a place in a document, drawn on their pages."""

    change_form_template = "admin/documents/on_page.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("document")

    @admin.display(description="document")
    def of_document(self, row: Any) -> str:
        return link_to(row.document)

    def overlays(self, row: Any) -> list[Overlay]:
        """Return the pages of a row with its parts highlighted."""
        return highlight_units([row])

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        context = {"overlays": self.overlays(row) if row else [], **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)
