"""The page of background work: what waits, runs and ended."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from documents.models import Job

JOBS_A_PAGE = 50


@require_safe
@login_required
def jobs(request: HttpRequest) -> HttpResponse:
    """The user's jobs, newest first. The list alone is asked for again while one is unfinished."""
    rows = Job.objects.visible_to(request.user).select_related("document")
    page = Paginator(rows, JOBS_A_PAGE).get_page(request.GET.get("page"))
    unfinished = any(job.finished_at is None for job in page.object_list)
    template = "library/_jobs.html" if request.headers.get("HX-Request") else "library/jobs.html"
    return render(request, template, {"page": page, "unfinished": unfinished})
