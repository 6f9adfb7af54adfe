"""Static files under hashed names, served before Django; cache headers of all responses.

A page of the reader asks for some twenty of them before its first page is
painted. WhiteNoise's middleware costs each a thread and all that stands above
it: 2 to 4 ms; its table of files alone costs a tenth of that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, cast

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.contrib.staticfiles.storage import HashedFilesMixin, ManifestStaticFilesStorage
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control
from django.utils.decorators import sync_and_async_middleware
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from operations.http.admission import Application, Receive, Send

METHODS = ("GET", "HEAD")


class CollectedFiles(WhiteNoiseMiddleware):
    """WhiteNoise, with what was collected where that is: it is not before the first run, nor in tests."""

    def add_files(self, root: str | Path, prefix: str | None = None) -> None:
        if Path(root).is_dir():
            super().add_files(root, prefix)


def static_files(application: Application, only_https: bool) -> Application:
    """The application, without its static files; over plain HTTP with them, where that is redirected."""
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
            body = cast(bytes, file.read())  # a megabyte at most: faster than to hand it to a thread
    await send(start | {"headers": [(name.lower().encode(), value.encode()) for name, value in headers]})
    await send({"type": "http.response.body", "body": body})


def as_wsgi(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """What WhiteNoise reads: ranges, conditions, encodings."""
    return {
        f"HTTP_{name.decode('latin-1').upper().replace('-', '_')}": value.decode("latin-1")
        for name, value in headers
    }


# --- Hashed names: browsers cache static files for ever, a changed file has another name ---
#
# The imports in our modules are rewritten when files are collected. Files whose path is built at run time
# (pdf.js's worker, fonts and tables) keep their name.


class HashedNames(ManifestStaticFilesStorage):
    support_js_module_import_aggregation = True
    # Of JavaScript only our own: libraries come built, and name sources that they do not bring.
    patterns = HashedFilesMixin.patterns[:1]
    _js_module_import_aggregation_patterns = (
        "js/*.js",
        HashedFilesMixin._js_module_import_aggregation_patterns[1],  # type: ignore[attr-defined]
    )

    def load_manifest(self) -> Any:
        """Nothing while what was collected is older than its sources: their own names then serve."""
        return super().load_manifest() if are_collected() else ({}, "")

    def stored_name(self, name: str) -> str:
        known: str | None = self.hashed_files.get(self.hash_key(self.clean_name(name)))
        return known or name


def are_collected() -> bool:
    """Whether they were, after the last of their sources changed."""
    manifest = Path(settings.STATIC_ROOT) / HashedNames.manifest_name
    newest = max((path.stat().st_mtime for path in static_sources()), default=0)
    return manifest.exists() and manifest.stat().st_mtime > newest


def static_sources() -> list[Path]:
    roots = [settings.BASE_DIR / "static", settings.BASE_DIR / "node_modules/.package-lock.json"]
    return [path for root in roots for path in [root, *root.rglob("*")] if path.exists()]


FOR_NOBODY = "private, no-store"


@sync_and_async_middleware
def cache_headers(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Pages, exports and answers of the API are never stored (ASVS 5.0, 14.3.2).

    A view that sets ``Cache-Control`` keeps what it says; it becomes ``private`` unless it is ``public``.
    """
    if iscoroutinefunction(get_response):

        async def later(request: HttpRequest) -> HttpResponseBase:
            answer: Awaitable[HttpResponseBase] = get_response(request)
            return private(await answer)

        return later

    def now(request: HttpRequest) -> HttpResponseBase:
        return private(get_response(request))

    return now


def private(response: HttpResponseBase) -> HttpResponseBase:
    said = response.headers.get("Cache-Control", "")
    if not said:
        response.headers["Cache-Control"] = FOR_NOBODY
    elif "public" not in said and "private" not in said:
        patch_cache_control(response, private=True)
    return response
