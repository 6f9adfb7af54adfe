from __future__ import annotations

import pytest

from documents.contents import table_name, trail


@pytest.mark.parametrize(
    ("path", "title", "shown"),
    [
        (["Annual Report", "Risks"], "", "Annual Report › Risks"),
        (["ANNUAL REPORT", "Risks"], "Annual report", "Risks"),
        (["Acme plc", "Acme PLC.", "Exhibit 4"], "8-K", "Acme plc › Exhibit 4"),
        (["Annual\nReport:", "Annual report", "Sales"], "Annual Report", "Sales"),
        (["Sales", "Europe", "Sales"], "Sales in Europe", "Sales › Europe › Sales"),
        (["Annual Report"], "Annual Report", ""),
        (["Lease", "Rent"], "Lease (Lease 2021.pdf)", "Rent"),
        (["Cash flow:", "Free cash flow (non-GAAP):"], "", "Cash flow › Free cash flow (non-GAAP)"),
    ],
)
def test_the_headings_over_a_passage_are_said_once(path: list[str], title: str, shown: str) -> None:
    assert trail(path, title) == shown


@pytest.mark.parametrize(
    ("section", "heads", "shown"),
    [
        ("Working capital:", ["", "2018", "2017"], "Working capital › 2018, 2017"),
        ("", ["Increase (decrease) in the net periodic benefit"], "Increase (decrease) in the net periodic…"),
        ("", ["日" * 50], "日" * 40 + "…"),
    ],
)
def test_a_table_without_a_caption_has_a_name_cut_between_words(
    section: str, heads: list[str], shown: str
) -> None:
    assert table_name("", section, heads) == shown
