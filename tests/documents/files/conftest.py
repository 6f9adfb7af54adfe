"""A server of files on this machine, and documents that are fetched from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from documents.files.uploads import store_address
from documents.ingestion.pipeline import ingest_document
from documents.models import Document
from tests.scripted_server import ScriptedServer, scripted_server


@pytest.fixture
def server(settings: Any) -> Iterator[ScriptedServer]:
    settings.FETCH_PRIVATE_ADDRESSES = True
    with scripted_server() as running:
        yield running


def fetched_document(owner: User, url: str) -> Document:
    document = store_address(owner, url)
    ingest_document(document.pk)
    document.refresh_from_db()
    return document
