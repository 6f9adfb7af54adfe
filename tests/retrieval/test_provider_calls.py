"""Retries and time limits of calls to outside services."""

from __future__ import annotations

import time

import pytest

from retrieval.embeddings.base import HashingEmbedder
from retrieval.provider_calls import ProviderError, seconds_of, start_call, with_retries


def test_what_is_refused_for_good_is_asked_once() -> None:
    failing = HashingEmbedder(failures=[ProviderError("No.", permanent=True)] * 3)
    with pytest.raises(ProviderError):
        with_retries(lambda: failing.embed(["a"]), pause=lambda seconds: None)
    assert failing.calls == 1


def test_pauses_grow_when_the_service_names_none() -> None:
    failing = HashingEmbedder(failures=[ProviderError("Busy.", permanent=False)] * 3)
    pauses: list[float] = []
    with_retries(lambda: failing.embed(["a"]), pause=pauses.append)
    assert pauses == [0.5, 1.0, 2.0]


def test_a_call_that_takes_too_long_is_an_error() -> None:
    with pytest.raises(ProviderError, match="No answer within"):
        start_call(lambda: time.sleep(0.2), seconds=0.01).answer()


def test_a_pause_is_read_in_seconds_and_a_date_is_not() -> None:
    assert [seconds_of(header) for header in ("7", "-1", None, "Wed, 21 Oct 2026")] == [7, 0, None, None]
