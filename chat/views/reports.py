"""Pages of reports: the list, new comparisons of versions, one report."""

from __future__ import annotations

from uuid import UUID

import msgspec
from csp.decorators import csp_update
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat.models import Report
from chat.reports.compared_versions import MOST_VERSIONS, VersionsResult
from chat.reports.evidence_report import proposed_outline
from chat.reports.report_commands import InvalidReport, new_report, new_versions
from chat.reports.report_queue import pause, start
from chat.views import as_uuid
from documents.models import Document
from documents.translation import translated

REPORTS_A_PAGE = 40
MOST_DOCUMENTS = 1000
CHANGES_SHOWN = 500  # of one kind
KINDS = ("number", "date", "name", "modal", "reference", "words", "added", "removed")


def visible_report(request: HttpRequest, pk: UUID) -> Report:
    return get_object_or_404(Report.objects.visible_to(request.user), pk=pk)


@require_safe
@login_required
def reports(request: HttpRequest) -> HttpResponse:
    rows = Report.objects.visible_to(request.user)
    page = Paginator(rows, REPORTS_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "chat/reports.html", {"section": "reports", "page": page})


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def new(request: HttpRequest) -> HttpResponse:
    """Propose the outline of a question; POST gathers the evidence on each of its lines."""
    assert request.user.is_authenticated
    given = request.POST if request.method == "POST" else request.GET
    ids = [pk for text in given.getlist("document")[:MOST_DOCUMENTS] if (pk := as_uuid(text))]
    documents = list(Document.objects.visible_to(request.user).filter(pk__in=ids))
    question, outline, error = given.get("question", ""), given.get("outline", ""), ""
    if request.method == "POST":
        try:
            return redirect("report", new_report(request.user, question, documents, outline).pk)
        except InvalidReport as refused:
            error = translated(str(refused))
    outline = outline or "\n".join(section.title for section in proposed_outline(question))
    context = {
        "section": "reports",
        "documents": documents,
        "question": question,
        "outline": outline,
        "error": error,
    }
    return render(request, "chat/report_new.html", context, status=422 if error else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def versions(request: HttpRequest) -> HttpResponse:
    """Compare each ``document`` with the next, in the order of their numbers in ``order``."""
    assert request.user.is_authenticated
    given = request.POST if request.method == "POST" else request.GET
    ids = [pk for text in given.getlist("document")[: MOST_VERSIONS + 1] if (pk := as_uuid(text))]
    found = Document.objects.visible_to(request.user).in_bulk(ids)
    documents = sorted(found.values(), key=lambda one: (one.year or 0, one.created_at))
    error = ""
    if request.method == "POST":
        numbers = dict(zip(ids, map(as_number, given.getlist("order")), strict=False))
        documents.sort(key=lambda one: numbers.get(one.pk, 0))
        try:
            return redirect("report", new_versions(request.user, documents).pk)
        except InvalidReport as refused:
            error = translated(str(refused))
    context = {"section": "reports", "documents": documents, "error": error}
    return render(request, "chat/versions_new.html", context, status=422 if error else 200)


def as_number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 4 else 0


@require_safe
@login_required
@csp_update({"frame-src": ["'self'"]})  # type: ignore[arg-type]
def report(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show one report; of versions the ``?pair=`` (from 0), changes of one ``?kind=``, and a ``?change=``."""
    shown = visible_report(request, pk)
    context: dict[str, object] = {"section": "reports", "report": shown}
    if shown.note_id and shown.state == Report.State.DONE:
        return redirect("note", shown.note_id)
    if shown.result is None:
        return render(request, "chat/report.html", context)
    result = msgspec.convert(shown.result, VersionsResult)
    number = min(as_number(request.GET.get("pair", "")), len(result.comparisons) - 1)
    pair = result.comparisons[number]
    kind = request.GET.get("kind", "")
    changes = [one for one in enumerate(pair.changes) if kind in ("", one[1].kind)]
    at = as_number(request.GET.get("change", "")) or (changes[0][0] if changes else 0)
    context |= {
        "result": result,
        "pair": pair,
        "number": number,
        "kind": kind,
        "kinds": [(name, label, pair.counts[name]) for name, label in labels() if pair.counts.get(name)],
        "changes": changes[:CHANGES_SHOWN],
        "more": len(changes) - CHANGES_SHOWN,
        "at": at,
        "opened": pair.changes[at] if at < len(pair.changes) else None,
        "sections": [one for one in pair.sections if one.kind != "same" or one.is_moved or one.is_renumbered],
        "titles": dict(result.documents),
    }
    return render(request, "chat/versions.html", context)


def labels() -> list[tuple[str, str]]:
    """Return the kinds of changes with their names."""
    names = (
        _("Numbers"),
        _("Dates"),
        _("Names"),
        _("Modal words"),
        _("References"),
        _("Other words"),
        _("Added"),
        _("Removed"),
    )
    return list(zip(KINDS, names, strict=True))


@require_POST
@login_required
def work(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Start the work, or with ``pause`` pause it."""
    shown = visible_report(request, pk)
    (pause if "pause" in request.POST else start)(shown)
    return redirect("report", pk)


@require_POST
@login_required
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    visible_report(request, pk).hide()
    return redirect("reports")
