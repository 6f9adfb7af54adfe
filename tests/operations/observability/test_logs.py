from __future__ import annotations

import json
import logging
import sys

import structlog
from django.test import RequestFactory

from operations.observability.logs import configuration


def formatted(as_json: bool, message: str = "said", **extra: object) -> str:
    """One record with the exception now in flight, as our handler writes it."""
    made = dict(configuration("INFO", as_json)["formatters"]["event"])
    formatter = made.pop("()")(**made)
    exc_info = sys.exc_info() if sys.exc_info()[0] else None
    record = logging.getLogger("documents.test").makeRecord(
        "documents.test", logging.ERROR, __file__, 1, message, (), exc_info, extra=extra
    )
    return formatter.format(record)


def fail_with_a_key_at_hand() -> None:
    api_key = "sk-very-secret"
    raise RuntimeError("the provider said no") if api_key else AssertionError


def test_a_traceback_holds_no_value_of_a_variable() -> None:
    for as_json in (False, True):
        try:
            fail_with_a_key_at_hand()
        except RuntimeError:
            line = formatted(as_json)
        assert "the provider said no" in line
        assert "sk-very-secret" not in line.replace(
            'api_key = "sk-very-secret"', ""
        )  # the source line itself


def test_a_json_line_carries_the_ids_of_its_request_and_document() -> None:
    with structlog.contextvars.bound_contextvars(request="r1", document="d1"):
        line = json.loads(formatted(True, "ready", seconds={"read": 1.5}))
    assert (line["request"], line["document"], line["event"]) == ("r1", "d1", "ready")
    assert line["seconds"] == {"read": 1.5}


def test_django_s_own_line_about_a_request_carries_its_id(rf: RequestFactory) -> None:
    request = rf.get("/nowhere")
    request.id = "r2"
    assert json.loads(formatted(True, "Not Found", request=request))["request"] == "r2"
