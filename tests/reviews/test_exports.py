"""A review as a file: typed cells, sources, and no formula from a document."""

from __future__ import annotations

import csv
import io
import json
from datetime import date

import pymupdf
import pytest
from django.contrib.auth.models import User
from django.test import Client
from openpyxl import load_workbook

from reviews.models import Review, ReviewCell
from reviews.review_commands import change_cell
from tests.reviews.conftest import cell

FORMULA = '=cmd|"/C calc"!A0'


@pytest.fixture
def download(client: Client, filled: Review, alice: User):  # type: ignore[no-untyped-def]
    client.force_login(alice)

    def get(form: str) -> bytes:
        answer = client.get(f"/reviews/{filled.pk}/export.{form}")
        assert answer.status_code == 200 and f"ferries.{form}" in answer["Content-Disposition"]
        return answer.content

    return get


def test_a_workbook_has_typed_cells_links_colours_and_pictures(download) -> None:  # type: ignore[no-untyped-def]
    book = load_workbook(io.BytesIO(download("xlsx")))
    sheet = book["Review"]
    heads = [place.value for place in sheet[1]]
    rows = {row[0].value: dict(zip(heads, row, strict=True)) for row in sheet.iter_rows(min_row=2)}
    assert (revenue := "Revenue (USD)") in heads
    north = next(row for title, row in rows.items() if "north" in str(title).lower())
    assert north[revenue].value == 14_544_000_000
    assert north["Effect"].value.date() == date(2029, 3, 5)
    assert north["Dividend"].value is False
    assert north["Auditor"].value == "Not stated" and north["Auditor"].hyperlink is None
    assert "citation=" in north[revenue].hyperlink.target
    assert north[revenue].fill.start_color.rgb.endswith("DFF5E3")
    ReviewCell.objects.filter(column__title="Revenue").update(state="unclear")
    unclear = load_workbook(io.BytesIO(download("xlsx")))["Review"]
    heads = [place.value for place in unclear[1]]
    colours = {row[heads.index("Revenue")].fill.start_color.rgb[2:] for row in unclear.iter_rows(min_row=2)}
    assert colours == {"FFF3BF"}  # an undecided cell has no verification
    evidence = book["Evidence"]
    assert any("14,544" in str(row[7].value) for row in evidence.iter_rows(min_row=2))
    assert len(evidence._images) >= 10


def test_a_column_of_a_workbook_has_one_unit_and_costs_have_no_sign(download, filled: Review) -> None:  # type: ignore[no-untyped-def]
    amounts = [{"number": -30, "currency": "USD"}, {"number": 20, "currency": "EUR"}]
    columns = filled.columns.filter(title="Revenue")
    columns.update(title="Paid", question="What were the capital expenditures?")
    for one, amount in zip(ReviewCell.objects.filter(column__title="Paid"), amounts, strict=False):
        ReviewCell.objects.filter(pk=one.pk).update(value=amount, state="found")
    sheet = load_workbook(io.BytesIO(download("xlsx")))["Review"]
    by_head = {column[0].value: [place.value for place in column[1:]] for column in sheet.iter_cols()}
    assert 30 in by_head["Paid (USD)"] and -30 not in by_head["Paid (USD)"]
    assert 20 in by_head["Paid (EUR)"] and 20 not in by_head["Paid (USD)"]


def test_text_that_looks_like_a_formula_stays_text(download, filled: Review, alice: User) -> None:  # type: ignore[no-untyped-def]
    auditor = cell(filled, "Auditor")
    change_cell(auditor.pk, alice, auditor.revision, {"text": FORMULA})
    rows = list(csv.reader(io.StringIO(download("csv").decode("utf-8-sig"))))
    assert any(f"'{FORMULA}" in row for row in rows) and not any(FORMULA in row for row in rows)
    sheet = load_workbook(io.BytesIO(download("xlsx")))["Review"]
    said = [place for row in sheet.iter_rows() for place in row if place.value == FORMULA]
    assert len(said) == 1 and said[0].data_type == "s"
    assert "\\|" in download("md").decode()


def test_json_gives_each_value_with_its_source(download) -> None:  # type: ignore[no-untyped-def]
    read = json.loads(download("json"))
    fuels = [row["cells"]["Fuel"] for row in read["rows"]]
    assert {fuel["value"] for fuel in fuels} == {"Liquefied gas", "Diesel"}
    assert all(fuel["source"]["page"] == 1 and fuel["source"]["quote"] for fuel in fuels)
    assert [column["title"] for column in read["columns"]][:2] == ["Passengers", "Revenue"]


def test_an_export_holds_only_rows_its_reader_may_see(client: Client, filled: Review, bob: User) -> None:
    filled.shares.create(user=bob)
    client.force_login(bob)
    read = json.loads(client.get(f"/reviews/{filled.pk}/export.json").content)
    assert read["rows"] == []
    assert ReviewCell.objects.filter(row__review=filled).exists()
    assert client.get(f"/reviews/{filled.pk}/export.exe").status_code == 404


def test_the_sources_are_a_file_beside_the_values(client: Client, filled: Review, alice: User) -> None:
    client.force_login(alice)
    answer = client.get(f"/reviews/{filled.pk}/export.sources-csv")
    assert "ferries-sources.csv" in answer["Content-Disposition"]
    lines = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    revenue = next(line for line in lines if line["Column"] == "Revenue" and "14,544" in line["Value"])
    assert revenue["Page"] == "1" and "14,544" in revenue["Quote"] and "citation=" in revenue["Link"]


def test_the_evidence_is_a_pdf_of_the_whole_a_row_or_a_column(
    client: Client, filled: Review, alice: User
) -> None:
    client.force_login(alice)
    fuel = cell(filled, "Fuel")

    def text(query: str) -> str:
        answer = client.get(f"/reviews/{filled.pk}/export.pdf{query}")
        with pymupdf.open(stream=answer.content, filetype="pdf") as pdf:
            assert any(page.get_images() for page in pdf) and any(page.get_links() for page in pdf)
            return "".join(page.get_text() for page in pdf)

    assert {"Revenue", "Fuel"} <= set(text("").split()) and "320 million" in text("")
    assert "Revenue" not in text(f"?column={fuel.column_id}") and "Diesel" in text(
        f"?column={fuel.column_id}"
    )
    assert "320 million" not in text(f"?row={fuel.row_id}") and "14,544" in text(f"?row={fuel.row_id}")
