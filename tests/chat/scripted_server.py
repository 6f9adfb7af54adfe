"""A real HTTP server that speaks OpenAI's and Anthropic's streaming formats from a script."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.scripted_server import POLL_SECONDS


@dataclass(frozen=True)
class Reply:
    """One answer of the server.

    ``pieces`` are written one after the other; a float among them is a pause in
    seconds, an event is waited for. ``ending``: ``close`` ends the response as HTTP does, ``reset``
    breaks the connection off, ``hang`` stays silent.
    """

    pieces: Sequence[str | float | threading.Event] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    ending: str = "close"


@dataclass
class ScriptedServer:
    """Replies in the order of ``replies``; the last one is repeated.

    A reply may be made of the body that it answers.

    ``requests`` are the bodies it got. What search asks it for is answered
    with ``for_search``, which is nothing, and counted in ``searches``.
    """

    replies: list[Reply | Callable[[dict[str, Any]], Reply]]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    for_search: str = ""
    searches: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)

    def reply_to(self, path: str, body: dict[str, Any]) -> Reply:
        if "You help a search engine" in json.dumps(body):
            self.searches += 1
            return Reply(openai_answer(self.for_search))
        self.requests.append(body)
        self.paths.append(path)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        return reply if isinstance(reply, Reply) else reply(body)


@contextmanager
def serving(*replies: Reply | Callable[[dict[str, Any]], Reply]) -> Iterator[ScriptedServer]:
    script = ScriptedServer(list(replies))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # pieces are small

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            write_reply(self, script.reply_to(self.path, body), script.stopping)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=[POLL_SECONDS], daemon=True).start()
    try:
        yield script
    finally:
        script.stopping.set()
        server.shutdown()
        server.server_close()


def write_reply(handler: BaseHTTPRequestHandler, reply: Reply, stopping: threading.Event) -> None:
    handler.send_response(reply.status)
    is_stream = reply.status == 200
    handler.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
    handler.send_header("Transfer-Encoding", "chunked")
    for name, value in reply.headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    try:
        for piece in reply.pieces:
            if isinstance(piece, float):
                stopping.wait(piece)
            elif isinstance(piece, threading.Event):
                if not piece.wait(60):
                    raise ConnectionResetError("what the reply waits for did not happen")
            else:
                write_chunk(handler, piece)
        end(handler, reply.ending, stopping)
    except (BrokenPipeError, ConnectionResetError):
        handler.close_connection = True


def write_chunk(handler: BaseHTTPRequestHandler, piece: str) -> None:
    data = piece.encode(errors="surrogateescape")  # "\udcff" is a byte that is no UTF-8
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
    handler.wfile.flush()


def end(handler: BaseHTTPRequestHandler, ending: str, stopping: threading.Event) -> None:
    handler.close_connection = True
    if ending == "close":
        handler.wfile.write(b"0\r\n\r\n")
    elif ending == "reset":
        linger = struct.pack("ii", 1, 0)
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        time.sleep(0.05)
        handler.connection.close()
    elif ending == "hang":
        stopping.wait(30)


def openai_chunk(text: str | None = None, finish: str | None = None, usage: dict | None = None) -> str:
    choice = {"index": 0, "delta": {"content": text} if text is not None else {}, "finish_reason": finish}
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
        "choices": [] if usage else [choice],
        "usage": usage,
    }
    return f"data: {json.dumps(chunk)}\n\n"


OPENAI_DONE = "data: [DONE]\n\n"


def openai_answer(*texts: str, finish: str = "stop") -> list[str | float]:
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return [
        *(openai_chunk(text) for text in texts),
        openai_chunk(finish=finish),
        openai_chunk(usage=usage),
        OPENAI_DONE,
    ]


def anthropic_event(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"


def anthropic_start() -> str:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 13, "output_tokens": 1},
    }
    return anthropic_event("message_start", message=message)


def anthropic_block(index: int, text: str, *locations: tuple[int, int, int, str]) -> list[str]:
    """A text block in two deltas; locations are (document, first block, end block, cited text)."""
    half = len(text) // 2
    citations = [
        {
            "type": "content_block_location",
            "cited_text": cited,
            "document_index": document,
            "document_title": None,
            "start_block_index": first,
            "end_block_index": last,
        }
        for document, first, last, cited in locations
    ]
    return [
        anthropic_event(
            "content_block_start", index=index, content_block={"type": "text", "text": "", "citations": []}
        ),
        *(
            anthropic_event("content_block_delta", index=index, delta={"type": "text_delta", "text": part})
            for part in (text[:half], text[half:])
        ),
        *(
            anthropic_event(
                "content_block_delta", index=index, delta={"type": "citations_delta", "citation": citation}
            )
            for citation in citations
        ),
        anthropic_event("content_block_stop", index=index),
    ]


def anthropic_end(reason: str = "end_turn") -> list[str]:
    return [
        anthropic_event(
            "message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 9}
        ),
        anthropic_event("message_stop"),
    ]
