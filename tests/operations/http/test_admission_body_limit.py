"""Request bodies that are too large, sent to a real server over a real socket."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn

from operations.http import admission as module
from operations.http.admission import FORM_BYTES, Message, Receive, Send, body_limit
from operations.management.commands import web

LIMIT = 40 * 1024 * 1024
MOST = int(1.05 * LIMIT)
SOCKET_BUFFER = 1 << 20  # socket buffer of each side; by default it grows to many megabytes
BUFFERS = 1 << 23  # more than the sockets of both sides hold
PIECE = b"x" * 65536


@pytest.fixture
def port() -> Iterator[int]:
    """Serves an application that reads the whole body and says how long it was."""

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        length, more = 0, True
        while more:
            message = await receive()
            length += len(message.get("body", b""))
            more = message.get("more_body", False)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(length).encode()})

    server = uvicorn.Server(uvicorn.Config(body_limit(application, LIMIT), log_config=None, lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)  # inherited
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            thread.join(0.01)
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
        yield connection


def send_body(port: int, header: str, frame: bytes, total: int) -> tuple[bytes, int]:
    """Sends the frame again and again until ``total`` bytes went or an answer came: (answer, bytes sent)."""
    with connected(port) as connection:
        connection.sendall(f"POST / HTTP/1.1\r\nHost: localhost\r\n{header}\r\n\r\n".encode())
        sent, rest, answer = 0, frame, b""
        connection.setblocking(False)
        while sent < total and not answer:
            try:
                went = connection.send(rest)
                sent, rest = sent + went, rest[went:] or frame
            except BlockingIOError:
                pass
            except OSError:
                break
            try:
                answer = connection.recv(65536)
            except BlockingIOError:
                continue
            except OSError:
                break
        connection.settimeout(30)
        return whole_answer(connection, answer), sent


def whole_answer(connection: socket.socket, begun: bytes = b"") -> bytes:
    """The answer to the end of its body: head and body come in packets of their own."""
    answer = begun
    while not (length := re.search(rb"content-length: (\d+)\r\n.*?\r\n\r\n", answer, re.S)) or len(
        answer
    ) < length.end() + int(length[1]):
        piece = connection.recv(65536)
        assert piece, answer
        answer += piece
    return answer


def test_a_declared_length_over_the_limit_is_refused_before_any_byte(port: int) -> None:
    answer, sent = send_body(port, "Content-Length: 1073741824", PIECE, 1 << 30)
    assert b"413" in answer.split(b"\r\n")[0]
    assert b"larger than the 40 MB" in answer
    assert sent < BUFFERS, "the answer comes before the body"


@pytest.mark.parametrize(
    ("path", "accept", "kind"),
    [
        ("/documents/x/replace/", "text/html,*/*;q=0.8", "text/html"),
        ("/documents/upload/", "*/*", "text/plain"),
        ("/api/documents/", "text/html", "application/json"),
    ],
)
def test_the_refusal_is_a_page_for_people_a_sentence_for_scripts_and_json_for_the_api(
    port: int, path: str, accept: str, kind: str
) -> None:
    with connected(port) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n"
        connection.sendall(f"{head}Content-Length: {1 << 30}\r\n\r\n".encode())
        answer = whole_answer(connection)
    assert f"content-type: {kind}".encode() in answer
    assert b"larger than the 40 MB" in answer
    assert b"x-content-type-options: nosniff" in answer
    assert b"frame-ancestors 'none'" in answer


def test_a_chunked_body_is_refused_once_it_passes_the_limit(port: int) -> None:
    frame = b"%x\r\n%s\r\n" % (len(PIECE), PIECE)
    answer, sent = send_body(port, "Transfer-Encoding: chunked", frame, 1 << 30)
    assert b"413" in answer.split(b"\r\n")[0]
    assert sent < MOST + BUFFERS, "not the gigabyte"


def test_a_client_that_reads_only_when_it_has_sent_all_sees_the_answer(port: int) -> None:
    total = MOST - len(PIECE)
    with connected(port) as connection:
        head = f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {total}\r\n\r\n"
        connection.sendall(head.encode() + b"x" * total)
        assert b"413" in whole_answer(connection).split(b"\r\n")[0]


def test_no_more_is_read_than_little_over_the_limit(port: int) -> None:
    """A client that sends a gigabyte and never reads the response is disconnected."""
    with connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n")
        sent = 0
        with pytest.raises(OSError, match=r"reset|Broken"):
            while sent < 1 << 30:
                sent += connection.send(PIECE)
    assert sent < MOST + BUFFERS


def test_a_body_within_the_limit_arrives_whole(port: int) -> None:
    with connected(port) as connection:
        body = b"x" * (LIMIT + FORM_BYTES)
        connection.sendall(
            f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        )
        answer = b""
        while str(len(body)).encode() not in answer:
            piece = connection.recv(65536)
            assert piece, answer
            answer += piece


def test_a_body_that_stops_coming_is_not_waited_for(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 9a9b452 three hundred uploads of five bytes stayed open for as long as their clients liked."""
    monkeypatch.setattr(module, "SILENCE_SECONDS", 0.3)
    with connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nfive!")
        answer = b""
        while piece := connection.recv(4096):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"not received completely in time" in answer


def test_a_body_that_drips_is_not_waited_for(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.5)
    with connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
        answer, sent = b"", 0
        connection.setblocking(False)
        while not answer and sent < 300:
            try:
                answer = connection.recv(4096)
            except BlockingIOError:
                connection.send(b"x")
                sent += 1
                time.sleep(0.05)
    assert answer.startswith(b"HTTP/1.1 408")
    assert sent < 300


def test_two_lengths_of_one_body_are_refused(port: int) -> None:
    """A proxy in front may take the other one, and then another request is in the body."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        )
        answer = client.recv(65536)
    assert answer.startswith(b"HTTP/1.1 400") and b"connection: close" in answer.lower()


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"])
@pytest.mark.parametrize("half", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-A: "])
def test_headers_that_never_end_close_the_connection(
    before: bytes, half: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F14: 300 half-sent requests kept their connections for more than 70 s."""
    if before and not half:
        return  # an idle connection is kept for KEEP_ALIVE
    monkeypatch.setattr(web, "HEADER_SECONDS", 0.3)

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    config = uvicorn.Config(application, http=web.HeadersInTime, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, args=[[listening]])
        thread.start()
        with socket.create_connection(listening.getsockname(), timeout=60) as client:
            client.sendall(before + half)
            received = b""
            while part := client.recv(65536):  # ends when the server closes
                received += part
        server.should_exit = True
        thread.join()
    assert received.count(b"200 OK") == bool(before)
