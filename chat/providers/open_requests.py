"""HTTP requests that another thread can end.

A model's server works on a prompt for minutes before its first token, and notices only a closed connection.
A blocked read cannot be interrupted from Python, but its socket can be shut down.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from types import ModuleType
from typing import Any

import httpx2

OPENING = ("connect_tcp.started", "connect_unix_socket.started", "start_tls.started")
OPENED = ("connect_tcp.complete", "connect_unix_socket.complete", "start_tls.complete")  # httpcore's traces


class OpenRequests:
    """The connections of the requests made within ``recorded``; ``end`` shuts them down.

    Attributes:
        is_connected: False while a request waits for its connection.
    """

    def __init__(self) -> None:
        self.is_connected = True
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._ended = False

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record the connections that this thread opens by ``client_for``."""
        token = _recorder.set(self)
        try:
            yield
        finally:
            _recorder.reset(token)

    def end(self) -> None:
        """Shut down all connections, and those that are opened later."""
        with self._lock:
            self._ended = True
            for connection in self._sockets:
                _shut_down(connection)

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Receive an event of the HTTP client (httpcore's extension ``trace``)."""
        if event.endswith(OPENING):
            self.is_connected = False
        if not event.endswith(OPENED):
            return
        self.is_connected = True
        connection = info["return_value"].get_extra_info("socket")
        with self._lock:
            self._sockets.append(connection)
            if self._ended:
                _shut_down(connection)


_recorder: ContextVar[OpenRequests | None] = ContextVar("open_requests", default=None)


CONNECT_SECONDS = 5.0  # a server that is up accepts within one
ONE_REQUEST_EACH = httpx2.Limits(max_connections=None, max_keepalive_connections=0)


@lru_cache(maxsize=16)
def client_for(sdk: ModuleType, api_key: str, base_url: str, seconds: float) -> Any:
    """Return a client of ``openai`` or ``anthropic`` whose connections, one a request, are recorded.

    It is shared: to create one takes 16 ms of processor time for certificates. It does not retry, since that
    depends on what was already streamed. ``seconds``: how long a connected server may be silent.
    """
    kind = sdk.Anthropic if sdk.__name__ == "anthropic" else sdk.OpenAI
    return kind(
        api_key=api_key,
        base_url=base_url or None,
        timeout=httpx2.Timeout(seconds, connect=CONNECT_SECONDS),
        max_retries=0,
        http_client=sdk.DefaultHttpxClient(event_hooks={"request": [_record]}, limits=ONE_REQUEST_EACH),
    )


def _record(request: httpx2.Request) -> None:
    if recorder := _recorder.get():
        request.extensions = {**request.extensions, "trace": recorder.trace}


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        connection.shutdown(socket.SHUT_RDWR)
