from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from chat.answers.answer_builder import AnswerBuilder
from chat.answers.persistence import save_progress
from chat.models import Citation, Conversation, Message
from tests.conftest import Ingest


@pytest.mark.django_db(transaction=True)
def test_a_draft_that_two_threads_save_at_once_is_saved_once(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "The quick brown fox.")
    conversation = Conversation.objects.create(owner=alice)
    message = Message.objects.create(conversation=conversation, position=1, role="assistant")
    nothing: Any = None
    draft = AnswerBuilder(message.pk, nothing)
    draft.citations = [
        Citation(message=message, number=1, position=at, document=document, page_number=1, verdict="exact")
        for at in range(40)
    ]
    together = threading.Barrier(4)

    def save() -> None:
        together.wait()
        try:
            save_progress(draft)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        for saved in [threads.submit(save) for _ in range(4)]:
            saved.result()
    assert message.citations.count() == 40
