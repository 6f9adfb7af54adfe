"""Columns from files, and a user's templates: saved, shared, exported and imported."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from reviews.column_sets import FIELDS, InvalidColumns, InvalidReview, columns_in, template_columns
from reviews.models import Review, ReviewTemplate
from tests.api_clients import client_of

CSV = """title,question,type,unit,choices,note
Term,How long is the term?,,,,years count
Notice,How many days of notice?,number,d,,
Renewal,"How is it renewed, if at all?",Choice,,automatic | by notice,
Parties,Who are the parties?,Text,,,
"""
BAD = """title,question,type,unit,choices
Term,,text,,
Notice,How many days?,counting,,
Renewal,How is it renewed?,choice,,automatic
Fee,What is the fee?,text,EUR,
Term 2,How long, really?,text,,two
Law,Which law?,text,,
Law,Which court?,text,,
"""


def test_columns_of_a_csv_are_typed() -> None:
    _name, columns = columns_in(CSV.encode())
    assert [(one.title, one.kind, one.unit, one.choices) for one in columns] == [
        ("Term", "text", "", []),
        ("Notice", "number", "d", []),
        ("Renewal", "choice", "", ["automatic", "by notice"]),
        ("Parties", "text", "", []),
    ]
    assert columns[2].question == "How is it renewed, if at all?" and columns[0].note == "years count"


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + "title;question;type\r\nGröße;Wie groß?;number\r\n".encode(),
        "title;question;type\r\nGröße;Wie groß?;number\r\n".encode("cp1252"),
        "title\tquestion\ttype\nGröße\tWie groß?\tnumber\n".encode("utf-16"),
        "\n\nTitle, Question, Type\n\nGröße, Wie groß?, Number\n".encode(),
    ],
)
def test_a_csv_is_read_as_spreadsheets_write_it(data: bytes) -> None:
    (column,) = columns_in(data)[1]
    assert (column.title, column.question, column.kind) == ("Größe", "Wie groß?", "number")


def test_each_line_that_cannot_be_used_is_named_with_its_reason() -> None:
    with pytest.raises(InvalidColumns) as raised:
        columns_in(BAD.encode())
    lines = [error.partition(":")[0] for error in raised.value.errors]
    assert lines == ["Line 2", "Line 3", "Line 4", "Line 5", "Line 6", "Line 8"]
    said = " ".join(raised.value.errors)
    for words in (
        "Write the question",
        "is not a type. Types: text",
        "two choices",
        "Only a number",
        "more cells",
    ):
        assert words in said
    assert "is already used by Line 7" in raised.value.errors[-1]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no column"),
        (b"title,question\n", "no column"),
        (b"name,question\nA,B\n", "not a field of a column"),
        (b"title\nA\n", "the heading “question” is missing"),
        (b"title,question,title\nA,B,C\n", "two headings are the same"),
        (b"title,question\nA,\x00\n", "not a text file"),
        (b'title,question\nA,"open\n', "cannot be read"),
        (b"title,question\n" + b"A,B\n" * 70, "60 columns at most"),
        (b"title,question\n" + b"x" * 1_000_001, "1 MB"),
        (b"title,question\n" + b"x" * 121 + b",B\n", "120 characters"),
        (b'{"columns": 7}', "cannot be read"),
        (b'{"columns": [{"title": "A"}]}', "missing required field `question`"),
        (b'[{"title": "A", "question": "B", "colour": "red"}]', "unknown field `colour`"),
        (b"[" * 100_000, "cannot be read"),
    ],
)
def test_a_file_that_is_none_of_columns_says_why(data: bytes, said: str) -> None:
    with pytest.raises(InvalidColumns, match=said):
        columns_in(data)


def test_a_formula_is_words() -> None:
    (column,) = columns_in(b"title,question\n'=cmd|' /C calc'!A0,What?\n")[1]
    assert column.title == "=cmd|' /C calc'!A0"


@given(st.binary(max_size=300))
def test_any_bytes_are_columns_or_are_refused(data: bytes) -> None:
    try:
        assert columns_in(data)[1]
    except InvalidColumns as error:
        assert error.errors


def test_columns_of_a_file_are_added_all_or_none(review: Review, alice: User) -> None:
    api, address = client_of(alice), f"/api/reviews/{review.pk}/columns/from-file/"
    before = review.columns.count()
    refused = api.post(address, {"text": "title,question\nFuel,What?\nCrew,Who?\n"}, format="json")
    assert refused.status_code == 422 and review.columns.count() == before
    assert refused.json()["fields"]["columns"] == ["Fuel: There is a column “Fuel” already."]
    refused = api.post(address, {"text": BAD}, format="json")
    assert len(refused.json()["fields"]["columns"]) == 6
    added = api.post(address, {"text": CSV}, format="json")
    assert added.status_code == 201 and len(added.json()) == 4
    assert review.columns.count() == before + 4
    assert [column.position for column in review.columns.order_by("position")] == list(range(before + 4))


def test_the_page_names_the_lines_and_adds_nothing(review: Review, client: Client, alice: User) -> None:
    client.force_login(alice)
    before = review.columns.count()
    sent = SimpleUploadedFile("columns.csv", BAD.encode())
    answer = client.post(
        f"/reviews/{review.pk}/columns/", {"file": sent}, headers={"HX-Request": "true"}
    ).content.decode()
    assert "Line 3: “counting” is not a type" in answer and review.columns.count() == before
    sent = SimpleUploadedFile("columns.csv", CSV.encode())
    done = client.post(f"/reviews/{review.pk}/columns/", {"file": sent}, headers={"HX-Request": "true"})
    assert done["HX-Redirect"] == f"/reviews/{review.pk}/" and review.columns.count() == before + 4


def test_a_template_of_a_review_makes_another_review(review: Review, alice: User) -> None:
    api = client_of(alice)
    kept = api.post("/api/review-templates/", {"name": "Ships", "review": str(review.pk)}, format="json")
    assert kept.status_code == 201, kept.json()
    made = api.post("/api/reviews/", {"name": "Next year", "template": kept.json()["id"]}, format="json")
    assert made.status_code == 201, made.json()
    told = [{name: one[name] for name in FIELDS} for one in made.json()["columns"]]
    assert told == kept.json()["columns"] and len(told) == review.columns.count()


def test_an_exported_template_can_be_imported_again(
    review: Review, client: Client, alice: User, bob: User
) -> None:
    client.force_login(alice)
    client.post("/reviews/templates/new/", {"name": "Ships", "review": str(review.pk)})
    kept = ReviewTemplate.objects.get(owner=alice)
    file = client.get(f"/reviews/templates/{kept.pk}/export.json")
    assert file["Content-Type"] == "application/json"
    body = b"".join(file) if file.streaming else file.content
    client.force_login(bob)
    client.post("/reviews/templates/new/", {"file": SimpleUploadedFile("ships.json", body)})
    taken = ReviewTemplate.objects.get(owner=bob)
    assert (taken.name, taken.columns) == ("Ships", kept.columns)
    api = client_of(bob)  # the API takes the same file
    assert api.post("/api/review-templates/", json.loads(body), format="json").status_code == 201


def test_a_template_is_shared_as_a_collection_is(alice: User, bob: User, charlie: User) -> None:
    column = {"title": "Term", "question": "How long?"}
    api, other = client_of(alice), client_of(bob)
    kept = api.post("/api/review-templates/", {"name": "Leases", "columns": [column]}, format="json").json()
    address = f"/api/review-templates/{kept['id']}/"
    assert other.get(address).status_code == 404
    assert (
        other.post("/api/reviews/", {"name": "X", "template": kept["id"]}, format="json").status_code == 404
    )
    group = Group.objects.create(name="Lawyers")
    group.user_set.add(alice, bob)
    given = api.post(f"{address}shares/", {"group": "Lawyers"}, format="json")
    assert given.status_code == 201, given.json()
    assert other.get(address).json()["owner"] == "alice"
    assert other.patch(address, {"name": "Mine"}, format="json").status_code == 403
    assert other.get(f"{address}shares/").status_code == 403
    assert client_of(charlie).get(f"{address}shares/").status_code == 404
    made = other.post("/api/reviews/", {"name": "X", "template": kept["id"]}, format="json")
    assert made.status_code == 201 and made.json()["columns"][0]["title"] == "Term"
    api.post(f"{address}shares/", {"group": "Lawyers", "can_write": True}, format="json")
    assert len(api.get(f"{address}shares/").json()["results"]) == 1
    assert other.patch(address, {"name": "Ours"}, format="json").json()["name"] == "Ours"
    assert other.delete(address).status_code == 403
    assert api.delete(f"{address}shares/{given.json()['id']}/").status_code == 204
    assert other.get(address).status_code == 404
    with pytest.raises(InvalidReview, match="does not exist or is no longer shared"):
        template_columns(bob, kept["id"])


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"name": "A", "columns": []}, 422),
        ({"name": "", "columns": [{"title": "T", "question": "Q?"}]}, 400),
        ({"name": "A", "columns": [{"title": "T"}]}, 400),
        ({"name": "A", "columns": [{"title": "T", "question": "Q?", "kind": "colour"}]}, 400),
        ({"name": "A", "columns": [{"title": "T", "question": "Q?", "unit": "mg"}]}, 422),
        ({"name": "A", "columns": [{"title": "T", "question": "Q?"}] * 2}, 422),
        ({"name": "A", "columns": "T"}, 400),
    ],
)
def test_a_template_that_cannot_be_used_is_refused(alice: User, sent: dict[str, Any], status: int) -> None:
    answer = client_of(alice).post("/api/review-templates/", sent, format="json")
    assert answer.status_code == status, answer.json()
    assert not ReviewTemplate.objects.exists()


def test_a_review_is_shared_by_the_api(review: Review, alice: User, bob: User) -> None:
    address = f"/api/reviews/{review.pk}/"
    api = client_of(alice)
    given = api.post(f"{address}shares/", {"user": "bob"}, format="json")
    assert given.status_code == 201 and client_of(bob).get(address).status_code == 200
    assert api.post(f"{address}shares/", {"user": "nobody"}, format="json").status_code == 404
    assert api.post(f"{address}shares/", {}, format="json").status_code == 422
    assert client_of(bob).delete(f"{address}shares/{given.json()['id']}/").status_code == 403
    assert api.delete(f"{address}shares/{given.json()['id']}/").status_code == 204
    assert client_of(bob).get(address).status_code == 404
