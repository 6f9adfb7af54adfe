"""Many questions at once are answered in turn, and keep no connections that others need."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat.answers import question_commands, runner
from chat.answers.persistence import DEAD_AFTER, MOST_TAKEOVERS, release_dead_answers
from chat.answers.runner import FairSlots
from chat.models import Conversation, Message
from documents.models import ApiToken, Document
from operations.http import admission
from tests.chat.conftest import QUESTION, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_strangers_who_ask_too_often_are_told_to_wait_and_others_are_not(
    asgi_server: str, signed_in: dict[str, str], alice: User, settings
) -> None:
    settings.RATES = settings.RATES | {"anonymous": "5/min"}
    admission.anonymous_requests.counts.clear()
    with httpx.Client(base_url=asgi_server) as stranger:
        codes = [stranger.get("/api/documents/").status_code for _ in range(8)]
        refused = stranger.get("/accounts/login/")
        assert stranger.get("/healthz").status_code == 200
    assert codes == [401] * 5 + [429] * 3
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    admission.anonymous_requests.counts.clear()
    with httpx.Client(base_url=asgi_server, cookies=signed_in) as friend:
        codes = [friend.get("/api/documents/").status_code for _ in range(12)]
    assert codes == [200] * 12
    admission.anonymous_requests.counts.clear()


def test_turns_come_in_the_order_in_which_they_were_asked_for() -> None:
    turns, began = FairSlots(1), []
    asked = [turns.request(1) for _ in range(20)]

    def work(number: int) -> None:
        asked[number].wait()
        began.append(number)
        asked[number].release()
        asked[number].release()  # a second release does no harm

    threads = [threading.Thread(target=work, args=(number,)) for number in reversed(range(20))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert began == list(range(20))
    assert not turns._inside


def test_who_gives_up_in_the_queue_leaves_it() -> None:
    turns = FairSlots(1)
    first, second, third = turns.request(1), turns.request(1), turns.request(1)
    second.wait(given_up=lambda: True, look=0.01)
    assert not second.granted
    second.release()
    first.release()
    assert third.granted


def test_questions_of_one_user_let_those_of_others_go_first() -> None:
    turns = FairSlots(2)
    mine = [turns.request(1) for _ in range(6)]
    theirs, last = turns.request(2), turns.request(3)
    mine[0].release()
    assert theirs.granted
    assert not mine[2].granted
    mine[1].release()
    assert mine[2].granted, "its user holds no slot, and asked first"
    mine[2].release()
    assert last.granted
    assert not mine[3].granted


@pytest.mark.slow
def test_forty_questions_at_once_are_answered_in_the_order_in_which_they_came(
    asgi_server: str, alice: User, report: Document
) -> None:
    """On 9a9b452 all were written at the same time and ended together."""
    talks = [question_commands.start_conversation(alice, [report], provider="extractive") for _ in range(40)]
    for talk in talks:
        question_commands.ask(talk, QUESTION)
        runner.start_next(talk.pk)
    wait_until(lambda: not Message.objects.unfinished().exists(), 120)
    answers = [talk.messages.get(role="assistant") for talk in talks]
    assert {answer.status for answer in answers} == {"complete"}
    ended = [answer.events.get(kind="done").created_at for answer in answers]
    late = [sum(other < moment for other in ended[place + 1 :]) for place, moment in enumerate(ended)]
    assert max(late) <= 8  # events are saved twice a second, several answers together


def test_callers_that_wait_for_answers_hold_no_connection(
    asgi_server: str, alice: User, report: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More callers wait than there are connections: on 9a9b452 each held one until its answer was there."""
    from operations.postgres.base import connection_limits

    connection_limits.begin(4)
    _, key = ApiToken.objects.issue(alice, "load", ["read", "ask"])
    talks = [question_commands.start_conversation(alice, [report], provider="extractive") for _ in range(16)]

    def ask(talk: Conversation) -> tuple[int, str]:
        path = f"{asgi_server}/api/conversations/{talk.pk}/messages/"
        headers = {"Authorization": f"Bearer {key}"}
        answered = httpx.post(path, json={"question": QUESTION}, headers=headers, timeout=120)
        return answered.status_code, answered.json()["answer"]["status"]

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(ask, talks)) == {(201, "complete")}


@pytest.fixture
def api(alice: User, asgi_server: str) -> httpx.Client:
    _, key = ApiToken.objects.issue(alice, "load", ["read", "write", "ask"])
    return httpx.Client(base_url=asgi_server, headers={"Authorization": f"Bearer {key}"}, timeout=60)


@pytest.fixture
def dead(conversation: Conversation) -> Message:
    """An answer whose last permitted web process was killed while it wrote."""
    answer = question_commands.ask(conversation, QUESTION).answer
    silent = timezone.now() - DEAD_AFTER
    Message.objects.filter(pk=answer.pk).update(
        status="streaming", content="Half of", alive_at=silent, takeovers=MOST_TAKEOVERS
    )
    answer.refresh_from_db()
    return answer


def test_a_dead_answer_is_noticed_by_whoever_reads_or_lists_it(
    dead: Message, api: httpx.Client, client: Client
) -> None:
    path = f"/api/messages/{dead.pk}/"
    assert api.get(path).json()["status"] == "incomplete"
    Message.objects.filter(pk=dead.pk).update(status="streaming", alive_at=timezone.now() - DEAD_AFTER)
    listed = api.get(f"/api/conversations/{dead.conversation_id}/messages/").json()["results"]
    assert [message["status"] for message in listed] == ["complete", "incomplete"]
    assert "stopped" in listed[1]["error"]
    Message.objects.filter(pk=dead.pk).update(status="streaming", alive_at=timezone.now() - DEAD_AFTER)
    client.force_login(dead.conversation.owner)
    page = client.get(f"/conversations/{dead.conversation_id}/").content.decode()
    assert "The server was stopped while it wrote this answer." in page


def test_a_dead_answer_can_be_retried_and_continued_at_once(dead: Message, api: httpx.Client) -> None:
    assert api.post(f"/api/messages/{dead.pk}/retry/").status_code == 202
    wait_until(lambda: not Message.objects.unfinished().exists() and runner.live_answer(dead.pk) is None)
    Message.objects.filter(pk=dead.pk).update(
        status="streaming", alive_at=timezone.now() - DEAD_AFTER, takeovers=MOST_TAKEOVERS
    )
    assert api.post(f"/api/messages/{dead.pk}/continue/").status_code == 202
    wait_until(lambda: not Message.objects.unfinished().exists())


def test_a_dead_answer_that_nobody_reads_is_ended_too(dead: Message) -> None:
    living = question_commands.ask(dead.conversation, "Another?").answer
    Message.objects.filter(pk=living.pk).update(status="streaming", alive_at=timezone.now())
    assert release_dead_answers() == {dead.pk}
    dead.refresh_from_db()
    assert dead.status == "incomplete" and dead.content == "Half of"
