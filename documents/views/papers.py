"""Papers by their metadata: added, imported, edited, completed by their PDF, followed through citations."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from documents.models import Document
from documents.paper_forms import ListForm, WorkForm
from documents.scholarly.bibliography import BibliographyUnreadable, read_bibliography
from documents.scholarly.catalogues import CatalogueError, Direction, NotListed, look_up
from documents.scholarly.neighbours import neighbours
from documents.scholarly.papers import add_and_fetch, add_paper, add_papers, fetch_later
from documents.scholarly.record import record_named, record_of
from documents.scholarly.references import STYLES, reference
from documents.uploads import UploadRefused
from documents.versions import replace_file

NOT_LISTED = "No catalogue knows this paper. Write it down by hand below."


@require_safe
@login_required
def papers(request: HttpRequest) -> HttpResponse:
    """Where papers are added."""
    return _page(request)


@require_POST
@login_required
def add(request: HttpRequest) -> HttpResponse:
    """One paper by its DOI, arXiv id or title, as the catalogues know it."""
    what = request.POST.get("what", "").strip()[:500]
    if not what:
        return _page(request, problem=_("Type a DOI, an arXiv id or a title."))
    try:
        document = add_and_fetch(request.user, look_up(record_named(what)))
    except NotListed:
        return _page(request, what=what, problem=_(NOT_LISTED))
    except CatalogueError as error:
        return _page(request, what=what, problem=str(error))
    messages.success(request, _("In your library: “%(title)s”.") % {"title": document.title})
    return redirect("document-details", document.pk)


@require_POST
@login_required
def add_by_hand(request: HttpRequest) -> HttpResponse:
    form = WorkForm(request.POST)
    if not form.is_valid():
        return _page(request, work=form)
    return redirect("document-details", add_paper(request.user, form.record).pk)


@require_POST
@login_required
def add_list(request: HttpRequest) -> HttpResponse:
    """All papers of a BibTeX, RIS or CSL-JSON list."""
    form = ListForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, list_form=form)
    try:
        records = read_bibliography(form.cleaned_data["text"])
    except BibliographyUnreadable as error:
        form.add_error(None, str(error))
        return _page(request, list_form=form)
    added = add_papers(request.user, records)
    messages.success(request, _told(len(added)))
    return redirect("library")


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def metadata(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What a document says of itself, to be put right."""
    document = get_object_or_404(Document.objects.editable_by(request.user), pk=pk)
    form = WorkForm(request.POST) if request.method == "POST" else WorkForm.of(document)
    if request.method == "POST" and form.is_valid():
        form.save_to(document)
        return redirect("document-details", pk)
    context = {"section": "library", "document": document, "form": form}
    return render(request, "papers/metadata.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
def attach(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Gives a paper its PDF."""
    document = get_object_or_404(Document, pk=pk, owner=request.user, deleted_at=None)
    file = request.FILES.get("file")
    if file is not None:
        try:
            replace_file(document, file)
        except UploadRefused as refused:
            messages.error(request, refused.message)
    return redirect("document-details", pk)


@require_POST
@login_required
def fetch_full_text(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Let a worker fetch a paper's open-access PDF again."""
    papers = Document.objects.filter(kind=Document.Kind.PAPER, deleted_at=None)
    document = get_object_or_404(papers, pk=pk, owner=request.user)
    if document.metadata.get("paper", {}).get("pdf_url"):
        fetch_later(document)
        messages.success(request, _("The full text is being fetched. This page shows it once it is there."))
    return redirect("document-details", pk)


@require_safe
@login_required
def reference_line(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The document as a reference in ``?style=``, with a button that copies it."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    style = request.GET.get("style", "apa")
    if style not in STYLES:
        raise Http404
    context = {"document": document, "styles": STYLES, "style": style}
    return render(
        request, "papers/_reference.html", context | {"text": reference(record_of(document), style)}
    )


@require_safe
@login_required
def around(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Papers that a paper cites, or that cite it. The list itself comes when the catalogues have answered."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    context = {"section": "library", "document": document, "direction": _direction(request)}
    return render(request, "papers/around.html", context)


@require_safe
@login_required
def around_list(request: HttpRequest, pk: UUID) -> HttpResponse:
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    context = {"document": document, "direction": _direction(request)}
    try:
        found = neighbours(request.user, document, _direction(request))
    except CatalogueError as error:
        return render(request, "papers/_around.html", context | {"problem": str(error)})
    return render(request, "papers/_around.html", context | {"neighbours": found})


@require_POST
@login_required
def add_around(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Adds the papers whose ``key`` was sent. What is known of them is asked again, not read from a form."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    wanted = set(request.POST.getlist("key"))
    try:
        found = neighbours(request.user, document, _direction(request))
    except CatalogueError as error:
        messages.error(request, str(error))
        found = []
    added = [add_and_fetch(request.user, row.record) for row in found if row.record.key in wanted]
    if added:
        messages.success(request, _told(len(added)))
    return redirect(reverse("papers-around", args=[pk], query={"of": _direction(request)}))


def _direction(request: HttpRequest) -> Direction:
    asked = request.GET.get("of") or request.POST.get("of") or "references"
    if asked not in ("citing", "references"):
        raise Http404
    return cast(Direction, asked)


def _told(number: int) -> str:
    return ngettext("%d paper is in your library.", "%d papers are in your library.", number) % number


def _page(
    request: HttpRequest,
    what: str = "",
    problem: str = "",
    work: forms.Form | None = None,
    list_form: forms.Form | None = None,
) -> HttpResponse:
    context = {
        "section": "library",
        "what": what,
        "problem": problem,
        "work": work or WorkForm(),
        "list_form": list_form or ListForm(),
    }
    wrong = problem or work or list_form
    return render(request, "papers/add.html", context, status=422 if wrong else 200)
