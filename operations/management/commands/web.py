"""`manage.py web`: the web server (uvicorn)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand

from operations.processes import bind_to_parent

KEEP_ALIVE = 75  # seconds; longer than a proxy keeps idle connections, or it sends requests into closed ones


class Command(BaseCommand):
    help = "Serves Pincite over HTTP."

    requires_system_checks: list[str] = []  # `runapp` and `check` make them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.HOST)
        parser.add_argument("--port", type=int, default=settings.PORT)
        parser.add_argument("--parent", type=int, default=0, help="end when this process ends")

    def handle(self, *, host: str, port: int, parent: int, **options: Any) -> None:
        if parent:
            bind_to_parent(parent)
        uvicorn.run(
            "config.asgi:application",
            host=host,
            port=port,
            proxy_headers=bool(settings.TRUSTED_PROXIES),
            forwarded_allow_ips=settings.TRUSTED_PROXIES,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=5,  # a stream that still runs is cut; its message says so
            log_config=None,
            access_log=False,
            server_header=False,
        )
