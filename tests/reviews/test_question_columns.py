"""The columns proposed for a question to every document."""

from __future__ import annotations

import pytest

from reviews.question_columns import columns_for


@pytest.mark.parametrize(
    ("question", "kind", "asked", "condition"),
    [
        ("In how many contracts may the tenant sublet?", "boolean", "May the tenant sublet?", ""),
        ("Which papers report a hazard ratio below 0.8?", "number", "What is the hazard ratio?", "< 0.8"),
        ("In which leases is the notice at least 30 days?", "number", "What is the notice?", ">= 30"),
        ("Which contracts end before 2025?", "date", "What is the end?", "< 2025"),
        ("Which filings have sales above $1 billion?", "money", "What is the sales?", "> 1000000000"),
        ("In which leases is the notice longer than 30 days?", "number", "What is the notice?", "> 30"),
        ("Which leases have a deposit of not more than EUR 900?", "money", "What is the deposit?", "<= 900"),
        ("Which terms that are two years or more?", "number", "Which terms?", ">= 2"),
        ("What is the dividend per share?", "money", "What is the dividend per share?", ""),
        ("How many years of salary are paid?", "number", "How many years of salary are paid?", ""),
        ("How often is the rent paid?", "text", "How often is the rent paid?", ""),
        ("Into which groups are they sorted?", "text", "Into which groups are they sorted?", ""),
        ("In welchen Verträgen ist die Frist länger als 30 Tage?", "number", "Frist?", "> 30"),
        ("When does the agreement take effect?", "date", "When does the agreement take effect?", ""),
        ("What is the date of the lease?", "date", "What is the date of the lease?", ""),
        ("How many ships does it own?", "number", "How many ships does it own?", ""),
        ("Within how many days must she pay?", "number", "Within how many days must she pay?", ""),
        ("Which law governs the agreement?", "text", "Which law governs the agreement?", ""),
        ("Which papers evaluate more than five datasets?", "number", "How many datasets (evaluate)?", "> 5"),
        ("Were fewer than 100 patients randomized?", "number", "How many patients randomized?", "< 100"),
        ("What was the gross profit?", "money", "What was the gross profit?", ""),
        ("Wo wohnen mehr als drei Personen?", "number", "Wie viele Personen (Wo wohnen)?", "> 3"),
        ("In wie vielen Verträgen darf man rauchen?", "boolean", "Darf man rauchen?", ""),
        ("Welche Studien berichten eine Hazard Ratio unter 0,8?", "number", "Hazard Ratio?", "< 0.8"),
        ("Dans combien de contrats peut-on sous-louer ?", "boolean", "Peut-on sous-louer ?", ""),
        ("Quels rapports indiquent un taux inférieur à 5 % ?", "number", "Taux ?", "< 5"),
        ("¿En cuántos contratos se puede subarrendar?", "boolean", "¿Se puede subarrendar?", ""),
        ("¿Qué estudios muestran una tasa de más de 5 %?", "number", "¿Tasa?", "> 5"),
    ],
)  # fmt: skip
def test_a_question_to_all_becomes_one_to_each(question: str, kind: str, asked: str, condition: str) -> None:
    (column,) = columns_for(question)
    assert (column.kind, column.question, column.condition) == (kind, asked, condition)


def test_what_a_sum_is_grouped_by_is_a_second_column() -> None:
    amount, group = columns_for("Sum of capital expenditure 2018 by company")
    assert (amount.kind, amount.question) == ("money", "What is the capital expenditure 2018?")
    assert (group.kind, group.question) == ("text", "Which company is this?")
    amount, group = columns_for("Somme des dépenses 2018 par société")
    assert (amount.question, group.question) == ("Dépenses 2018 ?", "Société ?")


@pytest.mark.parametrize("question", ["?", "below 5", "Which papers", "in which", "x" * 3000])
def test_an_odd_question_still_has_a_column_that_can_be_edited(question: str) -> None:
    assert len(columns_for(question)) == 1
