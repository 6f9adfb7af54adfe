"""No cell of an exported table begins a formula."""

from __future__ import annotations

import pytest

from documents.contents import disarmed


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "＝HYPERLINK(1)",
        "﹦1+1",
        "＠SUM(1)",
        "@SUM(1)",
        "＋cmd",
        "－cmd",
        " =1",
        "\t=1",
        "\r\n=1",
        "\u200b＝1",
        "\u00a0=1",
    ],
)
def test_what_a_spreadsheet_may_take_for_a_formula_gets_an_apostrophe(text: str) -> None:
    assert disarmed(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", " ", "rent = 5", "-5.25", "-$(1,204)", "–3 %", "'=1", "a\tb", "１＋１"])
def test_words_and_numbers_stay(text: str) -> None:
    assert disarmed(text) == text
