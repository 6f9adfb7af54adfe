"""Pages of reports: the list, new comparisons of versions, one report."""

from __future__ import annotations

from uuid import UUID

import msgspec
from csp.decorators import csp_update
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat.answers.without_model.answer import NAME as EXTRACTIVE
from chat.models import Report
from chat.providers.base import label
from chat.providers.registry import choices, provider_named
from chat.reports.compared_versions import MOST_VERSIONS, VersionsResult
from chat.reports.report_commands import InvalidReport, Limits, begin, new_report, new_versions
from chat.reports.report_queue import cancel, pause
from chat.reports.report_sections import sections_of
from chat.reports.written_report import report_estimate
from chat.views import MOST_CHOSEN, chosen_ids, chosen_source
from documents.api.common.callers import rated
from documents.labels import distinct_labels
from documents.models import Collection, Document, Page
from documents.translation import translated
from retrieval.models import SavedSearch
from retrieval.provider_calls import ProviderError
from retrieval.views import documents_found
from text.numbers import whole_number

REPORTS_A_PAGE = 40
MOST_BUDGET = 1_000_000_000
USUAL_MINUTES = 60  # the budget offered where nothing is known of a model's pace
CHANGES_SHOWN = 500  # of one kind
KINDS = ("number", "date", "name", "modal", "reference", "words", "added", "removed")


def visible_report(request: HttpRequest, pk: UUID) -> Report:
    return get_object_or_404(Report.objects.visible_to(request.user), pk=pk)


@require_safe
def reports(request: HttpRequest) -> HttpResponse:
    rows = Report.objects.visible_to(request.user)
    page = Paginator(rows, REPORTS_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "chat/reports.html", {"section": "reports", "page": page})


@rated("ask")
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Ask for a question; POST makes a draft, or with an ``outline`` starts at once.

    The documents are each ``document``, those that a search (``within``: its address) found, those of a
    ``collection`` (an id, or ``search:`` and the id of a saved search), or the whole library.
    """
    given = request.POST if request.method == "POST" else request.GET
    documents, is_limited = chosen_documents(given, request.user)
    question, outline, error = given.get("question", ""), given.get("outline", ""), ""
    if request.method == "POST":
        try:
            if is_limited and not documents:
                raise InvalidReport("Your selection contains no documents. Choose others.")
            provider = given.get("provider", "")
            return redirect("report", new_report(request.user, question, documents, outline, provider).pk)
        except InvalidReport as refused:
            error = translated(str(refused))
    context = {
        "section": "reports",
        "labels": distinct_labels(documents),
        "choosable": distinct_labels(
            Document.objects.visible_to(request.user).order_by("title")[:MOST_CHOSEN]
        ),
        "collections": Collection.objects.visible_to(request.user).order_by("name"),
        "searches": SavedSearch.objects.visible_to(request.user),
        "collection": given.get("collection", ""),
        "question": question,
        "outline": outline,
        "providers": choices(),
        "error": error,
    }
    return render(request, "chat/report_new.html", context, status=422 if error else 200)


def chosen_documents(given: QueryDict, user: User) -> tuple[list[Document], bool]:
    """Return the documents of a form or an address, and whether it names any at all."""
    library = Document.objects.visible_to(user)
    ids, within = chosen_ids(given), given.get("within", "")
    collection, search = chosen_source(given, user)
    if within or search:
        ids = list(documents_found(search or SavedSearch(user=user, query=within)))
    elif collection:
        ids = list(library.filter(collections=collection).values_list("pk", flat=True)[:MOST_CHOSEN])
    return list(library.filter(pk__in=ids).order_by("title")), bool(ids or collection or search or within)


@rated("ask")
@require_http_methods(["GET", "HEAD", "POST"])
def versions(request: HttpRequest) -> HttpResponse:
    """Compare each ``document`` with the next, in the order of their numbers in ``order``."""
    given = request.POST if request.method == "POST" else request.GET
    ids = chosen_ids(given, MOST_VERSIONS + 1)
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
    labels = distinct_labels(documents)
    named = [(document, labels[document.pk]) for document in documents]
    context = {"section": "reports", "documents": named, "error": error}
    return render(request, "chat/versions_new.html", context, status=422 if error else 200)


def as_number(text: str) -> int:
    return whole_number(text, most=999) or 0


@require_safe
@csp_update({"frame-src": ["'self'"]})  # type: ignore[arg-type]
def report(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show one report; of versions the ``?pair=`` (from 0), changes of one ``?kind=``, and a ``?change=``."""
    shown = visible_report(request, pk)
    if shown.note_id and shown.state == Report.State.DONE:
        done = redirect("note", shown.note_id)
        return HttpResponse(headers={"HX-Redirect": done.url}) if request.headers.get("HX-Request") else done
    if shown.result is None:
        return render(request, "chat/report.html", progress_of(shown))
    if request.headers.get("HX-Request") and request.headers.get("HX-Target") != "readers":
        return HttpResponse(headers={"HX-Redirect": request.path})  # the page of progress, in another style
    return render(request, "chat/versions.html", versions_shown(request, shown))


def progress_of(shown: Report, error: str = "") -> dict[str, object]:
    """Return the context of a report that is not done: its sections, model, budget and estimate."""
    sections = sections_of(shown)
    context: dict[str, object] = {
        "section": "reports",
        "report": shown,
        "sections": sections,
        "refused": error,
    }
    try:
        provider = provider_named(shown.provider)
        context["writes"] = provider.name != EXTRACTIVE
        context["model"] = provider.model or label(provider.name)
        if context["writes"] and not shown.is_working:
            estimate = report_estimate(shown, sections, provider)
            minutes = estimate.minutes or USUAL_MINUTES
            context |= {
                "estimate": estimate,
                "budget_tokens": shown.tokens + estimate.tokens,
                "budget_minutes": round(shown.seconds / 60) + minutes,
            }
    except ProviderError as failed:
        context["refused"] = error or translated(failed.message)
    return context | {
        "left": "\n".join(one.title for one in sections if not one.is_done),
        "done": sum(one.is_done for one in sections),
        "minutes": round(shown.seconds / 60),
    }


def versions_shown(request: HttpRequest, shown: Report) -> dict[str, object]:
    """Return the context of a comparison of versions."""
    result = msgspec.convert(shown.result, VersionsResult)
    number = min(as_number(request.GET.get("pair", "")), len(result.comparisons) - 1)
    pair = result.comparisons[number]
    kind = request.GET.get("kind", "")
    changes = [one for one in enumerate(pair.changes) if kind in ("", one[1].kind)]
    at = as_number(request.GET.get("change", "")) or (changes[0][0] if changes else 0)
    versions = [document for document, _title in result.documents]
    printed = Page.objects.visible_to(request.user).filter(document__in=versions).exclude(label="")
    return {
        "section": "reports",
        "report": shown,
        "result": result,
        "pair": pair,
        "number": number,
        "kind": kind,
        "kinds": [(name, words, pair.counts[name]) for name, words in labels() if pair.counts.get(name)],
        "changes": changes[:CHANGES_SHOWN],
        "more": len(changes) - CHANGES_SHOWN,
        "at": at,
        "opened": pair.changes[at] if at < len(pair.changes) else None,
        "sections": [one for one in pair.sections if one.kind != "same" or one.is_moved or one.is_renumbered],
        "printed": {
            (str(document), number): label
            for document, number, label in printed.values_list("document", "number", "label")
        },
    }


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


@rated("ask")
@require_POST
def work(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Start or go on with the ``outline`` and budget of the form, ``pause``, or ``cancel``."""
    shown = visible_report(request, pk)
    if "pause" in request.POST or "cancel" in request.POST:
        (pause if "pause" in request.POST else cancel)(shown)
        return redirect("report", pk)
    try:
        begin(
            shown, request.POST.get("outline"), posted_limits(request) if "tokens" in request.POST else None
        )
    except InvalidReport as refused:
        return render(request, "chat/report.html", progress_of(shown, translated(str(refused))), status=422)
    return redirect("report", pk)


def posted_limits(request: HttpRequest) -> Limits:
    """Return the budget of the form; an empty field is no limit. Raises InvalidReport."""
    given = {name: request.POST.get(name, "").strip() for name in ("tokens", "minutes")}
    found = {name: whole_number(text, MOST_BUDGET, least=1) for name, text in given.items()}
    if any(given[name] and found[name] is None for name in given):
        raise InvalidReport("Enter a whole number above 0, or leave the field empty for no limit.")
    return Limits(**found)


@require_POST
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    visible_report(request, pk).hide()
    return redirect("reports")
