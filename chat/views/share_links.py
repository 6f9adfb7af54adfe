"""Links to one answer: made and revoked by its owner, read by anybody."""

from __future__ import annotations

from uuid import UUID

import msgspec
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from chat.answers.presenters import ShownMessage, shown_message
from chat.citations.presenters import citation_picture
from chat.markdown.html import ON_A_PAGE, render_message
from chat.models import AnswerShare, Citation
from chat.share_links import NotReadable, revoke, share_answer, share_of, token_of
from chat.views.visible import visible_answer
from documents.files.page_pictures import PictureFailed
from documents.translation import translated

NOT_READABLE = "This answer uses a document that you can no longer read, so it cannot be shared."
DAYS = ((1, _("1 day")), (7, _("7 days")), (30, _("30 days")), (365, _("1 year")), (0, _("Never")))


@login_required
@require_POST
def share(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Makes the answer's link, or tells the one it has; ``days`` sets when it ends (0: never)."""
    answer = visible_answer(request, message_id)
    days = request.POST.get("days", "")
    try:
        link = share_answer(answer, int(days) if days.isdecimal() else None)
    except NotReadable:
        return HttpResponse(translated(NOT_READABLE), status=409, content_type="text/plain; charset=utf-8")
    url = address_of(request, link)
    if request.headers.get("HX-Request"):
        page = {"answer": answer, "url": url, "link": link, "choices": DAYS}
        return render(request, "chat/_share.html", page)
    return JsonResponse({"url": url, "expires_at": link.expires_at}, status=201)


def address_of(request: HttpRequest, link: AnswerShare) -> str:
    return request.build_absolute_uri(reverse("shared-answer", args=[token_of(link)]))


@login_required
@require_POST
def unshare(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Revokes every link to the answer."""
    answer = visible_answer(request, message_id)
    revoked = revoke(answer)
    if request.headers.get("HX-Request"):
        return render(request, "chat/_share.html", {"answer": answer, "url": ""})
    if request.POST.get("next") == "links":
        return redirect("links")
    return JsonResponse({"revoked": revoked})


@login_required
@require_safe
def links(request: HttpRequest) -> HttpResponse:
    """The links one made that still work, and until when."""
    found = AnswerShare.objects.visible_to(request.user).open()
    rows = found.select_related("message__conversation").order_by("-created_at")
    shown = [(row, address_of(request, row)) for row in rows]
    return render(request, "chat/links.html", {"section": "library", "links": shown})


@never_cache
@require_safe
def shared_answer(request: HttpRequest, token: str) -> HttpResponse:
    """One answer for anybody with its link: claims, quotes, pictures of the words and the lines around."""
    found = open_share(token)
    seen = shown_message(found.message)
    context = {"question": found.message.question.content, "answer": without_links(seen), "token": token}
    response = render(request, "chat/shared.html", context)
    response["X-Robots-Tag"] = "noindex"
    response["Referrer-Policy"] = "no-referrer"
    return response


@never_cache
@require_safe
def shared_picture(request: HttpRequest, token: str, citation_id: UUID) -> HttpResponse:
    """The cited words and the lines around them as a picture, cut from their page."""
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
    """The answer with superscripts that lead to its own list of sources, not into the library."""
    local = tuple(
        msgspec.structs.replace(citation, href=f"#source-{citation.id}") for citation in seen.citations
    )
    html = render_message(seen.message.content, local, top=ON_A_PAGE)
    return ShownMessage(seen.message, html, local, seen.summary)
