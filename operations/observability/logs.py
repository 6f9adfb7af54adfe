"""Structured logs: one event per line, with request and document ids, as text or JSON."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator, MutableMapping
from functools import cache
from typing import Any

import structlog
from django.conf import settings
from django.urls import URLResolver, get_resolver

from documents.tokens import PRINTED, SECRET_PARAMETERS


def masked(value: Any) -> Any:
    """Return the value with keys, and the secrets in addresses, replaced; other values are unchanged."""
    if not isinstance(value, str):
        return value
    value = PRINTED.sub("…", value)
    if "/" in value and (pattern := addresses_with_secrets()):
        value = pattern.sub(r"\1…", value)
    return value


def addresses_with_secrets() -> re.Pattern[str] | None:
    """Return a pattern of the addresses of routes with a secret parameter; None before the URL map is loaded.

    Its group 1 is the address before the secret.
    """
    urls = sys.modules.get(settings.ROOT_URLCONF)
    return _secret_routes() if hasattr(urls, "handler500") else None  # the last line: the map is complete


@cache
def _secret_routes() -> re.Pattern[str]:
    starts = sorted({start for route in routes(get_resolver()) for start in before_secret(route)})
    return re.compile(f"({'|'.join(starts)})[^/\\s\"'?]+")


def routes(resolver: URLResolver, start: str = "/") -> Iterator[str]:
    """Yield the route of each view, with its parameters as in ``path``."""
    for entry in resolver.url_patterns:
        route = start + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry, route)
        else:
            yield route


PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


def before_secret(route: str) -> Iterator[str]:
    """Yield a pattern of what stands before the first secret parameter of a route."""
    for parameter in PARAMETER.finditer(route):
        if parameter[1] in SECRET_PARAMETERS:
            yield "[^/]+".join(map(re.escape, re.split(r"<[^>]+>", route[: parameter.start()])))
            return


def without_secrets(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """structlog processor: mask secrets in every value."""
    return {name: masked(value) for name, value in event.items()}


class WithoutSecrets(logging.Filter):
    """Logging filter: mask secrets in loggers with their own handlers, such as a server's access log."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = masked(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(masked(value) for value in record.args)
        return True


class WithoutTraceback(logging.Filter):
    """Logging filter for what any stranger can cause: one line, without a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = None
        return True


def mask_access_logs() -> None:
    for name in SERVERS:
        logging.getLogger(name).addFilter(WithoutSecrets())


def request_by_id(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """structlog processor: replace the request object, which Django logs, by its id."""
    if "request" in event:
        event["request"] = getattr(event["request"], "id", event["request"])
    return event


EVERY_LINE: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.ExtraAdder(),
    request_by_id,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
OURS = (
    *(
        "text",
        "pdf",
        "citing",
        "domains",
        "documents",
        "retrieval",
        "chat",
        "reviews",
        "agents",
        "operations",
        "config",
    ),
    "bench",
)
SERVERS = ("uvicorn.access", "uvicorn.error", "django.server")
QUIET = ("axes", "django_q", "httpx", "faker", "PIL")  # logged from WARNING


def configuration(level: str, as_json: bool) -> dict[str, Any]:
    """Return the LOGGING setting. ``level`` applies to our own apps."""
    renderer: list[Any] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if as_json
        else [
            structlog.dev.ConsoleRenderer(
                colors=False,
                exception_formatter=structlog.dev.plain_traceback,  # no locals: they may hold keys
            )
        ]
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "event": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": EVERY_LINE,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    without_secrets,
                    *renderer,
                ],
            }
        },
        "filters": {"one line": {"()": WithoutTraceback}},
        "handlers": {"standard error": {"class": "logging.StreamHandler", "formatter": "event"}},
        "root": {"handlers": ["standard error"], "level": "WARNING"},
        "loggers": {
            **{app: {"level": level} for app in OURS},
            **{library: {"level": logging.WARNING} for library in QUIET},
            "django.security.DisallowedHost": {"filters": ["one line"]},
        },
    }
