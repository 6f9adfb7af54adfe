"""No request takes more processor time than its budget, whatever its view does."""

from __future__ import annotations

import json
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from documents.api.common.callers import BUDGETS
from documents.models import TokenScope
from operations import interrupts
from operations.http.request_budget import limit_processor_time, only_reads


@pytest.fixture(autouse=True)
def short_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "REQUEST_SECONDS", 0.2)


def compute(request: HttpRequest) -> HttpResponse:
    """Compute for 20 s of processor time, and catch what views catch."""
    until = time.thread_time() + 20
    try:
        while time.thread_time() < until:
            pass
    except Exception:
        pass
    return HttpResponse("computed")


def wait(request: HttpRequest) -> HttpResponse:
    for _ in range(8):
        time.sleep(0.1)
    return HttpResponse("waited")


def test_a_request_that_computes_too_long_is_refused() -> None:
    answer = limit_processor_time(compute)(RequestFactory().post("/api/search/"))
    assert answer.status_code == 422
    assert json.loads(answer.content)["code"] == "too_much_work"


def test_a_request_that_waits_for_others_is_not() -> None:
    assert limit_processor_time(wait)(RequestFactory().get("/")).content == b"waited"


def test_a_request_that_only_reads_ends_with_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "REQUEST_SECONDS", 15.0)
    limited = limit_processor_time(compute)
    request: Any = RequestFactory().get("/")
    request.scope = {}

    def view(request: HttpRequest) -> HttpResponse:
        limited.process_view(request, compute)  # type: ignore[attr-defined]  # as Django, once it is known
        threading.Timer(0.1, request.scope[BUDGETS][0].stop).start()  # type: ignore[attr-defined]
        return compute(request)

    began = time.thread_time()
    assert limit_processor_time(view)(request).status_code == 422
    assert time.thread_time() - began < 10


def test_a_change_that_has_begun_is_completed_without_its_client() -> None:
    factory = RequestFactory()
    reading = SimpleNamespace(cls=SimpleNamespace(scope=TokenScope.READ))
    assert only_reads(factory.get("/"), compute) and only_reads(factory.post("/"), reading)  # type: ignore[arg-type]
    assert not only_reads(factory.post("/"), compute)
