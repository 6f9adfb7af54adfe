"""The licence page, and the source code of the running server (AGPL-3.0, section 13)."""

from __future__ import annotations

import io
import tarfile
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

SOURCE = (
    *("manage.py", "pyproject.toml", "Makefile", "package.json", "package-lock.json", ".ci"),
    *("requirements.lock", "requirements-dev.lock", "README.md", "LICENSE", "NOTICE", "docs", "examples"),
    *("text", "pdf", "domains", "documents", "retrieval", "chat", "agents", "operations", "config", "bench"),
    *("templates", "static", "tests"),
)
NOT_SOURCE = {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}


@require_safe
def licence(request: HttpRequest) -> HttpResponse:
    """Show the licence, the notices of bundled work and a link to the source."""
    notice = (settings.BASE_DIR / "NOTICE").read_text(encoding="utf-8")
    return render(request, "licence.html", {"notice": notice, "source_url": settings.SOURCE_URL})


@require_safe
@cache_control(public=True, max_age=3600)
def source(request: HttpRequest) -> HttpResponse:
    """Send the source code as an archive, without data, settings and keys."""
    answer = HttpResponse(source_archive(settings.BASE_DIR), content_type="application/gzip")
    answer["Content-Disposition"] = 'attachment; filename="pincite-source.tar.gz"'
    return answer


@cache
def source_archive(root: Path) -> bytes:
    """Return a tar.gz of ``SOURCE`` below ``root``; built once per process."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in SOURCE:
            if (root / name).exists():
                archive.add(root / name, f"pincite/{name}", filter=_without_owner)
    return buffer.getvalue()


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """tarfile filter: leave out caches and links; clear the owner."""
    if NOT_SOURCE & set(Path(entry.name).parts) or not (entry.isfile() or entry.isdir()):
        return None
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


urlpatterns = [
    path("licence/", licence, name="licence"),
    path("source.tar.gz", source, name="source"),
]
