"""An answer as a file."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from chat.exports.docx import as_docx
from chat.exports.exported_answer import ExportedAnswer, exported
from chat.exports.html import PackFailed, as_html, evidence_pack
from chat.exports.markdown import as_markdown
from chat.exports.plain import as_plain, as_rich
from chat.views.visible import visible_answer
from documents.audit import record
from documents.models import Document, EventKind

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FORMATS: dict[str, tuple[str, Callable[[ExportedAnswer], str | bytes]]] = {
    "txt": ("text/plain; charset=utf-8", as_plain),
    "rich": ("text/html; charset=utf-8", as_rich),  # for the clipboard
    "md": ("text/markdown; charset=utf-8", as_markdown),
    "html": ("text/html; charset=utf-8", as_html),
    "docx": (WORD, as_docx),
}


@login_required
@require_safe
def export(request: HttpRequest, message_id: UUID, form: str) -> HttpResponse:
    """The answer as ``txt``, ``md``, ``html`` or ``docx``, to be saved."""
    answer = visible_answer(request, message_id)
    if form not in FORMATS:
        raise Http404
    kind, write = FORMATS[form]
    content = exported(answer)
    record(EventKind.EXPORTED, f"answer {answer.pk} as {form}")
    return as_file(write(content), kind, f"{content.file_name}.{form}")


@login_required
@require_safe
def evidence(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """The evidence pack: one PDF."""
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
