"""Which models are set up, and whether they answer."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from chat.providers.registry import cards, check_health, provider_names


@require_safe
@login_required
def providers(request: HttpRequest) -> HttpResponse:
    return render(request, "chat/providers.html", {"cards": cards()})


@require_POST
@login_required
def test(request: HttpRequest, name: str) -> HttpResponse:
    """Asks the provider for one word; a fragment that says how it went."""
    if name not in provider_names():
        raise Http404
    return render(request, "chat/_health.html", {"health": check_health(name)})
