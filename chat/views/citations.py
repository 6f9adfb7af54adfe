"""One citation in the browser: its hover card, and what a person thinks of it."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from chat.models import Citation


@require_safe
@login_required
def card(request: HttpRequest, citation_id: UUID) -> HttpResponse:
    """The cited words, a picture of their place, and the verdict."""
    return render(request, "chat/_card.html", {"citation": visible_citation(request, citation_id)})


@require_POST
@login_required
def feedback(request: HttpRequest, citation_id: UUID) -> HttpResponse:
    """Keeps whether a person finds a citation ``right`` or ``wrong``; '' takes it back."""
    said = request.POST.get("feedback", "")
    if said not in ("", "right", "wrong"):
        return JsonResponse({"error": "Say right, wrong, or nothing."}, status=400)
    citation = visible_citation(request, citation_id)
    citation.feedback = said
    citation.save(update_fields=["feedback"])
    if request.headers.get("HX-Request"):
        return render(request, "chat/_feedback_kept.html", {"citation": citation})
    return JsonResponse({"citation": str(citation.pk), "feedback": said})


def visible_citation(request: HttpRequest, pk: UUID) -> Citation:
    return get_object_or_404(Citation.objects.visible_to(request.user), pk=pk)
