"""Static files, answered before Django sees the request.

A page of the reader asks for some twenty of them before its first page is
painted. WhiteNoise's middleware costs each a thread and all that stands above
it: 2 to 4 ms; its table of files alone costs a tenth of that.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, cast

from django.http import HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from config.body_limit import Application, Receive, Send

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
