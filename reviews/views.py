"""Pages of reviews: the list, a review as a grid, a cell with its evidence, and the grid's data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from uuid import UUID

import msgspec
from csp.decorators import csp_update
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat.providers.registry import choices
from chat.views import MOST_CHOSEN, as_uuid, chosen_ids, chosen_source
from chat.views.exports import as_file
from documents.api.common.callers import rated
from documents.labels import distinct_labels
from documents.models import Collection, Document, EventKind
from documents.models.document import DocumentQuerySet
from documents.models.security import record
from documents.translation import translated
from documents.views.document_actions import change_shares
from retrieval.models import SavedSearch
from retrieval.views import documents_found
from reviews.column_sets import (
    MOST_BYTES,
    InvalidColumns,
    InvalidReview,
    as_json,
    columns_in,
    columns_of,
    keep_template,
    template_of,
    templates,
)
from reviews.exports import REVIEW_FORMATS, review_table
from reviews.models import Review, ReviewCell, ReviewColumn, ReviewMark, ReviewTemplate
from reviews.question_answer import column_answers
from reviews.question_columns import columns_for
from reviews.review_commands import (
    add_columns,
    add_rows,
    agreements,
    documents_of,
    fill_cells,
    join_sources,
    start_review,
)
from reviews.review_presenters import blinded, grid, row_labels, visible_rows
from reviews.typed_values import normalised

REVIEWS_A_PAGE = 40
MOST_DISPUTED = 200  # cells listed
State = ReviewCell.State
ENDINGS = {"sources-csv": "-sources.csv"}


@require_safe
def reviews(request: HttpRequest) -> HttpResponse:
    """Show all reviews, and the form of a new one over each ``?document=`` or a ``?collection=``."""
    found = Review.objects.visible_to(request.user).select_related("owner", "collection")
    counted = found.annotate(
        documents=Count("rows", distinct=True), questions=Count("columns", distinct=True)
    )
    page = Paginator(counted.order_by("-updated_at"), REVIEWS_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "reviews/reviews.html", {"page": page} | offered(request))


def offered(request: HttpRequest) -> dict[str, object]:
    """Return the choices of the form of a new review."""
    return {
        "section": "reviews",
        "documents": Document.objects.visible_to(request.user).filter(pk__in=chosen_ids(request.GET)),
        "choosable": distinct_labels(library_of(request)[:MOST_CHOSEN]),
        **sources_of(request),
        "collection": as_uuid(request.GET.get("collection", "")),
        "templates": {name: found["title"] for name, found in templates().items()},
        "own_templates": ReviewTemplate.objects.visible_to(request.user).select_related("owner"),
        "providers": choices(),
    }


def library_of(request: HttpRequest) -> DocumentQuerySet:
    return Document.objects.visible_to(request.user).order_by("title")


def sources_of(request: HttpRequest) -> dict[str, object]:
    """Return the possible sources of rows."""
    return {
        "collections": Collection.objects.visible_to(request.user).order_by("name"),
        "searches": SavedSearch.objects.visible_to(request.user),
    }


def chosen_rows(
    request: HttpRequest, ids: Sequence[UUID]
) -> tuple[list[Document], Collection | None, SavedSearch | None]:
    """Return the documents with these ids, or the form's source, or (with neither) the whole library."""
    collection, search = chosen_source(request.POST, request.user)
    library = Document.objects.visible_to(request.user)
    documents = library.filter(pk__in=ids) if ids else library.none() if collection or search else library
    return list(documents.order_by("title")[: MOST_CHOSEN + 1]), collection, search


@require_POST
def new(request: HttpRequest) -> HttpResponse:
    """Create a review of the chosen documents, a collection, or (with neither) the whole library."""
    documents, collection, search = chosen_rows(request, chosen_ids(request.POST))
    try:
        review = start_review(
            request.user,
            request.POST.get("name", ""),
            documents,
            collection,
            request.POST.get("template", ""),
            request.POST.get("provider", ""),
            search=search,
            joins="joins" in request.POST,
        )
    except InvalidReview as error:
        return render(
            request, "reviews/reviews.html", {"error": translated(str(error))} | offered(request), status=400
        )
    return redirect("review", review.pk)


@rated("ask")
@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest) -> HttpResponse:
    """Put a question to every document: propose its columns, then (POST) ask, as a review that is kept.

    The documents are each ``document``, those of a ``collection``, those that a search (``within``: its
    address) found, or the whole library.
    """
    given = request.POST if request.method == "POST" else request.GET
    ids = chosen_ids(given)
    if within := given.get("within", ""):
        ids = list(documents_found(SavedSearch(user=request.user, query=within)))
    question = " ".join(given.get("question", "").replace("\x00", " ").split())[:1000]
    error, columns = "", columns_for(question) if question else []
    if request.method == "POST":
        documents, collection, search = chosen_rows(request, ids)
        try:
            columns = columns_of(list(posted_columns(request.POST)))
            made = start_review(
                request.user,
                "",
                documents,
                collection,
                provider=given.get("provider", ""),
                columns=columns,
                question=question or columns[0].question,
                search=search,
                joins="joins" in given,
            )
            fill_cells(ReviewCell.objects.filter(row__review=made))
            return redirect("review-answer", made.pk)
        except InvalidReview as refused:
            error = translated(str(refused))
    context = offered(request) | {
        "question": question,
        "columns": columns,
        "kinds": ReviewColumn.Kind.choices,
        "documents": Document.objects.visible_to(request.user).filter(pk__in=ids) if ids else (),
        "is_empty": bool(within and not ids),
        "error": error,
    }
    return render(request, "reviews/ask.html", context, status=422 if error else 200)


def posted_columns(posted: QueryDict) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the name for messages and the values of each column of the form that has a question."""
    names = ("title", "column_question", "kind", "unit", "choices", "condition")
    for fields in zip(*(posted.getlist(name) for name in names), strict=False):
        title, question, kind, unit, listed, condition = fields
        if question.strip():
            options = [option for option in listed.split("|") if option.strip()]
            values = {"title": title, "question": question, "kind": kind, "unit": unit}
            yield title or question, values | {"choices": options, "condition": condition}


@require_safe
def answer(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show what the documents of a review say, counted; each number opens its cells."""
    shown = get_object_or_404(Review.objects.visible_to(request.user), pk=pk)
    found = grid(shown, request.user)
    left = sum(cell.state in (State.WAITING, State.RUNNING) for cell in found.cells)
    context = {
        "section": "reviews",
        "review": shown,
        "answers": column_answers(found),
        "left": left,
        "filled": len(found.cells) - left,
        "total": len(found.cells),
    }
    return render(request, "reviews/answer.html", context)


@require_safe
@csp_update({"frame-src": ["'self'"]})  # type: ignore[arg-type]
def review(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the grid of one review."""
    shown = get_object_or_404(Review.objects.visible_to(request.user), pk=pk)
    may_edit = Review.objects.editable_by(request.user).filter(pk=pk).exists()
    context = {
        "section": "reviews",
        "review": shown,
        "may_edit": may_edit,
        "kinds": ReviewColumn.Kind.choices,
        "states": ReviewCell.State.choices,
        "providers": choices(),
        "forms": {
            "xlsx": "Excel",
            "csv": "CSV",
            "sources-csv": _("CSV of the sources"),
            "pdf": _("Evidence as PDF"),
            "md": "Markdown",
            "json": "JSON",
        },
        "shares": shown.shares.select_related("user", "group"),
        **sources_of(request),
        "others": distinct_labels(library_of(request).exclude(pk__in=documents_of(shown))[:MOST_CHOSEN]),
    }
    return render(request, "reviews/review.html", context)


@require_safe
def cells(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return the grid (``ReviewGrid``) as JSON; with ``?since=``, only the changed cells."""
    shown = get_object_or_404(Review.objects.visible_to(request.user), pk=pk)
    try:
        since = parse_datetime(request.GET.get("since", ""))
    except ValueError:
        since = None
    found = grid(shown, request.user, since)
    return HttpResponse(msgspec.json.encode(found), content_type="application/json")


@require_safe
def cell(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show one cell with its evidence and earlier versions, as a fragment for the panel beside the grid."""
    found = ReviewCell.objects.visible_to(request.user).select_related(
        "column", "row__document", "row__review", "marked_by"
    )
    (shown,) = blinded([found_cell := get_object_or_404(found, pk=pk)], found_cell.row.review, request.user)
    context = {
        "cell": shown,
        "label": row_labels(visible_rows(shown.row.review, request.user).select_related("document")).get(
            shown.row_id, shown.row.document_title
        ),
        "normal": normalised(shown.value, shown.text),
        "tokens": sum(int(shown.usage.get(name, 0)) for name in ("input_tokens", "output_tokens")),
        "marks": shown.marks.filter(revealed=True).exclude(mark="").select_related("user"),
        "citations": shown.citations.order_by("position"),
        "is_value": shown.has_value,
        "has_document": not shown.row.is_deleted,
        "versions": shown.versions.all()[:20],
        "may_edit": Review.objects.editable_by(request.user).filter(pk=shown.row.review_id).exists(),
    }
    return render(request, "reviews/_cell.html", context)


@require_safe
def agreement(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the agreement of reviewers' blind marks, and the cells with different marks."""
    shown = get_object_or_404(Review.objects.visible_to(request.user), pk=pk)
    pairs = agreements(shown, request.user)
    ids = {cell for pair in pairs for cell in pair.disputed}
    disputed = ReviewCell.objects.filter(pk__in=ids).select_related("row__document", "column")
    context = {
        "section": "reviews",
        "review": shown,
        "pairs": pairs,
        "disputed": disputed.order_by("row__position", "column__position")[:MOST_DISPUTED],
        "own": ReviewMark.objects.filter(cell__row__review=shown, user=request.user).exclude(mark="").count(),
    }
    return render(request, "reviews/agreement.html", context)


@require_POST
def add_documents(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Add the chosen documents, or those of a collection or saved search, as rows."""
    shown = get_object_or_404(Review.objects.editable_by(request.user), pk=pk)
    collection, search = chosen_source(request.POST, request.user)
    chosen = Document.objects.visible_to(request.user).filter(pk__in=chosen_ids(request.POST))
    try:
        add_rows(shown, chosen, request.user)
        if collection or search:
            shown.collection, shown.search = collection or shown.collection, search or shown.search
            shown.joins = "joins" in request.POST
            shown.save()
            join_sources(shown)
    except InvalidReview as error:
        return HttpResponse(translated(str(error)), status=422, content_type="text/plain; charset=utf-8")
    return redirect("review", pk)


@require_POST
def import_columns(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Add the columns of a CSV or JSON file; on failure a fragment lists the errors by line."""
    shown = get_object_or_404(Review.objects.editable_by(request.user), pk=pk)
    try:
        _name, columns = columns_in(sent_file(request))
        add_columns(shown, columns)
    except InvalidColumns as error:
        return render(request, "reviews/_errors.html", {"errors": error.errors})
    return refreshed(request, "review", pk)


@require_POST
def new_template(request: HttpRequest) -> HttpResponse:
    """Save the columns of the ``review``, or those of a ``file``, as the user's template."""
    name = request.POST.get("name", "")
    try:
        if wanted := as_uuid(request.POST.get("review", "")):
            review = get_object_or_404(Review.objects.visible_to(request.user), pk=wanted)
            kept = template_of(review, request.user, name)
        else:
            named, columns = columns_in(sent_file(request))
            kept = keep_template(request.user, name or named or file_stem(request), columns)
    except InvalidReview as error:
        return render(request, "reviews/_errors.html", {"errors": getattr(error, "errors", [error])})
    messages.success(request, _("Saved “%(name)s” to your templates.") % {"name": kept})
    return refreshed(request, "review-templates")


def sent_file(request: HttpRequest) -> bytes:
    """Return the bytes of ``file``, at most one more than allowed. Raise InvalidColumns if it is missing."""
    if (file := request.FILES.get("file")) is None:
        raise InvalidColumns([_("Choose a file.")])
    return bytes(file.read(MOST_BYTES + 1))


def file_stem(request: HttpRequest) -> str:
    return PurePath(getattr(request.FILES["file"], "name", "")).stem


def refreshed(request: HttpRequest, name: str, *values: object) -> HttpResponse:
    """Make htmx reload the page; redirect forms without htmx."""
    if "HX-Request" not in request.headers:
        return redirect(name, *values)
    return HttpResponse(headers={"HX-Redirect": reverse(name, args=values)})


@require_safe
def own_templates(request: HttpRequest) -> HttpResponse:
    """Show the user's templates and those shared by others, with a form to import one."""
    found = ReviewTemplate.objects.visible_to(request.user).select_related("owner")
    listed = found.prefetch_related("shares__user", "shares__group")
    return render(request, "reviews/templates.html", {"section": "reviews", "templates": listed})


@require_safe
def template_file(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Download the template as JSON, which can be imported."""
    shown = get_object_or_404(ReviewTemplate.objects.visible_to(request.user), pk=pk)
    return as_file(as_json(shown), "application/json", f"{slugify(shown.name) or 'template'}.json")


@require_POST
def delete_template(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Hide a template; reviews made with it keep their columns. Only its owner may."""
    get_object_or_404(ReviewTemplate, pk=pk, owner=request.user, deleted_at=None).hide()
    return redirect("review-templates")


@require_POST
def share(request: HttpRequest, pk: UUID, model: type[Review | ReviewTemplate]) -> HttpResponse:
    """Share a review or template with a user, or a group of the owner. Only its owner may."""
    shared = get_object_or_404(model, pk=pk, owner=request.user, deleted_at=None)
    change_shares(request, request.user, shared)
    return redirect("review", pk) if isinstance(shared, Review) else redirect("review-templates")


@require_safe
def export(request: HttpRequest, pk: UUID, form: str) -> HttpResponse:
    """Download the review (``REVIEW_FORMATS``), or only its ``?row=`` or ``?column=``."""
    shown = get_object_or_404(Review.objects.visible_to(request.user), pk=pk)
    if form not in REVIEW_FORMATS:
        raise Http404
    kind, write = REVIEW_FORMATS[form]
    row, column = (as_uuid(request.GET.get(name, "")) for name in ("row", "column"))
    table = review_table(shown, request.user, request.build_absolute_uri("/"), row, column)
    record(EventKind.EXPORTED, f"review {shown.pk} as {form}")
    return as_file(write(table), kind, f"{slugify(shown.name) or 'review'}{ENDINGS.get(form, '.' + form)}")
