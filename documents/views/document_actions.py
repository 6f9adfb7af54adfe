"""One document: details, tables as files, the reader's panels; rename, replace, retry, tag, share, delete."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from documents.access import (
    Shared,
    UnknownUser,
    add_to_collection,
    end_grant,
    grants_of,
    remove_from_collection,
    share_with,
)
from documents.api.common.callers import rated
from documents.contents import as_csv, as_markdown, figure_boxes, figures_of, tables_of
from documents.files.uploads import PDF, UploadRefused, accepted, named_as
from documents.ingestion import pipeline
from documents.ingestion.source_files import replace_file, unlock
from documents.library import for_cards, move_to_trash, restore_from_trash
from documents.models import CitationUnit, Collection, Document, Tag
from documents.models.library import colour_for, uuid_or_none
from documents.page_labels import lines_on_page
from documents.papers.acquisition import fetch_failure
from documents.translation import translated
from pdf.failures import FailureCode, ParseFailure
from text.numbers import whole_number


@require_safe
def details(request: HttpRequest, pk: UUID) -> HttpResponse:
    found = Document.objects.visible_to(request.user).with_same_text(request.user).select_related("owner")
    document = get_object_or_404(found, pk=pk)
    is_owner = document.owner_id == request.user.pk
    collections = document.collections.filter(pk__in=Collection.objects.visible_to(request.user))
    context = {
        "section": "library",
        "document": document,
        "is_owner": is_owner,
        "may_edit": Document.objects.editable_by(request.user).filter(pk=pk).exists(),
        "tags": document.tags.filter(owner=request.user),  # type: ignore[misc]
        "all_tags": Tag.objects.visible_to(request.user),
        "collections": collections,
        "all_collections": Collection.objects.editable_by(request.user),
        "ways": [grant for grant in grants_of(document) if grant.can_be_ended] if is_owner else (),
        "tables": tables_of(document)[:200],
        "fetch_failure": fetch_failure(document) if is_owner else "",
        "seconds": document.stage_seconds.items(),
        "format": named_as(str(document.original.name)) or PDF,
        "formats": accepted(),
    }
    return render(request, "library/details.html", context)


@require_POST
def end_access(request: HttpRequest, pk: UUID) -> HttpResponse:
    """End one ``way`` to the document. Only its owner can."""
    document = get_object_or_404(Document, pk=pk, owner=request.user, deleted_at=None)
    if not end_grant(document, request.POST.get("way", "")):
        raise Http404
    messages.success(request, _("Access ended."))
    return to_details(pk)


@require_safe
def table(request: HttpRequest, pk: UUID, index: int) -> HttpResponse:
    """Show one table as CSV, or as Markdown with ``?as=markdown``."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    found = tables_of(document, index)
    if not found:
        raise Http404
    if request.GET.get("as") == "markdown":
        return HttpResponse(as_markdown(found[0]), content_type="text/plain; charset=utf-8")
    return HttpResponse(
        as_csv(found[0]),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="table-{index + 1}.csv"'},
    )


MOST_HEADINGS = 500


@require_safe
def contents(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the table of contents: the PDF's own outline, else the headings that were found."""
    found = Document.objects.visible_to(request.user).with_same_text(request.user)
    shown = get_object_or_404(found, pk=pk)
    headings = CitationUnit.objects.filter(document=pk, unit_type=CitationUnit.Type.HEADING)
    entries = [(*entry, None) for entry in shown.outline] or [
        (unit.heading_level or 1, unit.content, unit.page_number, unit.pk)
        for unit in headings.order_by("position")[:MOST_HEADINGS]
    ]
    return render(request, "reader/_contents.html", {"entries": entries, "document": shown})


@require_safe
def pages(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show a placeholder of the right size for each page; the browser loads its picture when visible."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    rows = shown.pages.order_by("number").defer("text", "word_boxes", "furniture", "figures")
    return render(request, "reader/_thumbnails.html", {"pages": rows})


@require_safe
def figures(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show figures and tables with their captions."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    return render(request, "reader/_figures.html", {"figures": figures_of(shown)})


@require_safe
def figure_places(request: HttpRequest, pk: UUID) -> JsonResponse:
    """Return the boxes of figures by page, in display fractions. Dark pages keep their colours."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    places = [{"page": page, "boxes": boxes} for page, boxes in figure_boxes(shown).items()]
    return JsonResponse(places, safe=False)


@require_safe
def passages(request: HttpRequest, pk: UUID) -> HttpResponse:
    """List the parsed units of ``?page=`` with their rectangles.

    Return 204 if ``?shown`` is the present version of the page, so that the list keeps its selection.
    """
    number = request.GET.get("page", "")
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    page = document.pages.filter(number=whole_number(number) or 1).first()
    if page is None and document.is_ready and document.page_count:
        raise Http404
    if page and request.GET.get("shown") == str(page.pk):
        return HttpResponse(status=204)
    listed = []
    if page:
        units = CitationUnit.objects.filter(document=pk, page_number=page.number).order_by("paragraph_index")
        listed = [
            (
                unit,
                page.frame.display_boxes(unit.rects),
                lines_on_page((unit.line_start, unit.line_end), page.first_line),
            )
            for unit in units
        ]
    return render(request, "reader/_passages.html", {"page": page, "units": listed})


def uuid_or_404(text: str) -> UUID:
    if (found := uuid_or_none(text)) is None:
        raise Http404
    return found


def by_htmx(request: HttpRequest) -> bool:
    """Return whether htmx sent the request and expects a fragment; a form expects a page."""
    return "HX-Request" in request.headers


def refusal(message: str) -> HttpResponse:
    """Return 422 with the reason as text, translated."""
    return HttpResponse(translated(message), status=422, content_type="text/plain; charset=utf-8")


def change_shares(request: HttpRequest, user: User, shared: Shared) -> None:
    """Grant or revoke a right by the form; the next page shows an error."""
    if removed := request.POST.get("remove"):
        try:
            shared.shares.filter(pk=removed).delete()
        except (ValidationError, ValueError):
            raise Http404 from None
        return
    name = request.POST.get("name", "").strip()
    try:
        share_with(user, shared, name, can_write="can_write" in request.POST)
    except UnknownUser:
        messages.error(
            request,
            _("There is no user “%(name)s”, and you are not in a group with that name.") % {"name": name},
        )


def to_details(pk: UUID) -> HttpResponse:
    return redirect("document-details", pk)


@require_POST
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Move the document to the bin, and offer to undo that. Only its owner can."""
    document = get_object_or_404(Document, pk=pk, owner=request.user, deleted_at=None)
    move_to_trash(document)
    return changed(render(request, "library/_deleted.html", {"document": document}))


@require_POST
def restore(request: HttpRequest, pk: UUID) -> HttpResponse:
    document = get_object_or_404(Document, pk=pk, owner=request.user)
    if not restore_from_trash(document):
        return HttpResponse(
            _("The same file was uploaded again."), status=409, content_type="text/plain; charset=utf-8"
        )
    if not by_htmx(request):
        return redirect(f"{reverse('document', args=[pk])}?{request.GET.urlencode()}".rstrip("?"))
    return card(request, document, focused=True)


@require_POST
def retry(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Process the document again, with its password if one is given."""
    document = get_object_or_404(Document.objects.editable_by(request.user), pk=pk)
    if password := request.POST.get("password", ""):
        try:
            unlock(document, password)
        except ParseFailure as failure:
            wrong = _unlock_message(failure)
            if by_htmx(request):
                return card(request, document, wrong=wrong)
            messages.error(request, wrong)
            return to_details(pk)
    pipeline.ingest_again(document)
    return answer(request, document, focused=True)


@require_POST
def cancel(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Cancel the ingestion of a document."""
    document = get_object_or_404(Document.objects.editable_by(request.user), pk=pk)
    pipeline.cancel(document)
    return answer(request, document)


@require_POST
def rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    document = get_object_or_404(Document.objects.editable_by(request.user), pk=pk)
    if title := request.POST.get("title", "").strip()[:500]:
        document.title = title
        document.save(update_fields=["title", "updated_at"])
    return answer(request, document)


@rated("upload")
@require_POST
def replace(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Replace the file, or attach one to a paper. Only the owner can: a refusal may name another document."""
    document = get_object_or_404(Document, pk=pk, owner=request.user, deleted_at=None)
    file = request.FILES.get("file")
    try:
        if file is not None and document.kind == Document.Kind.PAPER:
            replace_file(document, file)
        elif file is not None:
            replace_file(document, file, file.name or "")
            messages.success(request, _("The new version is being read. Cited words are looked up in it."))
    except UploadRefused as refused:
        messages.error(request, refused.message)
    return to_details(pk)


@require_POST
def tag(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Add a tag to the document (``name``, created if new, or ``tag``, its id), or remove one."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    tags = Tag.objects.visible_to(request.user)
    if removed := request.POST.get("remove"):
        document.tags.remove(*tags.filter(name=removed))
    elif chosen := request.POST.get("tag"):
        document.tags.add(get_object_or_404(tags, pk=uuid_or_404(chosen)))
    elif name := request.POST.get("name", "").strip()[:60]:
        new = {"colour": colour_for(name)}
        document.tags.add(Tag.objects.get_or_create(owner=request.user, name=name, defaults=new)[0])
    return answer(request, document)


@require_POST
def collect(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Put the document into a collection (``name``, created if new, or its id), or take it out."""
    document = get_object_or_404(Document.objects.editable_by(request.user), pk=pk)
    user, editable = request.user, Collection.objects.editable_by(request.user)
    if removed := request.POST.get("remove"):
        is_owner = document.owner_id == user.pk
        known = Collection.objects.visible_to(user) if is_owner else editable
        for collection in known.filter(name=removed, documents=document):
            remove_from_collection(document, collection, user)
    elif chosen := request.POST.get("collection"):
        add_to_collection(document, get_object_or_404(editable, pk=uuid_or_404(chosen)), user)
    elif name := request.POST.get("name", "").strip()[:120]:
        found = editable.filter(name=name).first()
        add_to_collection(document, found or Collection.objects.create(owner=user, name=name), user)
    return answer(request, document)


@require_POST
def share(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Grant a user or one of the owner's groups the right to read or write, or revoke it."""
    document = get_object_or_404(Document, pk=pk, owner=request.user, deleted_at=None)
    change_shares(request, request.user, document)
    return to_details(pk)


@require_safe
def menu(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the document's actions, requested when its card's menu opens."""
    found = for_cards(Document.objects.visible_to(request.user), request.user)
    return render(request, "library/_menu.html", {"document": get_object_or_404(found, pk=pk)})


def answer(request: HttpRequest, document: Document, *, focused: bool = False) -> HttpResponse:
    """Return the updated card to htmx; redirect other requests to the details."""
    return card(request, document, focused=focused) if by_htmx(request) else to_details(document.pk)


def card(request: HttpRequest, document: Document, wrong: str = "", *, focused: bool = False) -> HttpResponse:
    """Return the card, with which htmx replaces the old one.

    ``wrong`` is a message about the password. ``focused`` moves the focus to the title, since the pressed
    button is gone.
    """
    context = {"documents": [_row(request, document)], "wrong": wrong, "focused": focused, "answered": True}
    return changed(render(request, "library/_cards.html", context))


def new_card(request: HttpRequest, document: Document) -> HttpResponse:
    """Return the card of a new document, which htmx inserts before all others."""
    context = {"documents": [_row(request, document)]}
    return changed(render(request, "library/_new_card.html", context, status=201))


def _row(request: HttpRequest, document: Document) -> Document:
    return for_cards(Document.objects.visible_to(request.user), request.user).get(pk=document.pk)


def changed(response: HttpResponse) -> HttpResponse:
    """Make the page update its counts of documents, collections and tags."""
    response.headers["HX-Trigger"] = "librarychanged"
    return response


def _unlock_message(failure: ParseFailure) -> str:
    wrong = failure.code == FailureCode.PASSWORD_PROTECTED
    return _("That password is not right. Try again.") if wrong else failure.message
