"""`/account/webhooks/`: a user's webhooks with their deliveries; `/embed/…`: a reader within other sites.

This module also has the URLs of programs outside the API.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from csp.decorators import csp_replace
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_POST, require_safe

from agents.mcp_http import McpView
from agents.models import MOST_WEBHOOKS, ReaderEmbed, Webhook, WebhookDelivery
from agents.openai_api import ChatCompletionsView, Models
from agents.openai_responses import ResponseDetail, Responses
from agents.webhooks import CHOOSABLE, tested
from chat.views.reader import embed_context
from documents.files.url_fetch import FetchRefused, parsed
from documents.views.files import pdf_of

SHOWN = 5  # deliveries of each


@require_safe
def webhooks(request: HttpRequest) -> HttpResponse:
    return webhooks_page(request, new=request.session.pop(NEW, ""))


NEW = "new_webhook"  # session key: the id of a webhook whose secret the next page shows, once


def webhooks_page(
    request: HttpRequest, url: str = "", chosen: Sequence[str] | None = None, new: str = ""
) -> HttpResponse:
    """Show the user's webhooks. ``url`` and ``chosen`` (events): the input of a refused form."""
    latest = WebhookDelivery.objects.all()[:SHOWN]
    own = Webhook.objects.visible_to(request.user).prefetch_related(
        Prefetch("deliveries", latest, to_attr="latest")
    )
    ticked = [event for event, _name in CHOOSABLE] if chosen is None else chosen
    shown: dict[str, object] = {"webhooks": own, "events": CHOOSABLE, "url": url, "ticked": ticked}
    shown["new"] = UUID(new) if new else None
    return render(request, "account/webhooks.html", shown, status=422 if url else 200)


@require_POST
def add(request: HttpRequest) -> HttpResponse:
    """Add an address with the selected events."""
    url = request.POST.get("url", "").strip()[:2000]
    events = sorted({event for event in request.POST.getlist("event") if event in dict(CHOOSABLE)})
    own = Webhook.objects.visible_to(request.user)
    if not events:
        messages.error(request, _("Choose at least one event."))
    elif own.count() >= MOST_WEBHOOKS:
        messages.error(request, _("You have reached the maximum number of webhooks. Remove one first."))
    else:
        try:
            parsed(url)
        except FetchRefused as refused:
            messages.error(request, refused.message)
        else:
            made = Webhook.objects.create(owner=request.user, url=url, events=events)
            request.session[NEW] = str(made.pk)
            messages.success(request, _("The webhook was added. Send a test message to try it."))
            return redirect("webhooks")
    return webhooks_page(request, url, events)


@require_POST
def test(request: HttpRequest, pk: UUID) -> HttpResponse:
    delivery = tested(get_object_or_404(Webhook.objects.visible_to(request.user), pk=pk))
    if delivery.delivered_at:
        messages.success(request, _("The test message was delivered."))
    else:
        messages.error(request, delivery.error)
    return redirect("webhooks")


@require_POST
def remove(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(Webhook.objects.visible_to(request.user), pk=pk).delete()
    messages.success(request, _("The webhook was removed."))
    return redirect("webhooks")


@login_not_required
@never_cache
@xframe_options_exempt
@require_safe
def embedded_reader(request: HttpRequest, token: str) -> HttpResponseBase:
    """Show the document in a frame, at ``?citation=``, or at ``?page=`` with the words ``?q=`` highlighted.

    The session is ignored: the address alone gives access, and only to this document.
    """
    embed = open_embed(token)
    context = embed_context(request, embed.document, reverse("embedded-file", args=[token]), embed.owner)

    @csp_replace({"frame-ancestors": embed.origins})
    def framed(request: HttpRequest) -> HttpResponse:
        response = render(request, "reader/embed.html", context)
        response["X-Robots-Tag"] = "noindex"
        response["Referrer-Policy"] = "no-referrer"
        return response

    return framed(request)


@login_not_required
@never_cache
@require_safe
def embedded_file(request: HttpRequest, token: str) -> HttpResponseBase:
    """Return the PDF of an embedded reader, whole or the requested range."""
    document = open_embed(token).document
    return pdf_of(request, document, document.shown_file)


def open_embed(token: str) -> ReaderEmbed:
    embed = ReaderEmbed.objects.by_token(token)
    if embed is None or not embed.document.file:
        raise Http404
    return embed


urlpatterns: list[URLPattern] = [
    path("v1/models", Models.as_view(), name="openai-models"),
    path("v1/chat/completions", ChatCompletionsView.as_view(), name="openai-chat-completions"),
    path("v1/responses", Responses.as_view(), name="openai-responses"),
    path("v1/responses/<str:response_id>", ResponseDetail.as_view(), name="openai-response"),
    path("account/webhooks/", webhooks, name="webhooks"),
    path("account/webhooks/add/", add, name="webhook-add"),
    path("account/webhooks/<uuid:pk>/test/", test, name="webhook-test"),
    path("account/webhooks/<uuid:pk>/remove/", remove, name="webhook-remove"),
    path("embed/<str:token>/", embedded_reader, name="embedded-reader"),
    path("embed/<str:token>/file", embedded_file, name="embedded-file"),
    path("mcp", McpView.as_view(), name="mcp"),
]
