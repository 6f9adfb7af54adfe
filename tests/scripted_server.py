"""A real local HTTP server with scripted responses."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

POLL_SECONDS = 0.02  # seconds until the server notices a request to stop; 0.5 by default


@dataclass
class Answer:
    """One answer. ``delay`` is slept before the head, ``drip`` between the bytes of the body."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0
    drip: float = 0

    @classmethod
    def json(cls, value: Any, status: int = 200, **headers: str) -> Answer:
        return cls(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class ScriptedServer:
    """Answers by path (without its query); a list of answers is used up one by one, the last one stays."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[Asked] = []
        self.script: dict[str, Answer | list[Answer] | Callable[[Asked], Answer]] = {}

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        found = self.script.get(asked.path.partition("?")[0], Answer(404))
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found(asked) if callable(found) else found


@contextmanager
def scripted_server(host: str = "127.0.0.1") -> Iterator[ScriptedServer]:
    server = ThreadingHTTPServer((host, 0), _Handler)
    server.daemon_threads = True
    scripted = ScriptedServer(f"http://{host}:{server.server_port}")
    server.scripted = scripted  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=[POLL_SECONDS], daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the head is sent before the body

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        asked = Asked(self.command, self.path, dict(self.headers), self.rfile.read(length))
        answer = self.server.scripted.answer(asked)  # type: ignore[attr-defined]
        try:
            self._send(answer)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_POST = do_HEAD = do_GET

    def _send(self, answer: Answer) -> None:
        time.sleep(answer.delay)
        self.send_response(answer.status)
        for name, value in ({"Content-Length": str(len(answer.body))} | answer.headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if not answer.drip:
            self.wfile.write(answer.body)
            return
        for byte in answer.body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(answer.drip)

    def log_message(self, *args: object) -> None:
        pass
