"""A paper known by its metadata is cited; then its PDF arrives, and the citation follows it there."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User

from documents.ingestion.pipeline import ingest_document
from documents.models import ApiToken
from tests.chat.conftest import asgi_server  # noqa: F401
from tests.drawing import LEADING, TOP, draw_pdf

FACT = "We weigh 1,577 anvils and find that each of them weighs twelve tons."
PAPER = {
    "title": "On the Weight of Anvils",
    "authors": ["Wile E. Coyote"],
    "year": 2018,
    "abstract": FACT,
    "doi": "10.1234/anvils.2018",
    "fetch_pdf": False,
}
PDF_PAGES = (
    "# On the Weight of Anvils\n\nWile E. Coyote",
    "# Results\n\nThe desert was hot in the year of the measurement.\n\n" + FACT,
)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def api(alice: User, asgi_server: str) -> httpx.Client:  # noqa: F811
    _, key = ApiToken.objects.issue(alice, "test", ["read", "write", "ask"])
    return httpx.Client(base_url=f"{asgi_server}/api", headers={"Authorization": f"Bearer {key}"}, timeout=60)


def called(answer: httpx.Response, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def test_a_citation_of_an_abstract_moves_into_the_pdf_that_arrives(api: httpx.Client) -> None:
    paper = called(api.post("/papers/", json=PAPER), 201)
    ingest_document(paper["id"])
    assert called(api.get(f"/documents/{paper['id']}/"))["kind"] == "paper"

    conversation = called(api.post("/conversations/", json={"documents": [paper["id"]]}), 201)
    asked = called(
        api.post(f"/conversations/{conversation['id']}/messages/", json={"question": "How many anvils?"}), 201
    )
    first = next(cited for cited in asked["answer"]["citations"] if "1,577" in cited["quote"])
    assert (first["page"], first["verdict"], first["durability"]) == (1, "found", "same")
    assert called(api.get(f"/units/{first['unit']}/"))["unit_type"] == "abstract"

    file = ("anvils.pdf", draw_pdf(*PDF_PAGES), "application/pdf")
    called(api.post(f"/documents/{paper['id']}/pdf/", files={"file": file}), 202)
    ingest_document(paper["id"])

    now = called(api.get(f"/documents/{paper['id']}/"))
    assert (now["kind"], now["page_count"], now["doi"]) == ("pdf", 2, PAPER["doi"])
    moved = called(api.get(f"/citations/{first['id']}/"))
    assert (moved["page"], moved["durability"], moved["quote"]) == (2, "moved", first["quote"])
    assert moved["document_sha256"] == now["sha256"] != first["document_sha256"]
    baseline = TOP + 4 * LEADING
    assert moved["bbox"]["y0"] < baseline < moved["bbox"]["y1"], "the fifth line that was drawn on the page"
    assert called(api.get(f"/units/{moved['unit']}/"))["unit_type"] == "prose"
    assert "2018" in called(api.get(f"/documents/{paper['id']}/reference/"))["text"]
