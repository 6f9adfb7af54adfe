"""A slow line to the site."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_WR, create_connection, socket
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Lock, Thread
from urllib.parse import urlsplit

BLOCK = 8192  # bytes; what one connection brings before the next has its turn


@contextmanager
def slow_line(address: str, rate: int) -> Iterator[str]:
    """Where the site is reached over a line that brings ``rate`` bytes a second, all connections together."""
    site = urlsplit(address)
    line = Lock()

    class Connection(BaseRequestHandler):
        def handle(self) -> None:
            with create_connection((site.hostname, site.port)) as there, suppress(ConnectionError):
                Thread(target=ask, args=(self.request, there), daemon=True).start()
                while block := there.recv(BLOCK):
                    with line:
                        time.sleep(len(block) / rate)
                    self.request.sendall(block)

    with ThreadingTCPServer(("127.0.0.1", 0), Connection) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def ask(here: socket, there: socket) -> None:
    """Passes on what the browser sends until it hangs up."""
    with suppress(OSError):
        while block := here.recv(BLOCK):
            there.sendall(block)
        there.shutdown(SHUT_WR)
