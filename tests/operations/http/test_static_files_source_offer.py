"""Users of the server are offered its source code (AGPL-3.0, section 13)."""

from __future__ import annotations

import io
import tarfile

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from operations.http.static_files import SOURCE


@pytest.mark.django_db
def test_every_page_leads_to_licence_and_source(client: Client) -> None:
    assert 'href="/licence/"' in client.get("/account/sign-in/").text
    page = client.get("/licence/").text
    assert "GNU Affero General Public License" in page
    assert "PyMuPDF" in page
    assert 'href="/source.tar.gz"' in page


def test_the_archive_holds_the_program_and_nothing_else(client: Client) -> None:
    with tarfile.open(fileobj=io.BytesIO(client.get("/source.tar.gz").content)) as archive:
        names, owners = archive.getnames(), {entry.uname for entry in archive}
    assert {"pincite/manage.py", "pincite/LICENSE", "pincite/chat/apps.py", "pincite/Makefile"} <= set(names)
    assert {"pincite/locale", "pincite/deploy", "pincite/requirements-cluster.lock"} <= set(names)
    tops = {name.split("/")[1] for name in names}
    assert not {"var", ".venv", "node_modules", ".git"} & tops
    assert not [name for name in names if "__pycache__" in name or "secret_key" in name]
    assert owners == {""}


def test_all_that_is_the_program_is_offered() -> None:

    kept = {
        path.name for path in settings.BASE_DIR.iterdir() if path.is_dir() and (path / "__init__.py").exists()
    }
    assert kept <= set(SOURCE)


@pytest.mark.django_db
def test_the_reader_leads_there_by_its_keys(client: Client, alice: User, ingested) -> None:  # type: ignore[no-untyped-def]
    document = ingested(alice, "Some words.")
    client.force_login(alice)
    page = client.get(f"/documents/{document.pk}/").text
    assert 'class="site-footer"' not in page
    assert 'href="/licence/"' in page
