"""`manage.py web`: the web server (uvicorn)."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from argparse import ArgumentParser
from typing import Any

import h11
import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand
from uvicorn.protocols.http.h11_impl import H11Protocol

from chat.answers.pool import open_pool
from chat.answers.runner import hand_over, take_up
from operations.processes import bind_to_parent

logger = logging.getLogger(__name__)

HEADER_SECONDS = 30.0  # from the first byte, or the connection, to the end of the headers
ARRIVED_SECONDS = 0.5  # to read what lies in the socket
KEEP_ALIVE = 75  # seconds; longer than proxies keep idle connections, or they reuse closed ones


class Command(BaseCommand):
    help = "Serves Pincite over HTTP."

    requires_system_checks: list[str] = []  # `runapp` and `check` run them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.HOST)
        parser.add_argument("--port", type=int, default=settings.PORT)
        parser.add_argument("--parent", type=int, default=0, help="id of a process; end with it")

    def handle(self, *, host: str, port: int, parent: int, **options: Any) -> None:
        if parent:
            bind_to_parent(parent)
        config = uvicorn.Config(
            "config.asgi:application",
            host=host,
            port=port,
            http=HeadersInTime,
            proxy_headers=bool(settings.TRUSTED_PROXIES),
            forwarded_allow_ips=settings.TRUSTED_PROXIES,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=5,  # for requests; another process resumes streams
            log_config=None,
            access_log=False,
            server_header=False,
        )
        config.load()
        open_pool()
        Server(config).run()


class HeadersInTime(H11Protocol):
    """uvicorn's protocol that closes a connection whose request headers do not arrive in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(HEADER_SECONDS, self._expect)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:  # the headers are complete
            self._cancel_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self._expect)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        super().connection_lost(exc)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expect(self) -> None:
        """Read what has already arrived, as this process may have been busy; then close."""
        self._deadline = self.loop.call_later(ARRIVED_SECONDS, self._close_unless_answering)

    def _close_unless_answering(self) -> None:
        self._deadline = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


class Server(uvicorn.Server):
    """uvicorn that resumes answers of stopped processes, and hands its own over at shutdown."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        stop = threading.Event()
        threading.Thread(target=take_up, args=(stop,), name="answers-taken-up", daemon=True).start()
        try:
            await super().serve(sockets)
        finally:
            stop.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Refuse new connections, hand answers over, wait for requests."""
        for server in self.servers:
            server.close()
        if left := await asyncio.to_thread(hand_over):
            logger.info("%s answers handed over to other processes", left)
        await super().shutdown(sockets)
