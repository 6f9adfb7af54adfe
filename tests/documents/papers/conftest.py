"""The catalogues of papers, as a scripted server on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache

from tests.scripted_server import ScriptedServer, scripted_server


@pytest.fixture
def catalogues(settings: Any) -> Iterator[ScriptedServer]:
    """Both catalogues on one scripted server: /s2/… and /oa/…"""
    cache.clear()
    with scripted_server() as server:
        settings.SEMANTIC_SCHOLAR_URL, settings.OPENALEX_URL = f"{server.url}/s2", f"{server.url}/oa"
        settings.CATALOGUE_SECONDS, settings.CATALOGUE_BACKOFF_SECONDS = 0.5, 0.01
        yield server
    cache.clear()
