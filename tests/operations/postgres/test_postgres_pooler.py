"""PgBouncer in transaction mode: a real one, before the tests' own database."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings as settings_module
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import connection

from bench._installation import free_port
from documents.files.uploads import store_upload
from operations.embedded import server
from tests.drawing import draw_pdf
from tests.operations.management.commands.test_worker import Workers, wait_until_ready
from tests.operations.test_processes_runapp import wait_for

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]

# Four clients share three server connections, so each sees what another left in a session.
ASKED_BY_FOUR = """
import json, sys, threading
from django.contrib.auth.models import User
from django.db import connection
from retrieval.query.scope import Scope
from retrieval.search import search
found, failed = [], []
def ask():
    try:
        user = User.objects.get(username="alice")
        for _ in range(6):
            found.append(len(search("how long is the harbour wall", Scope(user)).hits))
    except Exception as error:
        failed.append(repr(error))
threads = [threading.Thread(target=ask) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(json.dumps([found, failed]))
"""


@pytest.fixture
def address() -> Iterator[str]:
    """Of a PgBouncer with three connections to the database of this test."""
    if shutil.which("pgbouncer") is None:
        pytest.skip("needs pgbouncer")
    port, name = free_port(), connection.settings_dict["NAME"]
    host = server.socket_folder(Path(connection.settings_dict["HOST"]))
    # Another run of pytest closes the folders of `tmp_path`, which hold this one's, to PgBouncer's user.
    temporary = tempfile.TemporaryDirectory(prefix="pgbouncer-")
    folder = Path(temporary.name)
    (folder / "users").write_text('"postgres" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n{name} = host={host} dbname={name} user=postgres\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        f"auth_file = {folder}/users\npool_mode = transaction\ndefault_pool_size = 3\n"
    )
    user = server.unprivileged_user()
    server.open_to(user, folder)
    command = ["pgbouncer", "--quiet", str(folder / "pgbouncer.ini")]
    pooler = subprocess.Popen(command, cwd="/", **server.as_user(user))
    address = f"postgres://postgres@127.0.0.1:{port}/{name}"

    def answers() -> bool:
        try:
            psycopg.connect(address, connect_timeout=2).close()
        except psycopg.Error:
            return False
        return True

    wait_for(answers, "pgbouncer does not answer")
    yield address
    pooler.terminate()
    pooler.wait()
    temporary.cleanup()


def searched(address: str, media: Path, pooler: str) -> tuple[list[int], list[str]]:
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.worker_settings",
        "PINCITE_TEST_DATABASE": connection.settings_dict["NAME"],
        "PINCITE_TEST_MEDIA": str(media),
        "DATABASE_URL": address,
        "PINCITE_DB_POOLER": pooler,
    }
    command = [
        sys.executable,
        "-W",
        "ignore",
        str(settings_module.BASE_DIR / "manage.py"),
        "shell",
        "-v0",
        "-c",
    ]
    done = subprocess.run(
        [*command, ASKED_BY_FOUR], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found, failed = json.loads(done.stdout.splitlines()[-1])
    return found, failed


@pytest.mark.slow
def test_documents_are_ingested_and_searched_through_pgbouncer_in_transaction_mode(
    alice: User, address: str, tmp_path: Path, settings
) -> None:
    settings.MEDIA_ROOT = tmp_path
    pdf = draw_pdf("# Tides\n\nThe harbour wall is forty metres long.")
    document = store_upload(alice, ContentFile(pdf), "tides.pdf", queued=False)
    worker = Workers(tmp_path, tmp_path / "worker.log", DATABASE_URL=address, PINCITE_DB_POOLER="1")
    try:
        wait_until_ready([document], worker.log)
    finally:
        worker.stop()
    found, failed = searched(address, tmp_path, "1")
    assert not failed
    assert found == [1] * 24


@pytest.mark.slow
def test_without_the_setting_prepared_statements_meet(
    alice: User, address: str, tmp_path: Path, ingested, settings
) -> None:
    """Why the setting exists: PgBouncer before 1.21 lacks prepared statements of the protocol."""
    settings.MEDIA_ROOT = tmp_path
    ingested(alice, "# Tides\n\nThe harbour wall is forty metres long.")
    assert searched(address, tmp_path, "0")[1]
