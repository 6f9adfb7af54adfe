"""`/account/webhooks/`: one's webhooks, what was sent to each, and a button to test them."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from agents.models import MOST_WEBHOOKS, Webhook, WebhookDelivery
from agents.webhooks import CHOOSABLE, tested
from documents.files.url_fetch import FetchRefused, parsed

SHOWN = 5  # deliveries of each


@require_safe
@login_required
def webhooks(request: HttpRequest) -> HttpResponse:
    latest = WebhookDelivery.objects.all()[:SHOWN]
    own = Webhook.objects.visible_to(request.user).prefetch_related(
        Prefetch("deliveries", latest, to_attr="latest")
    )
    return render(request, "account/webhooks.html", {"webhooks": own, "events": CHOOSABLE})


@require_POST
@login_required
def add(request: HttpRequest) -> HttpResponse:
    """Adds an address with the events that were ticked."""
    url = request.POST.get("url", "").strip()[:2000]
    events = sorted({event for event in request.POST.getlist("event") if event in dict(CHOOSABLE)})
    own = Webhook.objects.visible_to(request.user)
    if not events:
        messages.error(request, _("Choose at least one event."))
    elif own.count() >= MOST_WEBHOOKS:
        messages.error(request, _("You have as many webhooks as there may be: remove one first."))
    else:
        try:
            parsed(url)
        except FetchRefused as refused:
            messages.error(request, refused.message)
        else:
            Webhook.objects.create(owner=request.user, url=url, events=events)
            messages.success(request, _("The webhook was added. Send a test message to try it."))
    return redirect("webhooks")


@require_POST
@login_required
def test(request: HttpRequest, pk: UUID) -> HttpResponse:
    delivery = tested(get_object_or_404(Webhook.objects.visible_to(request.user), pk=pk))
    if delivery.delivered_at:
        messages.success(request, _("The address took the test message."))
    else:
        messages.error(request, delivery.error)
    return redirect("webhooks")


@require_POST
@login_required
def remove(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(Webhook.objects.visible_to(request.user), pk=pk).delete()
    messages.success(request, _("The webhook was removed."))
    return redirect("webhooks")
