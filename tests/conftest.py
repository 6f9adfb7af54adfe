"""Fixtures for all tests: users, drawn PDFs, and a library of ingested documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as settings_module
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.files.base import ContentFile
from hypothesis import settings as hypothesis_settings

from documents.files.uploads import store_upload
from documents.importers.block_import import import_blocks
from documents.ingestion.pipeline import ingest_document
from documents.ingestion.recognition import recognise_document
from documents.models import Document
from operations.embedded import server
from tests import citus_nodes
from tests.drawing import draw_pdf

if settings_module.VAR_DIR != settings_module.BASE_DIR / "var":  # the tests' own server, not somebody's data
    server.OPTIONS |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}

# The million rounds of a real password cost each user that a test makes 0.2 s of processor time.
PBKDF2PasswordHasher.iterations = 1

# The same examples on every machine, however slow; `--hypothesis-profile=search` looks for others.
hypothesis_settings.register_profile("same", derandomize=True, deadline=None, database=None)
hypothesis_settings.register_profile("search", deadline=None, max_examples=1000)
hypothesis_settings.load_profile("same")

CORPUS = Path("/work/shared/corpus")

Ingest = Callable[..., Document]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow tests: at the end no process is left alone with one."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Place the tables of the tests' database where ``DATABASE_URL`` is that of a Citus coordinator."""
    with django_db_blocker.unblock():
        citus_nodes.place_test_database()


@pytest.fixture(autouse=True)
def files_of_their_own(tmp_path: Path, settings: settings_module) -> None:  # type: ignore[valid-type]
    """Uploads of a test go to the test's folder."""
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture(autouse=True)
def no_replies_of_other_tests() -> None:
    """Search keeps a language model's replies for some minutes; a test's model is its own."""
    cache.clear()


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("alice", "alice@example.com", "correct horse")


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create_user("bob", "bob@example.com", "battery staple")


@pytest.fixture
def charlie(db: None) -> User:
    """Belongs to nobody's group, owns nothing: may see nothing."""
    return User.objects.create_user("charlie", "charlie@example.com", "paper clip")


@pytest.fixture
def ingested(db: None) -> Ingest:
    """``ingested(owner, "text", "text of page 2")``: drawn, uploaded and taken in, all for real."""

    def ingest(owner: User, *pages: str, name: str = "drawn.pdf", pdf: bytes = b"") -> Document:
        file = ContentFile(pdf or draw_pdf(*pages))
        document = store_upload(owner, file, name, queued=False)
        ingest_document(document.pk)
        recognise_document(document.pk)
        document.refresh_from_db()
        return document

    return ingest


def imported(owner: User, payload: object, title: str) -> Document:
    """A document made of another parser's blocks."""
    document = import_blocks(owner, payload, title)
    ingest_document(document.pk)
    document.refresh_from_db()
    return document


@pytest.fixture
def corpus() -> Path:
    """The shared corpus; tests that need it are skipped where it is absent."""
    if not CORPUS.is_dir():
        pytest.skip("needs ../shared/corpus")
    return CORPUS
