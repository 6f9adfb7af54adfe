"""Structured logs: one event per line, with request and document ids, as text or JSON."""

from __future__ import annotations

import logging
import re
from collections.abc import MutableMapping
from typing import Any

import structlog

SECRETS = re.compile(r"(?<=/chat/shared/)[^/\s\"'?]+|\bpin_[\w-]{20,}")  # tokens of share links, API keys


def masked(value: Any) -> Any:
    """Return the value with share tokens and API keys replaced; values other than text are unchanged."""
    return SECRETS.sub("…", value) if isinstance(value, str) else value


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
OURS = ("text", "pdf", "domains", "documents", "retrieval", "chat", "operations", "config", "bench")
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
        "handlers": {"standard error": {"class": "logging.StreamHandler", "formatter": "event"}},
        "root": {"handlers": ["standard error"], "level": "WARNING"},
        "loggers": {
            **{app: {"level": level} for app in OURS},
            **{library: {"level": logging.WARNING} for library in QUIET},
        },
    }
