"""Quoted words through the API: where they stand, on whose documents."""

from __future__ import annotations

from django.contrib.auth.models import User

from tests.api_clients import client_of
from tests.conftest import Ingest


def test_quoted_words_are_found_where_they_were_drawn(alice: User, bob: User, ingested: Ingest) -> None:
    """The second line is drawn with its baseline at y = 104 pt from x = 72 pt."""
    document = ingested(alice, "Net sales rose in every region.\nRevenue was 32,765 million dollars.")
    url = f"/api/documents/{document.pk}/locate/"
    found = client_of(alice, "read").post(url, {"quote": "was 32,765 million"}, format="json").json()
    assert (found["verdict"], found["page"], found["text"]) == ("exact", 1, "was 32,765 million")
    (box,) = found["parts"][0]["rects"]
    assert box["y0"] < 104 < box["y1"] and box["x0"] > 72
    absent = client_of(alice).post(url, {"quote": "profits of penguins"}, format="json").json()
    assert (absent["verdict"], absent["parts"]) == ("none", [])
    assert client_of(bob).post(url, {"quote": "Net sales"}, format="json").status_code == 404
