"""Links to one answer: made and revoked by its owner, read by anybody."""

from __future__ import annotations

from uuid import UUID

import msgspec
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from chat.asking import question_of
from chat.citation_pictures import citation_picture
from chat.heading_levels import ON_A_PAGE
from chat.models import AnswerShare, Citation
from chat.reading import ShownMessage, shown_message
from chat.rendering import render_message
from chat.sharing import revoke, share_answer, share_of, token_of
from chat.views.visible import visible_answer
from documents.pictures import PictureFailed


@login_required
@require_POST
def share(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Makes the answer's link, or tells the one it has."""
    answer = visible_answer(request, message_id)
    url = request.build_absolute_uri(reverse("shared-answer", args=[token_of(share_answer(answer))]))
    if request.headers.get("HX-Request"):
        return render(request, "chat/_share.html", {"answer": answer, "url": url})
    return JsonResponse({"url": url}, status=201)


@login_required
@require_POST
def unshare(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Revokes every link to the answer."""
    answer = visible_answer(request, message_id)
    revoked = revoke(answer)
    if request.headers.get("HX-Request"):
        return render(request, "chat/_share.html", {"answer": answer, "url": ""})
    return JsonResponse({"revoked": revoked})


@never_cache
@require_safe
def shared_answer(request: HttpRequest, token: str) -> HttpResponse:
    """One answer for anybody with its link: claims, quotes, pictures of the words and the lines around."""
    found = open_share(token)
    seen = shown_message(found.message)
    context = {"question": question_of(found.message).content, "answer": without_links(seen), "token": token}
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
