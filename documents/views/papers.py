"""Papers: add them by metadata, import lists, edit, attach a PDF, follow citations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as gettext_lazy
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from documents.api.common.callers import rated
from documents.models import Document
from documents.models.document import FACT_LABELS
from documents.papers.acquisition import (
    ExportTooLong,
    ExportUnreadable,
    KeptExport,
    add_and_fetch,
    add_export,
    add_export_later,
    add_list,
    add_list_later,
    add_paper,
    add_zotero,
    fetch_later,
    kept_exports,
)
from documents.papers.bibliography import (
    STYLES,
    BibliographyUnreadable,
    PaperRecord,
    bare_arxiv_id,
    bare_doi,
    record_named,
    record_of,
    reference,
)
from documents.papers.catalogues import (
    CatalogueError,
    Direction,
    ListedPaper,
    NotListed,
    look_up,
    papers_on_topic,
    related_papers,
)
from documents.translation import translated
from documents.views.document_actions import answer, by_htmx

LONGEST_TOPIC = 300
LONGEST_LIST = 5_000_000  # bytes of a list of references


class WorkForm(forms.Form):
    """The metadata of a work; one author per line."""

    title = forms.CharField(label=gettext_lazy("Title"), max_length=500)
    authors = forms.CharField(
        label=gettext_lazy("Authors"),
        required=False,
        help_text=gettext_lazy("One per line"),
        widget=forms.Textarea({"rows": 3}),
    )
    year = forms.IntegerField(label=gettext_lazy("Year"), required=False, min_value=0, max_value=3000)
    venue = forms.CharField(label=gettext_lazy("Journal or conference"), required=False, max_length=300)
    doi = forms.CharField(label=gettext_lazy("DOI"), required=False, max_length=300)
    arxiv_id = forms.CharField(label=gettext_lazy("arXiv id"), required=False, max_length=200)
    abstract = forms.CharField(
        label=gettext_lazy("Abstract"), required=False, max_length=20_000, widget=forms.Textarea({"rows": 6})
    )
    tldr = forms.CharField(label=gettext_lazy("In short"), required=False, max_length=2000)
    facts = forms.CharField(
        label=gettext_lazy("Facts"),
        required=False,
        max_length=10_000,
        help_text=gettext_lazy("One per line, such as “Party: Acme Ltd”"),
        widget=forms.Textarea({"rows": 6}),
    )

    @classmethod
    def of(cls, document: Document) -> WorkForm:
        paper = document.metadata.get("paper", {})
        own = {name: getattr(document, name) for name in ("title", "year", "doi", "abstract", "tldr")}
        paper_fields = {"venue": paper.get("venue", ""), "arxiv_id": paper.get("arxiv_id", "")}
        facts = "\n".join(f"{fact['label']}: {fact['value']}" for fact in document.facts)
        lists = {"authors": "\n".join(document.authors), "facts": facts}
        return cls(initial=own | paper_fields | lists)

    def clean_authors(self) -> tuple[str, ...]:
        lines = (line.strip()[:200] for line in self.cleaned_data["authors"].splitlines())
        return tuple(line for line in lines if line)[:500]

    def clean_doi(self) -> str:
        return self._identifier("doi", bare_doi)

    def clean_arxiv_id(self) -> str:
        return self._identifier("arxiv_id", bare_arxiv_id)

    def _identifier(self, name: str, bare: Any) -> str:
        typed = self.cleaned_data[name]
        found: str = bare(typed)
        if typed and not found:
            raise forms.ValidationError(gettext_lazy("This is not a valid identifier."))
        return found

    def clean_facts(self) -> list[tuple[str, str]]:
        kinds = {str(label).casefold(): kind for kind, label in FACT_LABELS.items()}
        found = []
        for line in filter(None, map(str.strip, self.cleaned_data["facts"].splitlines())):
            label, _colon, value = line.partition(":")
            if label.strip().casefold() not in kinds or not value.strip():
                named = ", ".join(map(str, FACT_LABELS.values()))
                raise forms.ValidationError(
                    gettext_lazy("Begin each line with one of these words and a colon: %(words)s"),
                    params={"words": named},
                )
            found.append((kinds[label.strip().casefold()], value.strip()[:300]))
        return found

    @property
    def record(self) -> PaperRecord:
        own = {name: value for name, value in self.cleaned_data.items() if name != "facts"}
        return PaperRecord(**own)

    def save_to(self, document: Document) -> None:
        """Save the record; parsing the document again keeps it."""
        record = self.record
        document.title, document.authors, document.year = record.title, list(record.authors), record.year
        document.doi, document.abstract, document.tldr = record.doi[:200], record.abstract, record.tldr
        paper = {**document.metadata.get("paper", {}), "venue": record.venue, "arxiv_id": record.arxiv_id}
        document.metadata = {**document.metadata, "paper": paper, "edited": True}
        document.metadata.pop("identified", None)
        if "facts" in self.changed_data:
            known = {(fact["kind"], fact["value"]): fact for fact in document.metadata.get("facts", ())}
            document.metadata["facts_edited"] = True
            document.metadata["facts"] = [
                known.get((kind, value), {"kind": kind, "value": value, "page": 0, "quote": ""})
                for kind, value in self.cleaned_data["facts"]
            ]
        document.save(
            update_fields=["title", "authors", "year", "doi", "abstract", "tldr", "metadata", "updated_at"]
        )


class ListForm(forms.Form):
    """A list of references, pasted or as a file."""

    text = forms.CharField(
        label=gettext_lazy("BibTeX, RIS, CSL-JSON or Zotero RDF"),
        required=False,
        widget=forms.Textarea({"rows": 8, "spellcheck": "false"}),
    )
    file = forms.FileField(
        label=gettext_lazy("or upload a file"),
        required=False,
        help_text=gettext_lazy(
            "From Zotero: “Export Library…” as Zotero RDF with files, and its folder as a ZIP; or add the "
            "folder to the library first, and import its .rdf or .bib here."
        ),
    )

    def clean(self) -> dict[str, Any]:
        file: UploadedFile | None = self.cleaned_data.get("file")
        if file is not None and file.read(4) == b"PK\x03\x04":
            return {"archive": file}
        if file is not None and (file.size or 0) > LONGEST_LIST:
            raise forms.ValidationError(gettext_lazy("This list is too long."))
        if file:
            file.seek(0)
        text = file.read().decode("utf-8", "replace") if file else self.cleaned_data.get("text", "")
        if not text.strip():
            raise forms.ValidationError(gettext_lazy("Paste a list, or choose a file."))
        return {"text": text}


class ZoteroForm(forms.Form):
    """The key of an account at zotero.org, and the group whose library is imported."""

    key = forms.CharField(
        label=gettext_lazy("Key"),
        max_length=100,
        widget=forms.PasswordInput({"autocomplete": "off"}),
        help_text=gettext_lazy(
            "Create one at zotero.org/settings/keys, with access to your library and files. It is not stored."
        ),
    )
    group = forms.RegexField(
        r"^\d*$",
        label=gettext_lazy("Number of a group"),
        max_length=20,
        required=False,
        help_text=gettext_lazy("Leave empty for your own library"),
    )


NOT_LISTED = "No catalogue knows this paper. Write it down by hand below."


@require_safe
def papers(request: HttpRequest) -> HttpResponse:
    """Show the page on which papers are added."""
    return _page(request)


@rated("upload")
@require_POST
def add(request: HttpRequest) -> HttpResponse:
    """Add a paper by its DOI, arXiv id or title, looked up in the catalogues."""
    what = request.POST.get("what", "").strip()[:500]
    if not what:
        return _page(request, problem=_("Enter a DOI, an arXiv id or a title."))
    try:
        document = add_and_fetch(request.user, look_up(record_named(what)))
    except NotListed:
        return _page(request, what=what, problem=_(NOT_LISTED))
    except CatalogueError as error:
        return _page(request, what=what, problem=str(error))
    messages.success(request, _("In your library: “%(title)s”.") % {"title": document.title})
    return redirect("document-details", document.pk)


@require_POST
def add_by_hand(request: HttpRequest) -> HttpResponse:
    form = WorkForm(request.POST)
    if not form.is_valid():
        return _page(request, work=form)
    return redirect("document-details", add_paper(request.user, form.record).pk)


@rated("upload")
@require_POST
def add_listed(request: HttpRequest) -> HttpResponse:
    """Import all papers of a BibTeX, RIS, CSL-JSON or Zotero RDF list, or of an exported library."""
    form = ListForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, list_form=form)
    try:
        archive, text = form.cleaned_data.get("archive"), form.cleaned_data.get("text", "")
        try:
            added = add_export(request.user, archive) if archive else add_list(request.user, text)
        except ExportTooLong:
            add_export_later(request.user, archive) if archive else add_list_later(request.user, text)
            messages.success(request, _("This library is large. It is added in the background."))
            return redirect(f"{reverse('papers')}#imports")
    except (BibliographyUnreadable, ExportUnreadable) as error:
        form.add_error(None, str(error))
        return _page(request, list_form=form)
    messages.success(request, _outcome_message(len(added)))
    return redirect("library")


@rated("upload")
@require_POST
def add_zotero_library(request: HttpRequest) -> HttpResponse:
    """Import all works of a library at zotero.org, with their PDFs, tags and collections."""
    form = ZoteroForm(request.POST)
    if not form.is_valid():
        return _page(request, zotero=form)
    try:
        added = add_zotero(request.user, form.cleaned_data["key"], form.cleaned_data["group"])
    except CatalogueError as error:
        form.add_error(None, str(error))
        return _page(request, zotero=form)
    messages.success(request, _outcome_message(len(added)))
    return redirect("library")


@require_http_methods(["GET", "HEAD", "POST"])
def metadata(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show a form for the metadata of a document; a POST saves it."""
    document = get_object_or_404(Document.objects.editable_by(request.user), pk=pk)
    form = WorkForm.of(document)
    if request.method == "POST":
        form = WorkForm(request.POST, initial=form.initial)
    if request.method == "POST" and form.is_valid():
        form.save_to(document)
        return redirect("document-details", pk)
    context = {"section": "library", "document": document, "form": form}
    return render(request, "papers/metadata.html", context, status=422 if form.errors else 200)


@rated("upload")
@require_POST
def fetch_full_text(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Queue another download of a paper's open-access PDF."""
    papers = Document.objects.filter(kind=Document.Kind.PAPER, deleted_at=None)
    document = get_object_or_404(papers, pk=pk, owner=request.user)
    if document.metadata.get("paper", {}).get("pdf_url"):
        fetch_later(document)
        if not by_htmx(request):
            messages.success(
                request, _("The full text is being downloaded. This page shows it when it is ready.")
            )
    return answer(request, document)


@require_safe
def reference_line(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the document as a reference in ``?style=``, with a button that copies it."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    style = request.GET.get("style", "apa")
    if style not in STYLES:
        raise Http404
    context = {"document": document, "styles": STYLES, "style": style}
    return render(
        request, "papers/_reference.html", context | {"text": reference(record_of(document), style)}
    )


@require_safe
def around(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show papers that a paper cites, or that cite it. The list loads when the catalogues have responded."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    context = {"section": "library", "document": document, "direction": _direction(request)}
    return render(request, "papers/around.html", context)


@require_safe
def around_list(request: HttpRequest, pk: UUID) -> HttpResponse:
    return _list(request, lambda: _around(request, pk))


@require_POST
def add_around(request: HttpRequest, pk: UUID) -> HttpResponse:
    _add_marked(request, lambda: _around(request, pk))
    return redirect(reverse("papers-around", args=[pk], query={"of": _direction(request)}))


def _around(request: HttpRequest, pk: UUID) -> list[ListedPaper]:
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    return related_papers(request.user, document, _direction(request))


@require_safe
def found(request: HttpRequest) -> HttpResponse:
    """Show papers on a topic. The list loads when the catalogues have responded."""
    context = {"section": "library", "topic": _topic(request)}
    return render(request, "papers/found.html", context) if _topic(request) else redirect("papers")


@require_safe
def found_list(request: HttpRequest) -> HttpResponse:
    return _list(request, lambda: papers_on_topic(request.user, _topic(request)))


@require_POST
def add_found(request: HttpRequest) -> HttpResponse:
    _add_marked(request, lambda: papers_on_topic(request.user, _topic(request)))
    return redirect(reverse("papers-found", query={"q": _topic(request)}))


def _topic(request: HttpRequest) -> str:
    asked = request.GET.get("q") or request.POST.get("q") or ""
    return " ".join(asked.split())[:LONGEST_TOPIC]


def _list(request: HttpRequest, listed: Callable[[], list[ListedPaper]]) -> HttpResponse:
    """Show the papers with buttons that add them; ``action`` is the URL of the list's form."""
    sent = [(name, request.GET[name]) for name in ("of", "q") if name in request.GET]
    context = {"action": request.path.removesuffix("list/") + "add/", "sent": sent}
    try:
        return render(request, "papers/_listed.html", context | {"listed": listed()})
    except CatalogueError as error:
        return render(request, "papers/_listed.html", context | {"problem": str(error)})


def _add_marked(request: HttpRequest, listed: Callable[[], list[ListedPaper]]) -> None:
    """Add the papers whose ``key`` was sent. Their records are looked up again, not taken from the form."""
    wanted = set(request.POST.getlist("key"))
    try:
        rows = listed()
    except CatalogueError as error:
        messages.error(request, str(error))
        return
    added = [add_and_fetch(request.user, row.record) for row in rows if row.record.key in wanted]
    if added:
        messages.success(request, _outcome_message(len(added)))


def _direction(request: HttpRequest) -> Direction:
    asked = request.GET.get("of") or request.POST.get("of") or "references"
    if asked not in ("citing", "references"):
        raise Http404
    return cast(Direction, asked)


def _outcome_message(number: int) -> str:
    return ngettext("%d paper is in your library.", "%d papers are in your library.", number) % number


def _standing(kept: KeptExport) -> str:
    """Return how far an import by a worker is."""
    if kept.added is not None:
        return _outcome_message(kept.added)
    if kept.problem:
        return translated(kept.problem)
    if kept.files:
        return _("%(done)d of %(files)d PDFs are unpacked.") % {"done": kept.done, "files": kept.files}
    return _("It is being added.")


def _page(
    request: HttpRequest,
    what: str = "",
    problem: str = "",
    work: forms.Form | None = None,
    list_form: forms.Form | None = None,
    zotero: forms.Form | None = None,
) -> HttpResponse:
    imports = kept_exports(request.user)  # type: ignore[arg-type]  # signed in
    context = {
        "section": "library",
        "what": what,
        "problem": problem,
        "work": work or WorkForm(),
        "list_form": list_form or ListForm(),
        "zotero": zotero or ZoteroForm(),
        "imports": [(kept, _standing(kept)) for kept in imports],
        "importing": any(kept.is_running for kept in imports),
        "origin": request.build_absolute_uri(reverse("library")),
    }
    refused = work or list_form or zotero
    if refused:  # the browser scrolls to what is to be corrected, and to what is said of it
        first = next((name for name in refused.fields if name in refused.errors), next(iter(refused.fields)))
        refused.fields[first].widget.attrs["autofocus"] = True
    wrong = problem or refused
    return render(request, "papers/add.html", context, status=422 if wrong else 200)
