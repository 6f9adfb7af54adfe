"""What a document says of itself: read from its pages, shown and edited, and said to questions on it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.answers.without_model.answer import answer_without_model
from chat.answers.without_model.evidence import find_evidence
from chat.providers.base import NativeCitation, TextDelta
from documents.ingestion.facts import BY_NAME, RULES, Fact, Rule, facts_asked
from documents.models import Document
from retrieval.query.scope import Scope
from tests.conftest import Ingest

LETTER = (
    "Quay Boats GmbH · Hafenweg 3\nInvoice number: QB-17\nBremen, May 4, 2031",
    "The boats are built in the yard by the canal, and sold to members of the club.\n"
    "“We build slowly,” said Ada Quay, president and chief executive officer.",
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_reads_its_example_and_nothing_from_what_looks_alike(rule: Rule) -> None:
    assert rule.says in [value for _kind, value in rule.read(rule.true, "en")]
    assert list(rule.read(rule.false, "en")) == []


@pytest.fixture
def letter(alice: User, ingested: Ingest) -> Document:
    return ingested(alice, *LETTER, name="letter.pdf")


def test_facts_are_read_with_the_words_that_state_them(letter: Document) -> None:
    found = {(fact["kind"], fact["value"]): fact for fact in letter.facts}
    assert ("number", "QB-17") in found and ("date", "May 4, 2031") in found
    officer = found["officer", "Ada Quay, president and chief executive officer"]
    assert (officer["page"], officer["quote"]) == (2, "Ada Quay")


def test_people_who_share_a_short_name_are_each_a_party() -> None:
    lease = "This lease is made between Quay Ltd (“Landlord”) and Ada Tarn and Eva Lind (together “Tenant”)."
    parties = [value for _kind, value in BY_NAME["parties"].read(lease, "en")]
    assert parties == ["Quay Ltd", "Ada Tarn", "Eva Lind"]


def test_no_fact_is_said_where_documents_state_different_ones(
    letter: Document, alice: User, ingested: Ingest
) -> None:
    other = ingested(alice, "Tarn Boats GmbH · Kai 9\nInvoice number: TB-4", name="other.pdf")
    both = find_evidence("What is the invoice number?", Scope(alice, document_ids=(letter.pk, other.pk)))
    one = find_evidence("What is the invoice number?", Scope(alice, document_ids=(other.pk,)))
    assert not both.notes.facts and [fact.value for fact in one.notes.facts] == ["TB-4"]


def test_authors_above_an_abstract_are_named_without_the_marks_of_their_places(
    alice: User, ingested: Ingest
) -> None:
    paper = (
        "# Harbours of the North\n\n\nAda Quaya, Ben Tarnb and Eva Linda,b\n\n"
        "aBremen University bInstitute of Boats\n\n"
        "Abstract: Harbours silt up. We measured how fast they do, and what dredging costs."
    )
    assert ingested(alice, paper, name="paper.pdf").authors == ["Ada Quay", "Ben Tarn", "Eva Lind"]


def test_a_department_before_an_office_is_no_person(alice: User, ingested: Ingest) -> None:
    report = ingested(
        alice,
        "Our supply of timber is bought through a long chain of dealers.",
        "Supply Chain, Senior Vice President\n\nBen Tarn, Vice President",
        name="report.pdf",
    )
    officers = [fact["value"] for fact in report.facts if fact["kind"] == "officer"]
    assert officers == ["Ben Tarn, Vice President"]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Who is the CEO?", "Ada Quay, president and chief executive officer"),
        ("Who is the president of Quay Boats?", "Ada Quay, president and chief executive officer"),
        ("What is the invoice number?", "QB-17"),
    ],
)
def test_a_question_on_the_document_itself_is_answered_from_its_facts(
    letter: Document, alice: User, question: str, value: str
) -> None:
    found = find_evidence(question, Scope(alice, document_ids=(letter.pk,)))
    deltas = list(answer_without_model(question, found.passages, found.notes))
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    assert text.startswith(f"- {value}\n")
    assert any(isinstance(delta, NativeCitation) and delta.quote for delta in deltas)


def test_an_office_is_known_by_its_initials_and_not_by_a_part_of_another() -> None:
    facts = [
        Fact("officer", "Ben Tarn, Vice President", 1, "Ben Tarn"),
        Fact("officer", "Ada Quay, Chief Executive Officer", 1, "Ada Quay"),
    ]
    assert facts_asked("Who is the CEO?", "en", facts) == facts[1:]
    assert facts_asked("Who is the president?", "en", facts) == []
    publisher = [Fact("organisation", "Quay Ltd", 1, "Quay Ltd")]
    assert facts_asked("Who wrote this guide?", "en", publisher) == publisher
    assert facts_asked("Who swims in the lake?", "en", facts) == []
    dated = [Fact("date", "2020-09-07", 1, "Date 2020-09-07")]
    assert facts_asked("On what date was this issue published?", "en", dated) == dated
    assert facts_asked("Was this issue published by a university?", "en", dated) == []


def test_a_name_in_the_metadata_that_no_page_prints_is_no_author(alice: User, ingested: Ingest) -> None:
    import pymupdf

    made = pymupdf.open()
    made.new_page().insert_text((72, 90), "A handbook of boats, in which Ada Quay is the author.")
    for author, authors in (("WIN7", []), ("EDGAR Online", []), ("Ada Quay", ["Ada Quay"])):
        made.set_metadata({"author": author})
        document = ingested(alice, pdf=bytes(made.tobytes()), name=f"{author}.pdf")
        assert document.authors == authors, author


def test_facts_are_shown_and_edited(letter: Document, alice: User, client: Client) -> None:
    client.force_login(alice)
    shown = client.get(reverse("document-details", args=[letter.pk])).content.decode()
    assert "QB-17" in shown and "?page=1&amp;q=" in shown
    place = reverse("document-metadata", args=[letter.pk])
    wrong = client.post(place, {"title": "Letter", "facts": "Colour: green"})
    assert wrong.status_code == 422 and "Organisation" in wrong.content.decode()
    client.post(place, {"title": "Letter", "facts": "Number: QB-17\nParty: Tarn Ltd"})
    letter.refresh_from_db()
    kept = {fact["value"]: fact["page"] for fact in letter.facts}
    assert kept == {"QB-17": 1, "Tarn Ltd": 0} and letter.metadata["facts_edited"]
