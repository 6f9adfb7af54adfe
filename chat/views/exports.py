"""Downloads of answers, conversations and notes; public links to one answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import msgspec
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from chat.answers.message_presenters import ShownMessage, shown_message
from chat.citations.stored_citations import citation_picture
from chat.exports.html_and_evidence import PackFailed, as_html, evidence_pack
from chat.exports.markdown import (
    Export,
    as_markdown,
    as_plain,
    as_rich,
    exported,
    exported_conversation,
    exported_note,
    from_one,
)
from chat.exports.word import as_docx
from chat.markdown.html import ON_A_PAGE, render_message
from chat.models import AnswerShare, Citation, Conversation, Message, Note
from chat.models.conversation import NotShareable, revoke, share_answer, share_of, token_of
from chat.views import visible_answer, visible_conversation, visible_note
from documents.files.page_pictures import PictureFailed
from documents.models import Document, EventKind
from documents.models.security import record
from documents.papers.bibliography import STYLES
from documents.translation import translated
from text.numbers import whole_number

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FILES: dict[str, tuple[str, Callable[[Export], str | bytes]]] = {
    "md": ("text/markdown; charset=utf-8", as_markdown),
    "html": ("text/html; charset=utf-8", as_html),
    "docx": (WORD, as_docx),
}
FORMATS = FILES | {
    "txt": ("text/plain; charset=utf-8", as_plain),
    "rich": ("text/html; charset=utf-8", as_rich),  # for the clipboard
}
DEFAULT_STYLE = "apa"


@require_safe
def export(request: HttpRequest, message_id: UUID, form: str) -> HttpResponse:
    """Download the answer as one of FORMATS, with references if ``style`` is set."""
    return file_of(request, visible_answer(request, message_id), form, default_style="")


@require_safe
def conversation(request: HttpRequest, pk: UUID, form: str) -> HttpResponse:
    """Download the conversation as one of FILES, with references in ``style``."""
    return file_of(request, visible_conversation(request, pk), form)


@require_safe
def note(request: HttpRequest, pk: UUID, form: str) -> HttpResponse:
    """Download the note as one of FILES, with references in ``style``."""
    return file_of(request, visible_note(request, pk), form)


def file_of(
    request: HttpRequest, shown: Message | Conversation | Note, form: str, default_style: str = DEFAULT_STYLE
) -> HttpResponse:
    """Return the download in the ``style`` of the query. 404 for an unknown format or style."""
    style = chosen_style(request, default_style)
    if form not in (FORMATS if isinstance(shown, Message) else FILES):
        raise Http404
    match shown:
        case Message():
            content = exported(shown, style)
        case Conversation():
            content = exported_conversation(shown, style)
        case Note():
            content = exported_note(shown, style)
    content = replace(content, site=request.build_absolute_uri("/").rstrip("/"))
    kind, write = FORMATS[form]
    what = "answer" if isinstance(shown, Message) else type(shown).__name__.lower()
    record(EventKind.EXPORTED, f"{what} {shown.pk} as {form}")
    return as_file(write(content), kind, f"{content.file_name}.{form}")


def chosen_style(request: HttpRequest, default: str = "") -> str:
    """Return the style of references in the query. Raises Http404 for an unknown one."""
    style = request.GET.get("style", default)
    if style and style not in STYLES:
        raise Http404
    return style


@require_safe
def evidence(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Download the evidence pack, a PDF."""
    content = exported(visible_answer(request, message_id), chosen_style(request))
    return evidence_of(request, content, f"answer {message_id}")


@require_safe
def note_evidence(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Download the note with its cited pages, a PDF."""
    content = exported_note(visible_note(request, pk), chosen_style(request))
    return evidence_of(request, content, f"note {pk}")


def evidence_of(request: HttpRequest, content: Export, what: str) -> HttpResponse:
    visible = set(Document.objects.visible_to(request.user).values_list("pk", flat=True))
    try:
        pack = evidence_pack(content, visible & {row.document_id for row in content.rows})
    except PackFailed as failure:
        return JsonResponse({"error": str(failure)}, status=409)
    record(EventKind.EXPORTED, f"{what} as an evidence pack")
    return as_file(pack, "application/pdf", f"{content.file_name}-evidence.pdf")


def as_file(body: str | bytes, kind: str, name: str) -> HttpResponse:
    response = HttpResponse(body, content_type=kind)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or ""
    response["X-Content-Type-Options"] = "nosniff"
    return response


# --- Public links to one answer: its owner creates and revokes them, anybody reads them ---


MOST_DAYS = 3650
DAYS = ((1, _("1 day")), (7, _("7 days")), (30, _("30 days")), (365, _("1 year")), (0, _("Never")))


@require_POST
def share(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Create the answer's link, or return the existing one; ``days`` until it expires (0: never)."""
    answer = visible_answer(request, message_id)
    days = request.POST.get("days", "")
    try:
        link = share_answer(answer, whole_number(days, MOST_DAYS))
    except NotShareable as reason:
        return HttpResponse(translated(str(reason)), status=409, content_type="text/plain; charset=utf-8")
    url = address_of(request, link)
    if request.headers.get("HX-Request"):
        page = {"answer": answer, "url": url, "link": link, "choices": DAYS}
        return render(request, "chat/_share.html", page)
    return JsonResponse({"url": url, "expires_at": link.expires_at}, status=201)


def address_of(request: HttpRequest, link: AnswerShare) -> str:
    return request.build_absolute_uri(reverse("shared-answer", args=[token_of(link)]))


@require_POST
def unshare(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Revoke every link to the answer."""
    answer = visible_answer(request, message_id)
    revoked = revoke(answer)
    if request.headers.get("HX-Request"):
        return render(request, "chat/_share.html", {"answer": answer, "url": ""})
    if request.POST.get("next") == "links":
        return redirect("links")
    return JsonResponse({"revoked": revoked})


@require_safe
def links(request: HttpRequest) -> HttpResponse:
    """Show the user's valid links, and when they expire."""
    found = AnswerShare.objects.visible_to(request.user).open()
    rows = found.select_related("message__conversation").order_by("-created_at")
    shown = [(row, address_of(request, row)) for row in rows]
    return render(request, "chat/links.html", {"section": "library", "links": shown})


@login_not_required
@never_cache
@require_safe
def shared_answer(request: HttpRequest, token: str) -> HttpResponse:
    """Show one answer to anyone with its link: claims, quotes, and pictures of the cited lines."""
    found = open_share(token)
    seen = shown_message(found.message)
    context = {"question": found.message.question.content, "answer": without_links(seen), "token": token}
    response = render(request, "chat/shared.html", context)
    response["X-Robots-Tag"] = "noindex"
    response["Referrer-Policy"] = "no-referrer"
    return response


@login_not_required
@never_cache
@require_safe
def shared_picture(request: HttpRequest, token: str, citation_id: UUID) -> HttpResponse:
    """Show the cited words and the lines around them as a picture, cut from their page."""
    citation = get_object_or_404(Citation, pk=citation_id, message=open_share(token).message)
    try:
        return HttpResponse(citation_picture(citation, crop=True), content_type="image/png")
    except PictureFailed:
        raise Http404 from None


def open_share(token: str) -> AnswerShare:
    found = share_of(token)
    if found is None:
        raise Http404
    return found


def without_links(seen: ShownMessage) -> ShownMessage:
    """Return the answer with superscripts linked to its list of sources instead of the library."""
    local = tuple(
        msgspec.structs.replace(citation, href=f"#source-{citation.id}")
        for citation in from_one(seen.citations)
    )
    html = render_message(seen.message.content, local, top=ON_A_PAGE)
    return ShownMessage(seen.message, html, local, seen.summary)
