"""A follow-up question takes up the subject of the one before."""

from __future__ import annotations

import threading
from uuid import UUID

import pytest

from chat.answers import context
from chat.answers.context import carried_over, names_in, standalone_question
from chat.answers.prompt import ContextItem, Turn
from chat.citations.source_units import Sources
from chat.providers.base import ProviderLimits
from citing.claims import SourceUnit
from pdf.structure import UnitType
from tests.chat.scripted_provider import Scripted


def test_an_ordinal_is_no_name() -> None:
    assert names_in("How many stores did Ulta have at the end of the 4th quarter?") == ["Ulta"]
    assert names_in("Is 3M older than the 3rd Bank of the Rhine?") == ["3M", "3rd Bank", "Rhine"]


@pytest.mark.parametrize(
    ("question", "standalone"),
    [
        ("What about 2017?", "What about 2017? (Acme capital expenditure)"),
        ("Summarise this document", None),
        ("And dividends?", "And dividends? (Acme 2018 capital expenditure)"),
        ("Which pension plans changed?", None),  # it asks, and names what it asks for
        ("How many employees are there?", None),
        ("Pension plans?", "Pension plans? (Acme 2018)"),
        ("And “net debt”?", "And “net debt”? (Acme 2018 capital expenditure)"),
        ("Explain this: “Net debt fell”", None),
        ("How is “net debt” defined in this document?", None),
        ("“Net debt fell”\nWhy does it matter?", None),
        ("Erkläre dies: „Die Schulden sanken“", None),
        ("Who wrote the survey on RAG?", None),  # it names its own subject
        ("Which five business segments does the company have in the world today?", None),
    ],
)
def test_a_follow_up_takes_up_what_it_leans_on(question: str, standalone: str | None) -> None:
    history = [Turn("user", "What was the capital expenditure of Acme in 2018?"), Turn("assistant", "1,577.")]
    assert carried_over(question, history) == (standalone or question)


@pytest.mark.parametrize(
    ("before", "question", "standalone"),
    [
        ("Wie hoch waren die Abgaben der Gemeinde?", "Und warum?", "Und warum? (Abgaben Gemeinde hoch)"),
        ("¿Cuáles son las tasas del puerto?", "¿Y por qué?", "¿Y por qué? (Cuáles tasas puerto)"),
    ],
)
def test_a_follow_up_takes_up_no_stop_words_of_its_language(
    before: str, question: str, standalone: str
) -> None:
    assert carried_over(question, [Turn("user", before), Turn("assistant", "7.")]) == standalone


def test_a_heading_is_shown_in_the_heads_of_its_passages_and_alone_only_where_it_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unit(name: str, text: str, kind: UnitType, path: tuple[str, ...] = ()) -> SourceUnit:
        return SourceUnit(name * 32, "d", 1, text, 0, (), type=kind, section_path=path)

    units = {
        "a": unit("a", "2. Rent", "heading", ("2. Rent",)),
        "b": unit("b", "The rent is 900 a month.", "prose", ("2. Rent",)),
        "c": unit("c", "3. Deposit", "heading", ("3. Deposit",)),
    }
    monkeypatch.setattr(context, "context_item", lambda sources, pk, n, rank: ContextItem(pk, units[pk[0]]))

    def shown(rank: int) -> str:
        passages = context.within(Sources(list(units.values())), {UUID(n * 32): rank for n in "abc"}, 500)
        return "".join(passage.unit.id[0] for passage in passages)

    assert shown(1) == "bc"
    assert shown(0) == "abc"  # of the part of a page that was asked about, every word


HISTORY = (Turn("user", "How many anvils did Acme sell in 2018?"), Turn("assistant", "It sold 12."))


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        ("How many anvils did Acme sell in 2017?", "How many anvils did Acme sell in 2017?"),
        (
            "Acme is a telephone service which lets its users call for less.",
            carried_over("And 2017?", HISTORY),
        ),
        ("It sold 12.", carried_over("And 2017?", HISTORY)),
    ],
    ids=["a question", "an answer", "the last answer"],
)
def test_a_model_that_answers_instead_of_rewriting_is_not_searched_for(reply: str, question: str) -> None:
    asked = standalone_question(
        "And 2017?", HISTORY, Scripted([reply], rewrites=True), ProviderLimits(), threading.Event()
    )
    assert asked == question
