"""Static files under hashed names, served before Django; cache headers; licence page, source archive.

The reader requests about twenty of them before it paints a page. WhiteNoise's middleware costs 2 to 4 ms each
(a thread, and the middleware before it); a look-up in its table of files costs a tenth of that.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, MutableMapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, cast

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.staticfiles.storage import HashedFilesMixin, ManifestStaticFilesStorage
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path
from django.utils.cache import patch_cache_control
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from operations.http.admission import Application, Receive, Send

METHODS = ("GET", "HEAD")


class CollectedFiles(WhiteNoiseMiddleware):
    """WhiteNoise, without a warning where STATIC_ROOT does not exist (before the first run, in tests).

    A process lists the source files once: it takes 0.1 s, and each test client has middleware of its own.
    """

    _sources: ClassVar[dict[str, Any]] = {}

    def add_files_from_finders(self) -> None:
        if not self._sources:
            collected = self.files.copy()
            self.files.clear()
            super().add_files_from_finders()
            self._sources.update(self.files)
            self.files.update(collected)
        self.files.update(self._sources)

    def add_files(self, root: str | Path, prefix: str | None = None) -> None:
        if Path(root).is_dir():
            super().add_files(root, prefix)


def static_files(application: Application, only_https: bool) -> Application:
    """Wrap the application: serve static files, except over plain HTTP where HTTPS is required."""
    files: dict[str, StaticFile] = CollectedFiles(lambda request: HttpResponse()).files

    async def answered(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        served = scope["type"] == "http" and scope["method"] in METHODS
        served = served and not (only_https and scope["scheme"] != "https")
        if served and (found := files.get(scope["path"])):
            await answer(found, scope, send)
        else:
            await application(scope, receive, send)

    return answered


async def answer(found: StaticFile, scope: MutableMapping[str, Any], send: Send) -> None:
    response = found.get_response(scope["method"], as_wsgi(scope["headers"]))
    headers = [*response.headers, ("X-Content-Type-Options", "nosniff")]
    start = {"type": "http.response.start", "status": int(response.status)}
    body = b""
    if response.file is not None:
        with response.file as file:
            body = cast(bytes, file.read())  # a megabyte at most: faster than through a thread
    await send(start | {"headers": [(name.lower().encode(), value.encode()) for name, value in headers]})
    await send({"type": "http.response.body", "body": body})


def as_wsgi(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers as WSGI environment variables, which WhiteNoise reads."""
    return {
        f"HTTP_{name.decode('latin-1').upper().replace('-', '_')}": value.decode("latin-1")
        for name, value in headers
    }


# --- Hashed names: browsers cache static files for ever; a changed file gets another name ---
#
# collectstatic rewrites the imports in our modules. Files whose path is built at run time (pdf.js's worker,
# fonts and tables) keep their name.


class HashedNames(ManifestStaticFilesStorage):
    support_js_module_import_aggregation = True
    # Only our own JavaScript: libraries refer to source maps that they do not include.
    patterns = HashedFilesMixin.patterns[:1]
    _js_module_import_aggregation_patterns = (
        "js/*.js",
        HashedFilesMixin._js_module_import_aggregation_patterns[1],  # type: ignore[attr-defined]
    )

    def load_manifest(self) -> Any:
        """Return an empty manifest while collected files are outdated, so that original names are served."""
        return super().load_manifest() if are_collected() else ({}, "")

    def stored_name(self, name: str) -> str:
        known: str | None = self.hashed_files.get(self.hash_key(self.clean_name(name)))
        return known or name


def are_collected() -> bool:
    """Return whether collectstatic ran after the last change of a source file."""
    manifest = Path(settings.STATIC_ROOT) / HashedNames.manifest_name
    newest = max((path.stat().st_mtime for path in static_sources()), default=0)
    return manifest.exists() and manifest.stat().st_mtime > newest


def static_sources() -> list[Path]:
    roots = [settings.BASE_DIR / "static", settings.BASE_DIR / "node_modules/.package-lock.json"]
    return [path for root in roots for path in [root, *root.rglob("*")] if path.exists()]


NOT_STORED = "private, no-store"


def cache_headers(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: responses are not stored by caches (ASVS 5.0, 14.3.2).

    A view's own ``Cache-Control`` is kept; it becomes ``private`` unless it is ``public``.
    """
    return lambda request: private(get_response(request))


def private(response: HttpResponseBase) -> HttpResponseBase:
    value = response.headers.get("Cache-Control", "")
    if not value:
        response.headers["Cache-Control"] = NOT_STORED
    elif "public" not in value and "private" not in value:
        patch_cache_control(response, private=True)
    return response


# --- The licence page, and the source code of the running server (AGPL-3.0, section 13) ---


SOURCE = (  # by name: an operator may keep other files beside them
    *("manage.py", "pyproject.toml", "requirements*.lock", "package.json", "package-lock.json", ".npmrc"),
    *("Makefile", "Dockerfile", "compose.yaml", "README.md", "CONTRIBUTING.md", "LICENSE", "NOTICE", ".ci"),
    *("docs", "deploy", "examples", "locale", "templates", "static", "tests", "text", "pdf", "domains"),
    *("citing", "documents", "retrieval", "chat", "reviews", "agents", "operations", "config", "bench"),
)
NOT_SOURCE = {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}


@login_not_required
@require_safe
def licence(request: HttpRequest) -> HttpResponse:
    """Show the licence, the notices of bundled work and a link to the source."""
    notice = (settings.BASE_DIR / "NOTICE").read_text(encoding="utf-8")
    return render(request, "licence.html", {"notice": notice})


@login_not_required
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
        for path in (path for pattern in SOURCE for path in sorted(root.glob(pattern))):
            archive.add(path, f"pincite/{path.name}", filter=_without_owner)
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
