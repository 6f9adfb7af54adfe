"""Citations after their document was read anew or replaced."""

from __future__ import annotations

import threading

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile

from chat.answers import question_commands
from chat.answers.runner import claim_next
from chat.answers.write_answer import AnswerContext, write_answer
from chat.citations.stored_citations import citation_picture
from chat.models import Citation, Conversation
from documents.files.page_pictures import PictureFailed
from documents.ingestion.pipeline import ingest_document
from documents.models import Document
from tests.chat.conftest import PAGE_1, PAGE_2, QUESTION
from tests.drawing import draw_pdf

pytestmark = pytest.mark.django_db


@pytest.fixture
def cited(alice: User, report: Document, conversation: Conversation) -> Citation:
    """A citation of the anvils on page 1."""
    question_commands.ask(conversation, QUESTION)
    answer = claim_next(conversation.pk)
    assert answer is not None
    write_answer(answer, AnswerContext(lambda event: None, threading.Event()))
    return Citation.objects.filter(quote__contains="1,577").earliest("position")


def read_anew(document: Document, *pages: str) -> None:
    """The document's file becomes another one, as when a new version is uploaded."""
    document.file.save("new.pdf", ContentFile(draw_pdf(*pages)))
    Document.objects.filter(pk=document.pk).update(status=Document.Status.UPLOADED, attempts=0)
    assert ingest_document(document.pk)


def test_reading_the_same_file_again_leaves_citations_where_they_are(
    cited: Citation, report: Document
) -> None:
    before = (cited.quote, cited.page_number, cited.rects)
    read_anew(report, PAGE_1, PAGE_2)
    cited.refresh_from_db()
    assert cited.durability == "same" and cited.unit is not None
    assert (cited.quote, cited.page_number) == before[:2]
    assert cited.rects == [pytest.approx(rect, abs=0.1) for rect in before[2]]


def test_words_that_stand_on_another_page_now_are_followed(cited: Citation, report: Document) -> None:
    read_anew(report, "A page that was put before all others and says little.", PAGE_1, PAGE_2)
    cited.refresh_from_db()
    assert cited.durability == "moved" and cited.page_number == 2
    assert cited.unit is not None and cited.unit.page_number == 2 and cited.rects


def test_words_that_say_something_else_now_are_told_as_changed(cited: Citation, report: Document) -> None:
    read_anew(report, PAGE_1.replace("1,577", "2,001"), PAGE_2)
    cited.refresh_from_db()
    assert cited.durability == "changed" and "1,577" in cited.quote
    assert cited.unit is not None and "2,001" in cited.unit.content and cited.rects == []


def test_words_that_are_nowhere_any_more_are_told_as_gone(cited: Citation, report: Document) -> None:
    read_anew(report, PAGE_2)
    cited.refresh_from_db()
    assert cited.durability == "gone" and cited.unit is None and "1,577" in cited.quote
    assert cited.rects == [] and cited.unit_rects == []
    with pytest.raises(PictureFailed):
        citation_picture(cited)
