"""The served API against its own schema: schemathesis sends what the schema allows, and what it forbids.

The cases are counted, not timed, and derived from the schema alone, so that every machine runs the same.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.servers.basehttp import WSGIRequestHandler
from pytest_django.live_server_helper import LiveServer

from documents.api.common.errors import NOT_BLANK
from documents.api.papers import TopicSerializer
from documents.models import ApiToken, CitationUnit, RetrievalChunk, Tag
from tests.conftest import Ingest

HOOKS = Path(__file__).parent / "api_contract_hooks.py"
FUZZED = 3  # cases an operation, beside those that cover the schema's keywords one by one
GIVE_UP_SECONDS = 1800  # of a machine that is busy with other things
# 422 is for what a schema cannot express, such as an address without a file.
CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "401", "403", "404", "409", "422", "5xx"]

[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "5xx"]

[phases.coverage]
unexpected-methods = ["put"]

[generation]
allow-extra-parameters = false

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
# Streams, pictures and other people's servers have tests of their own; the fixture has to stay.
LEFT_OUT = "/image/|/stream/|/health/|/papers/(search/)?$|/citing/|/references/"
FIXTURE = ["tokens_destroy", "documents_destroy"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_served_api_keeps_its_schema(
    alice: User,
    ingested: Ingest,
    live_server: LiveServer,
    tmp_path: Path,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No server error, no answer that the schema does not know, nothing accepted that it forbids."""
    # The body of each answer would wait 40 ms for the acknowledgement of its head.
    monkeypatch.setattr(WSGIRequestHandler, "disable_nagle_algorithm", True)
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
    schema = tmp_path / "schema.yml"
    schema.write_bytes(httpx.get(f"{live_server.url}/api/schema/", timeout=GIVE_UP_SECONDS).content)
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "--no-color", "run"),
        *(str(schema), "--url", live_server.url, "--header", f"Authorization: Bearer {key}"),
        *("--request-timeout", str(GIVE_UP_SECONDS)),
        *("--phases", "examples,coverage,fuzzing", "--max-examples", str(FUZZED), "--no-shrink"),
        *("--generation-deterministic", "--continue-on-failure", "--exclude-path-regex", LEFT_OUT),
        *(option for name in FIXTURE for option in ("--exclude-operation-id", name)),
    ]
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": str(HOOKS), "PYTHONPATH": str(HOOKS.parent.parent)}
    run = subprocess.run(
        command, env=environment, capture_output=True, text=True, cwd=tmp_path, timeout=GIVE_UP_SECONDS
    )
    found = run.stdout.partition("= FAILURES =")[2].partition("= WARNINGS =")[0]
    assert run.returncode == 0, found[:20_000] + run.stdout[-2000:] + run.stderr[-2000:]
    tested = re.search(r"Tested: (\d+)", run.stdout)
    cases = re.search(r"(\d+) generated", run.stdout)
    assert tested and int(tested[1]) >= 60, run.stdout[-2000:]
    assert cases and int(cases[1]) >= 1500, run.stdout[-2000:]


def test_a_blank_string_is_the_same_to_the_schema_and_to_a_serializer() -> None:
    """`?q=%1D` was refused though the schema allowed it: `\\S` is not what Python strips."""
    differ = [n for n in range(1, 0x110000) if bool(re.search(NOT_BLANK, chr(n))) != bool(chr(n).strip())]
    assert differ == [] and not re.search(NOT_BLANK, "A\0")
    topics = [TopicSerializer(data={"q": text}) for text in ("\x1d", "\x1dA", "A\0")]
    assert [topic.is_valid() for topic in topics] == [False, True, False]


def test_the_schema_is_valid_and_made_without_a_warning(tmp_path: Path) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yml"))
