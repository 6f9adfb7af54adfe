"""Downloads of answers, conversations and notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from chat.exports.docx import as_docx
from chat.exports.exported_answer import Export, exported, exported_conversation, exported_note
from chat.exports.html import PackFailed, as_html, evidence_pack
from chat.exports.markdown import as_markdown, as_plain, as_rich
from chat.models import Conversation, Message, Note
from chat.views.visible import visible_answer, visible_conversation, visible_note
from documents.models import Document, EventKind
from documents.models.security import record
from documents.papers.bibliography import STYLES

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


@login_required
@require_safe
def export(request: HttpRequest, message_id: UUID, form: str) -> HttpResponse:
    """Download the answer as ``txt``, ``md``, ``html`` or ``docx``, with references if ``style`` is set."""
    answer = visible_answer(request, message_id)
    if form not in FORMATS:
        raise Http404
    return file_of(request, answer, form, chosen_style(request, ""))


@login_required
@require_safe
def conversation(request: HttpRequest, pk: UUID, form: str) -> HttpResponse:
    """Download the conversation as ``md``, ``html`` or ``docx``, with references in ``style``."""
    return file_of(request, visible_conversation(request, pk), file_format(form), chosen_style(request))


@login_required
@require_safe
def note(request: HttpRequest, pk: UUID, form: str) -> HttpResponse:
    """Download the note as ``md``, ``html`` or ``docx``, with references in ``style``."""
    return file_of(request, visible_note(request, pk), file_format(form), chosen_style(request))


def file_format(form: str) -> str:
    if form not in FILES:
        raise Http404
    return form


def chosen_style(request: HttpRequest, default: str = DEFAULT_STYLE) -> str:
    style = request.GET.get("style", default)
    if style and style not in STYLES:
        raise Http404
    return style


def file_of(
    request: HttpRequest, shown: Message | Conversation | Note, form: str, style: str
) -> HttpResponse:
    """Return the download. ``form`` is one of FORMATS, ``style`` one of STYLES or ''."""
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


@login_required
@require_safe
def evidence(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Download the evidence pack, a PDF."""
    content = exported(visible_answer(request, message_id))
    visible = set(Document.objects.visible_to(request.user).values_list("pk", flat=True))
    try:
        pack = evidence_pack(content, visible & {row.document_id for row in content.rows})
    except PackFailed as failure:
        return JsonResponse({"error": str(failure)}, status=409)
    record(EventKind.EXPORTED, f"answer {message_id} as an evidence pack")
    return as_file(pack, "application/pdf", f"{content.file_name}-evidence.pdf")


def as_file(body: str | bytes, kind: str, name: str) -> HttpResponse:
    response = HttpResponse(body, content_type=kind)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or ""
    response["X-Content-Type-Options"] = "nosniff"
    return response
