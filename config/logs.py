"""Log lines: one event each, with the request's and the document's id, as text or as JSON."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import Any

import structlog


def request_by_id(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Django's own lines bring the request itself, in the place of its id."""
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
QUIET = ("axes", "django_q", "httpx", "faker", "PIL")  # their information is not ours


def configuration(level: str, as_json: bool) -> dict[str, Any]:
    """A LOGGING setting. ``level`` is that of our own apps."""
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
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
            }
        },
        "handlers": {"standard error": {"class": "logging.StreamHandler", "formatter": "event"}},
        "root": {"handlers": ["standard error"], "level": "WARNING"},
        "loggers": {
            **{app: {"level": level} for app in ("config", "documents", "retrieval", "chat")},
            **{library: {"level": logging.WARNING} for library in QUIET},
        },
    }
