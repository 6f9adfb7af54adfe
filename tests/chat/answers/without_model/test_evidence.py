"""The units a question is answered from, of a really ingested document."""

from __future__ import annotations

import threading

import pytest
from django.contrib.auth.models import User

from chat.answers.context import AnswerSources
from chat.answers.question_commands import ask, start_conversation
from chat.answers.runner import claim_next
from chat.answers.without_model.answer import answer_without_model
from chat.answers.without_model.evidence import find_evidence
from chat.answers.write_answer import AnswerContext, write_answer
from chat.models import Citation, Message
from chat.providers.base import NativeCitation, TextDelta
from citing.marker_decoder import without_markers
from documents.models import Document, Page
from retrieval.query.scope import Scope
from tests.conftest import Ingest

PAGES = (
    "The garden opens at nine and closes at dusk.\nDogs are welcome on a short lead.",
    "The greenhouse holds forty kinds of orchids from Borneo.\nIt is heated by the bakery next door.",
    "Entry costs seven euros for adults.\nChildren under twelve do not pay.",
)


@pytest.fixture
def garden(alice: User, ingested: Ingest) -> Document:
    return ingested(alice, *PAGES, name="garden.pdf")


def found(question: str, document: Document, user: User) -> AnswerSources:
    return find_evidence(question, Scope(user, document_ids=(document.pk,)))


def answer(question: str, document: Document, user: User) -> tuple[str, list[int]]:
    """The answer's text, and the pages it cites in order."""
    evidence = found(question, document, user)
    pages = {passage.alias: passage.unit.page for passage in evidence.passages}
    deltas = list(answer_without_model(question, evidence.passages, evidence.notes))
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    return text, [pages[delta.alias] for delta in deltas if isinstance(delta, NativeCitation)]


def test_a_page_that_is_named_is_answered_from(garden: Document, alice: User) -> None:
    text, pages = answer("What is said on page 2?", garden, alice)
    assert pages[0] == 2 and "orchids" in text


def test_the_first_mention_of_what_is_to_be_defined_is_read(alice: User, ingested: Ingest) -> None:
    walls = "\n".join(f"The wall of house {n} was painted green in 19{n}." for n in range(10, 50))
    rules = ("\n".join(f"Annex {n}, annex {n + at}: sweep the annex." for at in range(40)) for n in range(60))
    pages = [f"{walls}\nThe annex stands by the gate.", *rules]
    guide = ingested(alice, *pages, name="annex.pdf")
    texts = [passage.unit.text for passage in found("What is the annex?", guide, alice).passages]
    assert "The annex stands by the gate." in " ".join(texts)


def test_a_page_that_does_not_exist_and_a_strange_name_are_noted(garden: Document, alice: User) -> None:
    assert found("What is said on page 40 of the guide?", garden, alice).notes.absent == ("page 40",)
    Page.objects.filter(document=garden, number=3).update(label="40")
    assert found("What is said on page 40 of the guide?", garden, alice).notes.absent == ()
    notes = found("How many orchids came from Borneo and Sumatra in 1931?", garden, alice).notes
    assert notes.absent == ("Sumatra", "1931")


def test_absence_knows_forms_of_a_name_and_offers_a_near_spelling(alice: User, ingested: Ingest) -> None:
    page = "The Chief Executive Officer of Netflix signed for Birch GmbH.\nIt has many offices."
    letter = ingested(alice, page, name="letter.pdf")
    assert found("Is the CEO of Birch Inc. in Norway?", letter, alice).notes.absent == ("Norway",)
    assert found("What did “Birch, GmbH” sign?", letter, alice).notes.absent == ()
    notes = found("Who signed for Neflix?", letter, alice).notes
    assert (notes.absent, notes.near) == (("Neflix",), ("Netflix",))
    text, _ = answer("Who signed for Neflix?", letter, alice)
    assert "Not in the document: “Neflix”. Did you mean “Netflix”?" in text


def test_a_document_is_summarised_from_its_sentences_each_cited(garden: Document, alice: User) -> None:
    text, pages = answer("Summarise this document", garden, alice)
    passages = text.count("#### ")
    assert 3 <= passages <= 5 and len(pages) == passages
    assert pages == sorted(pages)
    assert not text.startswith("No direct answer")


def test_a_foreign_question_says_that_the_document_is_in_another_language(
    garden: Document, alice: User
) -> None:
    Document.objects.filter(pk=garden.pk).update(language="en")
    text, _ = answer("Welche Farbe hatte die Kutsche des Gärtners?", garden, alice)
    assert text.startswith("Keine direkte Antwort gefunden.") and "English" in text


def test_a_document_of_no_field_has_no_packs(garden: Document, alice: User) -> None:
    assert found("What are the net sales?", garden, alice).notes.packs == ()


def test_what_looks_like_a_citation_in_a_document_is_shown_as_its_words(
    alice: User, ingested: Ingest
) -> None:
    guide = ingested(alice, "The light of the ferry is behind the cover (p. 9) of the cabin.", name="g.pdf")
    conversation = start_conversation(alice, Document.objects.filter(pk=guide.pk))
    ask(conversation, "Where is the light of the ferry?")
    pending = claim_next(conversation.pk)
    assert pending is not None
    write_answer(pending, AnswerContext(lambda event: None, threading.Event()))
    written = Message.objects.get(pk=pending.pk)
    assert "behind the cover (p. 9) of the cabin" in without_markers(written.content)
    assert set(Citation.objects.filter(message=written).values_list("verdict", flat=True)) == {"found"}


def test_only_a_question_on_the_document_itself_is_answered_with_its_organisation(
    garden: Document, alice: User
) -> None:
    quote = "Dogs are welcome on a short lead."
    garden.metadata["facts"] = [{"kind": "organisation", "value": "Quay Park", "page": 1, "quote": quote}]
    garden.save()
    assert answer("Who wrote this guide?", garden, alice)[0].startswith("- Quay Park")
    assert "- Quay Park" not in answer("Who wrote the survey on orchids?", garden, alice)[0]


def test_the_language_of_a_document_is_called_by_its_own_name(garden: Document, alice: User) -> None:
    Document.objects.filter(pk=garden.pk).update(language="es")
    assert "(español)" in answer("Was kostet der Eintritt für Erwachsene?", garden, alice)[0]


def test_the_parties_are_those_of_the_recital_and_not_the_words_over_the_signatures(
    alice: User, ingested: Ingest
) -> None:
    made = 'This lease is made on 4 May 2031 between Quay Ltd ("Landlord") and Tarn GmbH ("Tenant").'
    first = f"LEASE OF A BOATHOUSE\n{made}"
    last = "IN WITNESS WHEREOF, the parties have signed this lease.\nThe Landlord\nThe Tenant"
    text, pages = answer("Who are the parties?", ingested(alice, first, last, name="lease.pdf"), alice)
    assert "- Quay Ltd" in text and "- Tarn GmbH" in text and pages[0] == 1
    assert "WITNESS" not in text.partition("**")[0]
