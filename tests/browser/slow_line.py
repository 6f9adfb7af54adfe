"""A connection to the site whose speed a test sets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from socket import SHUT_WR, create_connection, socket
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Lock, Thread
from urllib.parse import urlsplit

BLOCK = 8192  # bytes sent on one connection before the next one's turn


@dataclass(slots=True)
class Line:
    """The address of the slow site, and its bytes per second for all connections together."""

    address: str
    rate: float


@contextmanager
def slow_line(address: str) -> Iterator[Line]:
    """A line that is fast until its ``rate`` is set."""
    site = urlsplit(address)
    one_at_a_time = Lock()
    line = Line("", float("inf"))

    class Connection(BaseRequestHandler):
        def handle(self) -> None:
            with create_connection((site.hostname, site.port)) as there, suppress(ConnectionError):
                Thread(target=ask, args=(self.request, there), daemon=True).start()
                while block := there.recv(BLOCK):
                    with one_at_a_time:
                        time.sleep(len(block) / line.rate)
                    self.request.sendall(block)

    with ThreadingTCPServer(("127.0.0.1", 0), Connection) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        line.address = f"http://127.0.0.1:{server.server_address[1]}"
        yield line
        server.shutdown()


def ask(here: socket, there: socket) -> None:
    """Passes on what the browser sends until it hangs up."""
    with suppress(OSError):
        while block := here.recv(BLOCK):
            there.sendall(block)
        there.shutdown(SHUT_WR)
