"""The served API against its own schema: schemathesis sends what the schema allows, and what it forbids."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from pytest_django.live_server_helper import LiveServer

from documents.models import ApiToken, CitationUnit, RetrievalChunk, Tag
from tests.conftest import Ingest

SECONDS = 45
# Which bytes are a PDF, which key was used before, which values a filter takes for none: a schema
# cannot say, and how many such cases are met in the time differs from run to run.
GUESSES = "negative_data_rejection,positive_data_acceptance"
CONFIG = """
[parameters]
"path.document_id" = "{document}"
"path.number" = 1
"path.index" = 0

[[operations]]
include-path-regex = "^/api/documents/.id./(status|retry)/$"
parameters = {{ "path.id" = "{document}" }}

[[operations]]
include-path = "/api/units/{{id}}/"
parameters = {{ "path.id" = "{unit}" }}

[[operations]]
include-path = "/api/chunks/{{id}}/"
parameters = {{ "path.id" = "{chunk}" }}
"""


@pytest.mark.django_db(transaction=True)
def test_the_served_api_keeps_its_schema(
    alice: User, ingested: Ingest, live_server: LiveServer, tmp_path: Path, settings: Any
) -> None:
    """0 server errors, 0 answers that the schema does not know."""
    settings.RATES = dict.fromkeys(settings.RATES, "1000000/h")
    settings.ASK_SECONDS, settings.FETCH_SECONDS = 0.5, 0.5
    document = ingested(alice, "# Results\n\nRevenue was 32.8 billion dollars.\n\nIt rose by 3 %.")
    Tag.objects.create(owner=alice, name="kept")
    _, key = ApiToken.objects.issue(alice, "schemathesis", ["read", "write", "ask"])
    config = tmp_path / "schemathesis.toml"
    config.write_text(
        CONFIG.format(
            document=document.pk,
            unit=CitationUnit.objects.filter(document=document).first().pk,
            chunk=RetrievalChunk.objects.filter(document=document).first().pk,
        )
    )
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "--no-color", "run"),
        *(f"{live_server.url}/api/schema/", "--header", f"Authorization: Bearer {key}"),
        *("--max-time", str(SECONDS), "--max-examples", "10", "--seed", "1", "--no-shrink"),
        *("--continue-on-failure", "--exclude-operation-id", "tokens_destroy", "--exclude-checks", GUESSES),
        *("--exclude-path-regex", "/image/|/stream/|/health/|/papers/$|/citing/|/references/"),
    ]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=SECONDS * 3)
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    tested = re.search(r"Tested: (\d+)", run.stdout)
    cases = re.search(r"(\d+) generated", run.stdout)
    assert tested and int(tested[1]) >= 40, run.stdout[-2000:]
    assert cases and int(cases[1]) >= 200, run.stdout[-2000:]


def test_the_schema_is_valid_and_made_without_a_warning(tmp_path: Path) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yml"))
