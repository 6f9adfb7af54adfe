"""Items of a field: what a question needs, and which rows and sections are it."""

from __future__ import annotations

import re

import pytest

from domains import pack_names
from domains.items import items_asked, label_match, statement_of, words_beside


def named(question: str, pack: str) -> list[str]:
    return [item.name for item in items_asked(question, [pack])]


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("What was capex?", ["capital_expenditures"]),
        ("How much was spent on property, plant and equipment?", ["capital_expenditures"]),
        ("What is the inventory turnover?", ["cost_of_sales", "inventory"]),
        ("What is the working capital?", ["current_assets", "current_liabilities"]),
        ("Who is the new chief executive?", []),
    ],
)
def test_the_line_items_a_question_needs_are_named(question: str, items: list[str]) -> None:
    assert named(question, "finance") == items


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How can I get out of this lease?", "termination"),
        ("Which courts are competent?", "law"),
        ("May the tenant transfer the lease to somebody else?", "assignment"),
    ],
)
def test_the_clauses_a_question_needs_are_named(question: str, first: str) -> None:
    assert named(question, "contracts")[0] == first


def test_without_packs_no_question_needs_an_item() -> None:
    assert items_asked("What was capex, and how can I terminate?", []) == []


def test_a_plain_label_on_its_own_statement_fits_best() -> None:
    (item,) = items_asked("What were net sales?", ["finance"])
    income, other = "Acme\nConsolidated Statements of Income", "Acme\nSegment information"
    best = label_match(item, "Net sales", income, "")
    assert best == 1.0
    assert best > label_match(item, "Net sales", other, "") > 0
    assert best > label_match(item, "Net sales of discontinued businesses abroad", income, "")
    assert label_match(item, "Dividends", income, "") == 0


def test_a_clause_is_known_by_its_heading() -> None:
    item = items_asked("How can I terminate the contract?", ["contracts"])[0]
    assert label_match(item, "", "", "12. Termination") > 0.8
    assert label_match(item, "", "", "3. Payment") == 0


def test_statements_are_known_by_a_title_of_their_own_and_not_by_a_mention() -> None:
    assert statement_of("Acme\nConsolidated Balance Sheets\n2019", "finance") == "balance"
    assert statement_of("See the balance sheet for the amounts that were owed.", "finance") == ""
    assert statement_of("Notes to the Statements of Cash Flows", "finance") == ""


def test_all_patterns_of_all_packs_compile() -> None:
    for pack in pack_names():
        assert items_asked("anything", [pack]) == []
    assert re.compile("")


@pytest.mark.parametrize(
    ("question", "narrows"),
    [
        ("What was the footwear revenue in 2031?", {"footwear"}),
        ("What was the amortization of intangible assets?", {"intangible"}),
        ("What was 2031 revenue, by the statement of income?", set()),
        ("Going by page 4: what gross margin did the bank demand (in percent)?", {"bank", "demand"}),
        ("x" * 100_000 + ". revenue", set()),
    ],
)
def test_the_words_beside_an_item_narrow_it(question: str, narrows: set[str]) -> None:
    asking = {"What", "what", "was", "did", "the", "of", "in", "assets"}
    assert words_beside(question, ["finance"]) - asking == narrows
