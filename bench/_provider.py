"""A model server that speaks OpenAI's language from a script: it bills what it embeds, and answers slowly."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from django.conf import settings

WORDS = [f"word{number} " for number in range(30)]  # one answer
SECONDS_A_WORD = 0.1
DIMENSIONS = 8
SEARCH = "You help a search engine"  # how our own prompts to widen a search begin


class ScriptedProvider(ThreadingHTTPServer):
    """``embedded`` are the texts it was paid for."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        url = urlsplit(settings.COMPATIBLE_BASE_URL)
        super().__init__((str(url.hostname), int(url.port or 80)), Exchange)
        self.embedded: list[str] = []


class Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"  # the end of the connection is the end of the answer
    server: ScriptedProvider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/embeddings"):
            self.embed(body["input"])
        else:
            self.chat([] if SEARCH in json.dumps(body) else WORDS)

    def embed(self, texts: list[str]) -> None:
        self.server.embedded.extend(texts)
        data = [
            {"object": "embedding", "index": index, "embedding": [1.0 + len(text), *range(1, DIMENSIONS)]}
            for index, text in enumerate(texts)
        ]
        self.begin("application/json")
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "model": "billing", "data": data, "usage": usage}
        self.wfile.write(json.dumps(answer).encode())

    def chat(self, words: list[str]) -> None:
        self.begin("text/event-stream")
        for word in words:
            self.piece({"content": word})
            time.sleep(SECONDS_A_WORD)
        self.piece({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def piece(self, delta: dict[str, str], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "slow"}
        self.wfile.write(f"data: {json.dumps(chunk | {'choices': [choice]})}\n\n".encode())

    def begin(self, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def scripted_provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
