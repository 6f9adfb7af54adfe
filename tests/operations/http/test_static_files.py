from __future__ import annotations

import asyncio
import warnings
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings
from django.http import HttpResponse

from operations.http.static_files import CollectedFiles, static_files

SCRIPT = "/static/js/app.js"
BEHIND = 418  # what the application behind answers


def asked(
    path: str, *, method: str = "GET", scheme: str = "http", only_https: bool = False, **headers: str
) -> httpx.Response:
    async def behind(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": BEHIND, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(static_files(behind, only_https))
        async with httpx.AsyncClient(transport=transport, base_url=f"{scheme}://testserver") as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(ask())


def test_a_static_file_is_answered_whole() -> None:
    answer = asked(SCRIPT)
    assert answer.status_code == 200
    assert answer.content == (settings.BASE_DIR / "static/js/app.js").read_bytes()
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_what_a_browser_has_is_not_sent_again() -> None:
    answer = asked(SCRIPT, **{"If-None-Match": asked(SCRIPT).headers["ETag"]})
    assert (answer.status_code, answer.content) == (304, b"")


def test_nothing_is_missed_before_files_were_collected(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path / "static"
    with warnings.catch_warnings(action="error"):
        assert SCRIPT in CollectedFiles(lambda request: HttpResponse()).files
    settings.STATIC_ROOT.mkdir()
    (settings.STATIC_ROOT / "collected.css").touch()
    assert "/static/collected.css" in CollectedFiles(lambda request: HttpResponse()).files


def test_a_part_and_the_head_alone_are_answered() -> None:
    part = asked(SCRIPT, Range="bytes=2-9")
    assert (part.status_code, part.content) == (206, asked(SCRIPT).content[2:10])
    head = asked(SCRIPT, method="HEAD")
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["Content-Length"]) == len(asked(SCRIPT).content)


def test_all_else_is_the_applications() -> None:
    assert asked("/").status_code == BEHIND
    assert asked("/static/../config/settings.py").status_code == BEHIND
    assert asked("/static/js/nothing.js").status_code == BEHIND
    assert asked(SCRIPT, method="POST").status_code == BEHIND


def test_plain_http_is_left_to_who_redirects_it() -> None:
    assert asked(SCRIPT, only_https=True).status_code == BEHIND
    assert asked(SCRIPT, only_https=True, scheme="https").status_code == 200
