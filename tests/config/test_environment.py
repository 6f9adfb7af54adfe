"""An invalid setting stops the start with its name and its valid values."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.conf import settings

from chat.providers.catalogue import PROVIDERS
from documents.api.common.callers import parse_rate
from retrieval.embeddings import registry as embedding_models
from retrieval.results import STRATEGIES


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("PINCITE_FTS_LEVEL", "line", "choose from document, chunk, unit"),
        ("PINCITE_SEARCH_OFF", "hyde,foo", "foo is unknown; choose from self_query"),
        ("PINCITE_RERANKER", "nonsense", "choose from '', cohere, tei, fastembed"),
        ("PINCITE_RERANKER", "tei", "needs PINCITE_RERANK_URL"),
        ("PINCITE_HELPER_MODEL", "extractive", "choose from '', openai, anthropic"),
        ("PINCITE_EMBEDDING", "word2vec:big", "choose from wordllama, e5, openai"),
        ("PINCITE_CHAT", "gpt", "choose from '', openai, anthropic"),
        ("PINCITE_PORT", "99999", "a number from 1 to 65535"),
        ("PINCITE_WORKERS", "0", "a number from 1 to 256"),
        ("PINCITE_MAX_TOKENS", "-3", "a number at least 1"),
        ("PINCITE_MAX_TOKENS", "many", "is not a whole number"),
        ("PINCITE_COMPATIBLE_URL", "localhost:11434", "is not an address that begins with http, https://"),
        ("PINCITE_REDIS", "http://redis", "is not an address that begins with redis, rediss://"),
        ("PINCITE_TIME_ZONE", "Mars/Olympus", "such as Europe/Berlin"),
        ("PINCITE_LOG_LEVEL", "loud", "choose from debug, info"),
        ("PINCITE_HTTPS", "maybe", "write 1 or 0"),
        ("DATABASE_URL", "mysql://host/name", "an address that begins with postgres://"),
        ("DATABASE_REPLICA_URLS", "postgres://a/b mysql://c/d", "an address that begins with postgres://"),
        ("PINCITE_TRUSTED_PROXIES", "10.0.0.0/8,proxy", "'proxy' is not an address, a network or *"),
    ],
)
def test_a_value_outside_its_range_names_the_setting(name: str, value: str, expected: str) -> None:
    started = subprocess.run(
        [sys.executable, "-c", "import config.settings"],
        cwd=settings.BASE_DIR,
        env={**os.environ, name: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode == 1
    error = started.stderr.strip().splitlines()[-1]
    assert "ImproperlyConfigured" in error
    assert name in error
    assert expected in error


def test_the_choices_are_those_that_exist() -> None:
    assert set(settings.STRATEGIES) == set(STRATEGIES)
    assert set(settings.EMBEDDING_PROVIDERS) == set(embedding_models.PROVIDERS)
    assert set(settings.CHAT_PROVIDERS) - {""} == set(PROVIDERS)


@pytest.mark.parametrize("rate", ["5/s", "5/min", "5/h", "5/day"])
def test_a_rate_that_is_accepted_can_be_counted(rate: str) -> None:
    assert parse_rate(rate)[0] == 5
