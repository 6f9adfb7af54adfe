"""A hundred questions by one user about facts in another's documents reveal nothing."""

from __future__ import annotations

import random
import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.answers.events import encode
from chat.answers.question_commands import ask, start_conversation
from chat.answers.write_answer import AnswerContext, write_answer
from chat.models import Message
from documents.models import Document
from retrieval.query.scope import Scope
from retrieval.results import SearchOptions, SearchRecord
from retrieval.search import search
from tests.conftest import Ingest

# Tables with content of documents: every statement that reads one must check access.
CONTENT = (
    "documents_page",
    "documents_citationunit",
    "documents_retrievalchunk",
    "retrieval_indexeddocument",
    "retrieval_posting",
    "retrieval_passage",
    "retrieval_chunkvector",
)
FACTS, WRITTEN = 100, 12
chance = random.Random(8)
NAMES = [f"Project {chance.choice('BCDFGKLMNPRST')}{chance.choice('aeiou')}{n:02d}x" for n in range(FACTS)]
CODES = {name: str(chance.randrange(10**7, 10**8)) for name in NAMES}


def hers_and_mine(alice: User, bob: User, ingested: Ingest) -> list[Document]:
    """Alice's files hold a code for each project; Bob's speak of the same projects and hold none."""
    for start in range(0, FACTS, 25):
        lines = [f"The access code of {name} is {CODES[name]}." for name in NAMES[start : start + 25]]
        ingested(alice, "\n\n".join(lines), name=f"codes {start}.pdf")
    lines = [f"The access code of {name} is known to nobody here." for name in NAMES[:25]]
    return [ingested(bob, "\n\n".join(lines), "Projects have access codes.", name="mine.pdf")]


@pytest.mark.slow
def test_a_hundred_questions_bring_nothing_of_anothers(alice: User, bob: User, ingested: Ingest) -> None:
    mine = {document.pk for document in hers_and_mine(alice, bob, ingested)}
    unguarded, hits = [], 0
    for name in NAMES:
        with CaptureQueriesContext(connection) as captured:
            found = search(
                f"What is the access code of {name}?", Scope(bob), SearchOptions(record=SearchRecord())
            )
        hits += len(found.hits)
        assert {hit.document_id for hit in found.hits} <= mine
        assert CODES[name] not in repr(found)
        unguarded += [sql for sql in statements(captured) if f'"owner_id" = {bob.pk}' not in sql]
    assert hits >= FACTS, "Bob's own pages do answer, so that the searches were real"
    assert not unguarded, unguarded[0]
    (hers,) = {hit.document_id for hit in search(f"access code of {NAMES[0]}", Scope(alice)).hits[:1]}
    assert hers not in mine, "Alice does find it"


def statements(captured: CaptureQueriesContext) -> list[str]:
    return [query["sql"] for query in captured if any(table in query["sql"] for table in CONTENT)]


def test_no_answer_holds_anothers_words(alice: User, bob: User, ingested: Ingest) -> None:
    """Over the whole library, over one's own document, and over another's that was named by its id."""
    mine = hers_and_mine(alice, bob, ingested)
    hers = list(Document.objects.filter(owner=alice))
    for number, name in enumerate(NAMES[:: FACTS // WRITTEN]):
        conversation = start_conversation(bob, [(), mine, hers][number % 3])
        answer = ask(conversation, f"What is the access code of {name}?").answer
        said: list[str] = []
        write_answer(answer, AnswerContext(lambda event: said.append(encode(event)), threading.Event()))  # noqa: B023
        stored = Message.objects.get(pk=answer.pk)
        for code in CODES.values():
            assert code not in "".join(said) and code not in stored.content
        assert not stored.citations.filter(document__in=hers).exists()
