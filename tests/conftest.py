"""Fixtures for all tests: users, drawn PDFs, and a library of ingested documents."""

from __future__ import annotations

import gc
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as settings_module
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.files.base import ContentFile
from django.db import connection, transaction
from django.test import TransactionTestCase, override_settings
from hypothesis import settings as hypothesis_settings
from xdist.scheduler import LoadFileScheduling

from documents.files.uploads import store_upload
from documents.importers.block_import import import_blocks
from documents.ingestion import parser
from documents.ingestion.pipeline import ingest_document
from documents.ingestion.recognition import recognise_document
from documents.models import Document
from operations.embedded import server
from pdf.api import parse_file
from pdf.structure import ParsedDocument
from tests import citus_nodes, leftovers
from tests.drawing import draw_pdf
from tests.leftovers import Rows

if settings_module.VAR_DIR != settings_module.BASE_DIR / "var":  # for tests only; its data may be lost
    server.OPTIONS |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}

os.environ["PINCITE_IDENTIFY"] = "0"  # no test asks the services of the world
settings_module.IDENTIFY = False

# Each HTTP client reads the certificates of all authorities, 30 ms. The tests' servers speak plain HTTP.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "authority.pem")

# The million rounds of a real password cost each user that a test makes 0.2 s of processor time.
PBKDF2PasswordHasher.iterations = 1

# The collector walks over the modules of all tests again and again; half of the migrations' time is its.
gc.set_threshold(100_000, 50, 100)

# The same examples on every machine, however slow; `--hypothesis-profile=search` looks for others.
hypothesis_settings.register_profile("same", derandomize=True, deadline=None, database=None)
hypothesis_settings.register_profile("some", hypothesis_settings.get_profile("same"), max_examples=30)
hypothesis_settings.register_profile("search", deadline=None, max_examples=1000)
hypothesis_settings.load_profile("same")

CORPUS = Path("/work/shared/corpus")

Ingest = Callable[..., Document]


def some_fast(values: Iterable[Any], *fast: str) -> list[Any]:
    """Return parameters of a test: those whose text or name begins with one of ``fast``; the others slow."""
    return [
        value
        if getattr(value, "__name__", str(value)).startswith(fast)
        else pytest.param(value, marks=pytest.mark.slow)
        for value in values
    ]


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads its own option
def pytest_configure(config: pytest.Config) -> None:
    """Try fewer of the same examples where slow tests are left out."""
    if "not slow" in config.option.markexpr:
        hypothesis_settings.load_profile("some")


class FileScheduling(LoadFileScheduling):  # type: ignore[misc]
    """Give each file to one process, and all browser tests, which share a site, to one."""

    def _split_scope(self, nodeid: str) -> str:
        return "browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    """Schedule for ``--dist loadfile``; groups of xdist 3.8 have no effect on the ids of pytest 9.2."""
    return FileScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", metavar="SEED", help="run the test files in a random order of this seed")


@pytest.hookimpl(trylast=True)  # pytest-django sorts them by their use of the database
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run whole files, browser tests and files with slow tests first, so that no process ends with one."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    files = sorted({item.path for item in items})
    if seed := config.getoption("shuffle"):
        Random(seed).shuffle(files)
    else:
        files.sort(key=lambda path: path not in slow)
    order = {path: number for number, path in enumerate(files)}
    items.sort(key=lambda item: ("browser" not in item.path.parts, order[item.path]))


@pytest.fixture(scope="session", autouse=True)
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give each process a folder for temporary files, so that those left are found, and for pictures."""
    tmp_path_factory.getbasetemp()  # of pytest itself, elsewhere
    pictures = settings_module.CACHES["pictures"] | {"LOCATION": tmp_path_factory.mktemp("pictures")}
    with (
        tempfile.TemporaryDirectory(prefix="pincite-") as folder,
        pytest.MonkeyPatch.context() as patch,
        override_settings(CACHES=settings_module.CACHES | {"pictures": pictures}),
    ):
        Path(folder).chmod(0o711)
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture(scope="session")
def rows_now() -> Rows:
    """The number of rows of each table before a test file; empty while there is no database."""
    return {}


TEMPLATE = "test_pincite_template"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, django_db_blocker: Any) -> None:
    """Make the database of each process as a copy of one: the migrations take 7 s of processor time.

    That one stays for the next run, until a migration changes.
    """
    if settings_module.DATABASE_URL:  # a database in use there is not ours to copy
        return
    digest = hashlib.sha256()
    for app in apps.get_app_configs():
        for path in sorted(Path(app.path, "migrations").glob("*.py")):
            digest.update(path.read_bytes())
    with django_db_blocker.unblock(), connection._nodb_cursor() as cursor:  # type: ignore[attr-defined]
        cursor.execute("SELECT pg_advisory_lock(hashtext(%s))", [TEMPLATE])  # until the connection closes
        cursor.execute(
            "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s", [TEMPLATE]
        )
        if cursor.fetchone() != (digest.hexdigest(),):
            name, options = connection.settings_dict["NAME"], connection.settings_dict["TEST"]
            before = options["NAME"]
            options["NAME"] = TEMPLATE
            connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
            connection.close()
            options["NAME"] = before
            connection.settings_dict["NAME"] = settings_module.DATABASES["default"]["NAME"] = name
            cursor.execute(f"COMMENT ON DATABASE {TEMPLATE} IS '{digest.hexdigest()}'")
    connection.settings_dict["TEST"]["TEMPLATE"] = TEMPLATE


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any, rows_now: Rows) -> None:
    """Place the tables of the tests' database where ``DATABASE_URL`` is that of a Citus coordinator."""
    with django_db_blocker.unblock():
        citus_nodes.place_test_database()
        rows_now.update(leftovers.count_rows())
    import_module(settings_module.ROOT_URLCONF)  # with it, the modules of all views and of the SDKs


@contextmanager
def fail_if_anything_is_left(name: str, django_db_blocker: Any, rows_now: Rows) -> Iterator[None]:
    """Fail if the tests of ``name`` leave rows, files, settings, processes or the like."""
    things, values = leftovers.things(), leftovers.values()
    yield
    left = sorted(leftovers.new_things(things)) + leftovers.differences(values, leftovers.values())
    if rows_now:
        with django_db_blocker.unblock():
            left += leftovers.changed_tables(rows_now)
    if left:
        pytest.fail("\n".join([f"{name} left behind:", *left]), pytrace=False)


@pytest.fixture(scope="module", autouse=True)
def nothing_left(request: pytest.FixtureRequest, django_db_blocker: Any, rows_now: Rows) -> Iterator[None]:
    gc.collect()
    gc.freeze()  # ingestion runs the collector after each document; what exists now is skipped
    with fail_if_anything_is_left(request.node.nodeid, django_db_blocker, rows_now):
        yield


def delete_committed_rows(case: TransactionTestCase | None = None) -> None:
    """Empty the tables that hold rows, but those of permissions.

    Django's way, after each test that commits, truncates all tables and makes the permissions anew: 0.3 s.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        names = connection.introspection.django_table_names(only_existing=True, include_views=False)
        rows = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in names)
        cursor.execute(rows)
        filled = {name for (name,) in cursor.fetchall()} - {"auth_permission", "django_content_type"}
        if filled:
            cursor.execute(f"TRUNCATE {', '.join(filled)} CASCADE")


TransactionTestCase._fixture_teardown = delete_committed_rows


@pytest.fixture(scope="module")
def module_rows(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Rows that all tests of a module share, and the folder of their files.

    They are written by module-scoped fixtures, in a transaction around the tests. Each test rolls back what
    it writes itself. Not for modules with ``django_db(transaction=True)``.
    """
    media = tmp_path_factory.mktemp("media")
    with django_db_blocker.unblock(), override_settings(MEDIA_ROOT=media):
        rows = transaction.atomic()
        rows._from_testcase = True  # as Django's TestCase: code may ask for a durable transaction inside
        with rows:
            yield media
            transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def files_of_their_own(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    settings: settings_module,  # type: ignore[valid-type]
) -> None:
    """Store uploads in the test's folder, or in that of the rows it shares."""
    shared = "module_rows" in request.fixturenames
    settings.MEDIA_ROOT = request.getfixturevalue("module_rows") if shared else tmp_path / "media"


@pytest.fixture(autouse=True)
def empty_caches() -> Iterator[None]:
    """Search keeps a language model's replies for some minutes; a test's model is its own."""
    yield
    for name in settings_module.CACHES:
        caches[name].clear()


def new_alice() -> User:
    return User.objects.create_user("alice", "alice@example.com", "correct horse")


@pytest.fixture
def alice(db: None) -> User:
    return new_alice()


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create_user("bob", "bob@example.com", "battery staple")


@pytest.fixture
def charlie(db: None) -> User:
    """A user without groups and documents, who may see nothing."""
    return User.objects.create_user("charlie", "charlie@example.com", "paper clip")


_parsed: dict[tuple[object, str], ParsedDocument] = {}


def parse_once(drawn: object, path: Path, **options: Any) -> ParsedDocument:
    """Return what ``parse_file`` made of the same pages before; most tests want the same two or three."""
    given = {name: value for name, value in options.items() if name != "on_progress"}
    key = (drawn, repr(given))
    if key not in _parsed:
        _parsed[key] = parse_file(path, **options)
    return _parsed[key]


def ingest(owner: User, *pages: str, name: str = "drawn.pdf", pdf: bytes = b"") -> Document:
    file = ContentFile(pdf or draw_pdf(*pages))
    document = store_upload(owner, file, name, queued=False)
    with pytest.MonkeyPatch.context() as patch:
        if parser.parse_file is parse_file and file.size < 50_000:  # no test has replaced it
            patch.setattr(parser, "parse_file", partial(parse_once, pdf or pages))
        ingest_document(document.pk)
    recognise_document(document.pk)
    document.refresh_from_db()
    return document


@pytest.fixture
def ingested(db: None) -> Ingest:
    """``ingested(owner, "text", "text of page 2")``: drawn, uploaded and ingested, without fakes."""
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
