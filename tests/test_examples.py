"""The examples and a client generated from the schema, run against a real server."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from chat.models import Citation
from documents.models import Document
from tests.chat.conftest import QUESTION, asgi_server, conversation, report  # noqa: F401
from tests.documents.papers.conftest import catalogues  # noqa: F401
from tests.drawing import draw_pdf
from tests.scripted_server import Answer, ScriptedServer, scripted_server

EXAMPLES = Path(__file__).parent.parent / "examples"
GENERATOR = """
post_hooks: []
content_type_overrides:
  image/png: application/octet-stream
  text/csv: text/plain
  text/markdown: text/plain
  text/event-stream: text/plain
"""
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def key(alice: User) -> str:
    """A key made by the command that the examples name."""
    out = StringIO()
    call_command("token", "alice", days=1, stdout=out)
    return out.getvalue().strip()


def example(server: str, key: str, name: str, *arguments: object) -> str:
    environment = {**os.environ, "PINCITE_URL": server, "PINCITE_TOKEN": key}
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_a_question_is_asked_and_its_citation_drawn_by_the_examples(
    asgi_server: str,  # noqa: F811
    key: str,
    report: Document,  # noqa: F811
    tmp_path: Path,
) -> None:
    said = example(asgi_server, key, "ask.py", QUESTION, report.pk)
    assert "1,577 red anvils" in said and "[1] p. 1 found" in said
    citation = Citation.objects.first()
    assert str(citation.pk) in said
    example(asgi_server, key, "picture.py", citation.pk, tmp_path / "words.png")
    assert (tmp_path / "words.png").read_bytes().startswith(b"\x89PNG")


def test_a_claim_is_verified_without_a_server(tmp_path: Path) -> None:
    (tmp_path / "fees.pdf").write_bytes(
        draw_pdf("The fee was raised to 12 euros in 2023.\nIt is due in May.")
    )
    said = example(
        "", "", "verify_a_claim.py", tmp_path / "fees.pdf", 1, "In 2023 the fee was raised to 12 euros."
    )
    assert said.startswith(("exact", "normalized")) and "12 euros" in said
    said = example(
        "", "", "verify_a_claim.py", tmp_path / "fees.pdf", 1, "In 2023 the fee was raised to 19 euros."
    )
    assert said.startswith(("unsupported", "found"))


@pytest.mark.slow
def test_a_search_and_a_citation_are_followed_by_the_example(
    asgi_server: str,  # noqa: F811
    key: str,
    report: Document,  # noqa: F811
) -> None:
    said = example(asgi_server, key, "search_and_cite.py", QUESTION, report.pk)
    assert "hit: acme.pdf, p. 1" in said
    assert "[1] p. 1 at x " in said and "1,577" in said
    assert "in chunk 1 of " in said and "(prose)" in said
    assert f"kept in the history: “{QUESTION}” (question, chat)" in said


@pytest.mark.slow
def test_papers_and_blocks_are_added_cited_and_exported_by_the_example(
    asgi_server: str,  # noqa: F811
    key: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    catalogues: ScriptedServer,  # noqa: F811
) -> None:
    for module in ("documents.files.uploads", "documents.api.documents"):
        monkeypatch.setattr(f"{module}.enqueue", lambda document: _ingest(document))
    (tmp_path / "tides.pdf").write_bytes(draw_pdf("Tides turn an hour later upstream."))
    catalogues.script["/s2/paper/search"] = Answer.json({"data": [{"title": "Tidal rivers"}]})
    cited = {"data": [{"citingPaper": {"title": "Later tides"}}]}
    catalogues.script["/s2/paper/DOI:10.5555/tides.1998/citations"] = Answer.json(cited)
    said = example(asgi_server, key, "papers_and_blocks.py", tmp_path / "harvest", tmp_path / "tides.pdf")
    assert "search: ['Tidal rivers']" in said and "citing: ['Later tides']" in said
    assert "references: " in said and "full text: uploaded" in said and "read again: " in said
    assert "note: 412 crates in 2031. (before: 412 crates.)" in said
    assert "paper: Doe, J., & Roe, R. (1998). Tides of Estuaries" in said
    assert "refused: 1 of 2 blocks cannot be read." in said and "blocks.1" in said
    assert "import: done" in said and "sheet Q2, row 7: 'Pears\\t412'" in said and "12:04–12:11" in said
    assert "cited: " in said and ("slide 4" in said.partition("cited: ")[2] or "sheet Q2" in said)
    assert "412" in (tmp_path / "harvest.md").read_text()
    assert "## References" in (tmp_path / "harvest.md").read_text()


@pytest.mark.slow
def test_the_rows_of_the_specification_are_as_it_says(
    asgi_server: str,  # noqa: F811
    key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in ("documents.api.documents", "documents.files.uploads"):
        monkeypatch.setattr(f"{module}.enqueue", lambda document: _ingest(document))
    said = example(asgi_server, key, "specification_rows.py")
    rows = [line for line in said.splitlines() if line.startswith("| ") and "---" not in line][1:]
    assert len(rows) > 20 and all(row.endswith("| yes |") for row in rows)


@pytest.mark.slow
def test_a_folder_is_ingested_by_the_example(
    asgi_server: str,  # noqa: F811
    key: str,
    tmp_path: Path,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("documents.files.uploads.enqueue", lambda document: _ingest(document))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/a.pdf").write_bytes(draw_pdf("Words of a page."))
    (tmp_path / "folder/b.pdf").write_bytes(b"no PDF")
    said = example(asgi_server, key, "ingest_folder.py", tmp_path / "folder")
    assert "a.pdf: ready 1 pages" in said and "b.pdf: This file is not a PDF" in said


def test_the_answer_of_another_program_is_checked_by_the_example(
    asgi_server: str,  # noqa: F811
    key: str,
    tmp_path: Path,
) -> None:
    file = tmp_path / "leaflet.pdf"
    file.write_bytes(draw_pdf("Take 5 mg twice a day with food.", "Store below 25 degrees."))
    command = [sys.executable, str(EXAMPLES / "check_answer.py"), str(file)]
    environment = {**os.environ, "PINCITE_URL": asgi_server, "PINCITE_TOKEN": key}
    run = subprocess.run(
        command,
        env=environment,
        input="Store below 25 degrees. Take 5 g twice a day with food.",
        capture_output=True,
        text=True,
        timeout=60,
    )
    right, wrong = run.stdout.splitlines()
    assert right == "✓ Store below 25 degrees. (p. 2)"
    assert wrong.startswith("✗ Take 5 g twice a day") and "5 mg" in wrong
    assert run.returncode == 1, run.stderr


def test_curl_checks_adds_and_asks(
    asgi_server: str,  # noqa: F811
    key: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("documents.files.uploads.enqueue", lambda document: _ingest(document))
    (tmp_path / "leaflet.pdf").write_bytes(draw_pdf("Take 5 mg twice a day.", "Store below 25 degrees."))
    arguments = [str(tmp_path / "leaflet.pdf"), "Store below 25 degrees.", "Store below 52 degrees."]
    environment = {**os.environ, "PINCITE_URL": asgi_server, "PINCITE_TOKEN": key}
    command = ["bash", str(EXAMPLES / "curl.sh"), *arguments]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    located, in_file, in_text, added, models, answer, tools = [
        json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")
    ]
    (found,) = located["results"]
    assert found["verdict"] == "exact" and found["parts"][0]["page"] == 2
    for checked in (in_file, in_text):
        assert not checked["results"][0]["verified"] and "25" in checked["results"][0]["reason"]
    assert f"document:{added['id']}" in [model["id"] for model in models["data"]]
    assert "25 degrees" in answer["choices"][0]["message"]["content"]
    assert len(tools["result"]["tools"]) == 10


@pytest.mark.slow
def test_an_agent_says_only_what_was_verified(
    asgi_server: str,  # noqa: F811
    key: str,
    report: Document,  # noqa: F811
    tmp_path: Path,
) -> None:
    said = example(asgi_server, key, "mcp_agent.py", QUESTION, report.original_name)
    assert (
        "1,577 red anvils" in said and f"(p. 1, exact) {asgi_server}/documents/{report.pk}/?page=1&q=" in said
    )
    assert example(asgi_server, key, "mcp_agent.py", QUESTION, "another report") == ""
    row = {"question": QUESTION, "doc_name": "acme", "evidence": [{"evidence_page_num": 0}]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(row) + "\n")
    said = example(asgi_server, key, "mcp_agent.py", "--questions", tmp_path / "questions.jsonl")
    assert "1 of 1 answered by" in said and said.endswith("all verified; 1 from evidence pages\n")


@pytest.mark.slow
def test_the_answer_of_a_langchain_pipeline_is_checked_and_lit(
    asgi_server: str,  # noqa: F811
    key: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The pipeline is LangChain's own; the model behind it is scripted: one thing it says is false."""
    monkeypatch.setattr("documents.files.uploads.enqueue", lambda document: _ingest(document))
    (tmp_path / "leaflet.pdf").write_bytes(
        draw_pdf("Take 5 mg twice a day with food.", "Store below 25 degrees.")
    )
    said = "Store below 25 degrees. Take 5 g twice a day with food."
    message = {"role": "assistant", "content": said}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "1", "object": "chat.completion", "created": 1, "model": "scripted", "usage": usage}
    with scripted_server() as models:
        models.script["/v1/chat/completions"] = Answer.json(
            head | {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        )
        models.script["/v1/embeddings"] = lambda asked: Answer.json(
            {
                "object": "list",
                "model": "scripted",
                "data": [
                    {"object": "embedding", "index": index, "embedding": [1.0, float(len(text))]}
                    for index, text in enumerate(json.loads(asked.body)["input"])
                ],
                "usage": usage,
            }
        )
        monkeypatch.setenv("OPENAI_BASE_URL", f"{models.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        file, folder = tmp_path / "leaflet.pdf", tmp_path / "lit"
        printed = example(asgi_server, key, "langchain_checked.py", file, "How is it taken?", folder)
        prompt = next(asked.body for asked in models.asked if asked.path == "/v1/chat/completions")
    assert b"Store below 25 degrees" in prompt
    right, place, wrong, reason = printed.splitlines()
    assert right == "✓ Store below 25 degrees." and "?page=2&q=Store+below+25+degrees" in place
    assert wrong.startswith("✗ Take 5 g twice a day") and "5 mg" in reason
    assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in ("1.png", "2.png"))


def _ingest(document: Document) -> None:
    from django.db import transaction

    from documents.ingestion.pipeline import ingest_document

    transaction.on_commit(lambda: ingest_document(document.pk))


@pytest.fixture
def generated(tmp_path: Path) -> Iterator[Any]:
    """The client that openapi-python-client generates from our schema."""
    schema = tmp_path / "schema.yml"
    call_command("spectacular", file=str(schema))
    config = tmp_path / "generator.yml"
    config.write_text(GENERATOR)
    command = [sys.executable, "-m", "openapi_python_client", "generate"]
    command += ["--path", str(schema), "--config", str(config)]
    run = subprocess.run(
        [*command, "--meta", "none", "--output-path", str(tmp_path / "generated_client"), "--overwrite"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Warning" not in run.stdout + run.stderr, run.stdout + run.stderr
    sys.path.insert(0, str(tmp_path))
    yield importlib.import_module("generated_client")
    sys.path.remove(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("generated_client")]:
        del sys.modules[name]


@pytest.mark.slow
def test_a_client_generated_from_the_schema_works(
    generated: Any,
    asgi_server: str,  # noqa: F811
    key: str,
    report: Document,  # noqa: F811
) -> None:
    def operation(path: str) -> Any:
        return importlib.import_module(f"generated_client.api.{path}")

    def model(name: str) -> Any:
        return getattr(importlib.import_module("generated_client.models"), name)

    client = generated.AuthenticatedClient(base_url=asgi_server, token=key, raise_on_unexpected_status=True)
    with client:
        listed = operation("documents.documents_list").sync(client=client)
        assert [row.title for row in listed.results] == [report.title]
        page = operation("pages.documents_pages_retrieve").sync(report.pk, 1, client=client)
        assert "anvils" in page.text
        made = operation("conversations.conversations_create").sync(
            client=client, body=model("ConversationRequest")(documents=[report.pk])
        )
        answered = operation("messages.conversations_messages_create").sync(
            made.id, client=client, body=model("QuestionRequest")(question=QUESTION)
        )
        citation = answered.answer.citations[0]
        assert "1,577" in citation.quote and citation.region.bbox.width > 0
        found = operation("search.search").sync(
            client=client, body=model("SearchRequestRequest")(query="red anvils")
        )
        assert found.hits[0].document == report.pk
        checked = operation("checks.verify").sync(
            client=client,
            body=model("VerifyRequest")(
                document=report.pk, claims=[model("ClaimRequest")(claim="The anvils weighed twelve tons.")]
            ),
        )
        assert checked.results[0].verified

    async def listed_later() -> Any:
        later = generated.AuthenticatedClient(base_url=asgi_server, token=key)
        async with later:
            return await operation("documents.documents_list").asyncio(client=later)

    assert [row.id for row in asyncio.run(listed_later()).results] == [report.pk]
