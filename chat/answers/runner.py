"""Write answers in background threads, independent of the requests that read them.

``start_next`` claims the first pending answer of a conversation and writes it in a thread, then the next.
``LiveAnswer`` keeps the events in memory for readers in this process. One thread writes the events of all
answers to the database twice a second, for readers in other processes and for after a crash. No database
connection is held while a model writes.

A process that ends hands its answers over (``hand_over``); another process continues them (``take_up``), and
its readers lose no event.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Value
from django.utils import timezone
from django.utils.translation import get_language, override

from chat.answers.answer_builder import AnswerBuilder
from chat.answers.events import Event, encode
from chat.answers.persistence import (
    DEAD_AFTER,
    notice_dead,
    release,
    release_dead_answers,
    save_progress,
    written_here,
)
from chat.answers.pool import computed_or
from chat.answers.write_answer import AnswerContext, TakenOver, write_answer
from chat.models import Citation, Message, StreamEvent
from chat.providers.registry import provider_named
from documents.ingestion.leases import retry_until_available
from documents.shared_state import announce
from retrieval.provider_calls import ProviderError

# A semaphore that is fair to users.


@dataclass(slots=True)
class FairSlots:
    """A semaphore with ``at_once`` slots: a free one goes to the user who holds the fewest, else in turn."""

    at_once: int
    _inside: list[Slot] = field(default_factory=list)
    _waiting: list[Slot] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    nobody_waits: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.nobody_waits.set()

    def request(self, user: int, start: Callable[[Slot], None] = lambda slot: None) -> Slot:
        """Join the queue. ``start`` is called once, with the slot; see ``Slot``."""
        turn = Slot(self, user, start)
        with self._lock:
            self._waiting.append(turn)
            self._grant()
        return turn

    def hand_over(self, left: Slot) -> None:
        """Take a slot or a request back, and give the free slot to the next user."""
        with self._lock:
            (self._inside if left.granted else self._waiting).remove(left)
            self._grant()

    def _grant(self) -> None:
        if self._waiting and len(self._inside) < self.at_once:
            held = Counter(slot.user for slot in self._inside)
            turn = min(self._waiting, key=lambda slot: held[slot.user])
            self._waiting.remove(turn)
            self._waiting.sort(key=lambda slot: slot.user == turn.user)  # the others of this user go last
            self._inside.append(turn)
            turn.grant()
        (self.nobody_waits.clear if self._waiting else self.nobody_waits.set)()


class Slot:
    """One request for a slot. It starts its work when it is granted, or when ``start`` is called before.

    ``release`` it once, granted or not.
    """

    def __init__(self, queue: FairSlots, user: int, start: Callable[[Slot], None]) -> None:
        self._queue = queue
        self.user = user
        self._start = start
        self._started = threading.Lock()
        self._granted = threading.Event()
        self._left = False

    @property
    def granted(self) -> bool:
        return self._granted.is_set()

    def grant(self) -> None:
        self._granted.set()
        self.start()

    def start(self) -> None:
        if self._started.acquire(blocking=False):
            self._start(self)

    def wait(self, given_up: Callable[[], bool] = lambda: False, look: float = 0.5) -> None:
        """Return when the slot is granted, or when ``given_up`` returns true."""
        while not self._granted.wait(look) and not given_up():
            pass

    def release(self) -> None:
        if not self._left:
            self._left = True
            self._queue.hand_over(self)


logger = logging.getLogger(__name__)
SAVE_SECONDS, MOST_SAVE_SECONDS = 0.5, 5.0  # an answer counts as dead after 20 s without an event
EVENTS_KEPT = timedelta(days=1)
TAKE_UP_SECONDS = 2.0  # between two searches for answers without a writer
TAKEN_UP_AT_ONCE = 20  # conversations per poll and process
HAND_OVER_SECONDS = 3.0  # for an answer's writer to stop
OWN_WORK_AT_ONCE = 4  # two are in the pool, one computes, one asks the database
CHECK_PATIENCE = 30.0  # seconds that the checks of a written answer wait for the searches of others
RECORDER_SHARE = 0.1  # of the time, at most, that saving all live answers takes
SEARCHES_AT_ONCE = 6  # these may also wait for a model that rewrites the question


class Numbered(NamedTuple):
    """One event of a stream: its sequence number from 1, its kind, its JSON."""

    sequence: int
    kind: str
    data: str


class LiveAnswer:
    """The events of an answer that is being written in this process, for any number of readers.

    ``earlier``: the events of the process that wrote the answer before.
    """

    def __init__(self, message_id: UUID, earlier: Iterable[Numbered] = ()) -> None:
        self.message_id = message_id
        self.cancelled = threading.Event()
        self.taken_over = False
        self.turn: Slot | None = None
        self.draft: AnswerBuilder | None = None
        self._events: list[Numbered] = list(earlier)
        self._saved = len(self._events)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._save_lock = threading.Lock()
        self._wakers: set[Callable[[], None]] = set()

    def emit(self, event: Event) -> None:
        with self._lock:
            self._events.append(Numbered(len(self._events) + 1, event.kind, encode(event)))
            wakers = list(self._wakers)
        for wake in wakers:
            wake()

    def adopt(self, events: list[Numbered]) -> None:
        """Take all events from the process that wrote the answer, which has stored them."""
        with self._lock:
            self._events, self._saved = events, len(events)

    def end(self) -> None:
        with self._lock:
            self._ended.set()
            wakers = list(self._wakers)
        for wake in wakers:
            wake()

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds``. Return whether the answer has ended."""
        return self._ended.wait(seconds)

    def after(self, sequence: int) -> tuple[list[Numbered], bool]:
        """Return the events after ``sequence``, and whether these are the last."""
        with self._lock:
            return self._events[sequence:], self._ended.is_set()

    def listen(self) -> tuple[asyncio.Event, Callable[[], None]]:
        """Return an asyncio event that is set at each change, and a function that stops that."""
        loop, happened = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            try:
                loop.call_soon_threadsafe(happened.set)
            except RuntimeError:  # the event loop has ended, and its listeners with it
                self._wakers.discard(wake)

        with self._lock:
            self._wakers.add(wake)
        return happened, lambda: self._wakers.discard(wake)

    def cancel(self) -> None:
        """Stop writing; an answer that waits for its turn ends at once."""
        self.cancelled.set()
        if self.turn:
            self.turn.start()

    def leave(self) -> None:
        """Stop writing, because another process has taken over. Earlier events are still stored."""
        self.taken_over = True
        self.cancel()

    def save(self) -> bool:
        """Write new events to the database, one caller at a time. Return whether there were any."""
        with self._save_lock:
            with self._lock:
                new = self._events[self._saved :]
            if not new:
                return False
            if self.draft is not None:
                save_progress(self.draft)
            StreamEvent.objects.bulk_create(
                (
                    StreamEvent(message_id=self.message_id, sequence=n, kind=kind, data=Value(data))
                    for n, kind, data in new
                ),
                ignore_conflicts=True,  # with events of a writer that was declared dead
            )
            self._saved += len(new)
            return True


PROCESS = uuid4()  # the writer of this process's answers
_shutting_down = threading.Event()  # this process starts no more answers
_live: dict[UUID, LiveAnswer] = {}
_live_lock = threading.Lock()
# Work of this machine's processors: answers without a model, and searches before a model writes. More at once
# would delay all of them.
_own_work = FairSlots(OWN_WORK_AT_ONCE)
_searches = FairSlots(SEARCHES_AT_ONCE)
_models = FairSlots(settings.CHAT_ANSWERS_AT_ONCE)
_recorder: threading.Thread | None = None


def live_answer(message_id: UUID) -> LiveAnswer | None:
    """Return the answer's events if this process writes it."""
    with _live_lock:
        return _live.get(message_id)


def store_cited(citation_id: UUID) -> None:
    """Store the live answer with this citation, which a reader asks for before the recorder has run."""
    with _live_lock:
        writing = [(answer, answer.draft) for answer in _live.values()]
    for answer, draft in writing:
        if draft and any(citation.pk == citation_id for citation in list(draft.citations)):
            answer.save()


def cancel_live(message_id: UUID) -> None:
    """Stop an answer that this process writes. Other processes read the flag on its row."""
    if live := live_answer(message_id):
        live.cancel()


def start_next(conversation_id: UUID) -> Message | None:
    """Begin to write the conversation's first unfinished answer, unless one is being written already.

    Safe to call at any time from any process: one of them gets the answer.
    """
    answer = None if _shutting_down.is_set() else claim_next(conversation_id)
    if answer is None:
        return None
    earlier = StreamEvent.objects.filter(message=answer).order_by("sequence") if answer.takeovers else ()
    live = LiveAnswer(answer.pk, (Numbered(event.sequence, event.kind, event.data) for event in earlier))
    with _live_lock:
        _live[answer.pk] = live
        written_here.add(answer.pk)
    queue = _own_work if is_local(answer) else _searches
    language = get_language()

    def write(turn: Slot) -> None:
        args = (language, answer, live, turn)
        threading.Thread(target=_write_in, args=args, name=f"answer-{answer.pk}", daemon=True).start()

    live.turn = queue.request(answer.conversation.owner_id, write)
    if live.cancelled.is_set():  # meanwhile
        live.cancel()
    _record()
    return answer


def claim_next(conversation_id: UUID) -> Message | None:
    """Return the conversation's first pending answer, now ours to write.

    None when no answer waits, while another is being written, and when another process got it.
    """
    unfinished = Message.objects.filter(conversation=conversation_id).unfinished().order_by("position")
    for answer in unfinished.select_related("conversation__owner"):
        notice_dead([answer])
        if answer.status == Message.Status.PENDING:
            return answer if _claim(answer) else None
        if answer.status == Message.Status.STREAMING:
            return None
    return None


@transaction.atomic
def _claim(answer: Message) -> bool:
    """Claim a pending answer for this process. Return False when another process was faster.

    An answer without a model whose writer died is written again from the start.
    """
    asked_again, content = bool(answer.alive_at), answer.content
    written_anew = not asked_again and answer.takeovers and content and is_local(answer)
    answer.status, answer.alive_at, answer.writer = Message.Status.STREAMING, timezone.now(), PROCESS
    answer.content = "" if written_anew else content
    pending = Message.objects.filter(pk=answer.pk, status=Message.Status.PENDING)
    if not pending.update(
        status=answer.status, alive_at=answer.alive_at, writer=PROCESS, content=answer.content
    ):
        return False
    if asked_again:  # its reader reads from the beginning
        StreamEvent.objects.filter(message=answer).delete()
    elif written_anew:
        Citation.objects.filter(message=answer).delete()
    return True


def hand_over(seconds: float = HAND_OVER_SECONDS) -> int:
    """Release this process's answers to other processes before it ends. Return their number."""
    _shutting_down.set()
    with _live_lock:
        answers = list(_live.values())
    for answer in answers:
        answer.leave()
    give_up_at = time.monotonic() + seconds
    for answer in answers:
        answer.wait(max(0.0, give_up_at - time.monotonic()))
    left = release(Message.objects.filter(pk__in=[answer.message_id for answer in answers], writer=PROCESS))
    announce(str(answer.message_id) for answer in answers)
    if left:
        logger.warning("%s answers were left before their last words were stored", left)
    return len(answers)


def take_up(stop: threading.Event) -> None:
    """Until ``stop``, write answers whose process has ended or was killed."""
    pause = TAKE_UP_SECONDS
    while not stop.wait(pause):
        pause = TAKE_UP_SECONDS
        try:
            release_dead_answers()
            for conversation_id in waiting_conversations():
                start_next(conversation_id)
        except DatabaseError:
            logger.warning("answers could not be looked for", exc_info=True)
            pause = DEAD_AFTER.total_seconds()  # live writers could not report in the meantime either
        finally:
            connection.close()


def waiting_conversations() -> list[UUID]:
    """Return conversations with a pending answer and none being written, new questions excepted."""
    since = timezone.now() - timedelta(seconds=TAKE_UP_SECONDS)
    waiting = Message.objects.filter(status=Message.Status.PENDING, created_at__lt=since).exclude(
        conversation__in=Message.objects.filter(status=Message.Status.STREAMING).values("conversation")
    )
    return list(waiting.order_by().values_list("conversation", flat=True).distinct()[:TAKEN_UP_AT_ONCE])


def is_local(answer: Message) -> bool:
    """Return whether this machine's processors write the answer. False for an unknown provider."""
    try:
        return provider_named(answer.conversation.provider, answer.conversation.model).is_local
    except ProviderError:
        return False


def _write_in(language: str | None, answer: Message, live: LiveAnswer, turn: Slot) -> None:
    """Write the answer. Messages are in the ``language`` of the page that asked."""
    with override(language):
        _write(answer, live, turn)


def _write(answer: Message, live: LiveAnswer, turn: Slot) -> None:
    """Write the answer when its turn comes. Where a model writes, others may search meanwhile."""
    turns = [turn]

    def wait_for_model() -> None:
        if not is_local(answer):
            turns.append(_models.request(turn.user))
            turn.release()
            turns[-1].wait(live.cancelled.is_set)

    def let_others_search() -> None:
        """Let searches go before checks: the wait for the first word matters most."""
        if not is_local(answer):
            _searches.nobody_waits.wait(CHECK_PATIENCE)

    def follow(draft: AnswerBuilder) -> None:
        live.draft = draft

    def write_here() -> None:
        keep = partial(_keep, answer.pk, live, PROCESS)
        context = (live.emit, live.cancelled, follow, keep, None, wait_for_model, let_others_search)
        write_answer(answer, AnswerContext(*context))

    try:
        if live.cancelled.is_set() or not is_local(answer):
            write_here()
        elif events := computed_or(write_here, written_elsewhere, answer, PROCESS, live.after(0)[0]):
            live.adopt(events)
        live.draft = None  # stored already
        retry_until_available(live.save)
        announce([str(answer.pk)])
    except TakenOver:
        logger.info("answer %s was left to another process", answer.pk)
    except Exception:
        logger.exception("answer %s could not be stored", answer.pk)
    finally:
        for taken in turns:
            taken.release()
        with _live_lock:
            _live.pop(answer.pk, None)
            written_here.discard(answer.pk)
        live.end()
        _go_on(answer.conversation_id)


def written_elsewhere(answer: Message, writer: UUID, earlier: list[Numbered]) -> list[Numbered]:
    """Write an answer without a model in a process of the pool; return its events, which are stored."""
    live = LiveAnswer(answer.pk, earlier)
    if Message.objects.filter(pk=answer.pk, cancel_requested=True).exists():  # while it waited for a process
        live.cancelled.set()
    keep = partial(_keep, answer.pk, live, writer)
    write_answer(answer, AnswerContext(live.emit, live.cancelled, before_end=keep))
    retry_until_available(live.save)
    return live.after(0)[0]


def _keep(pk: UUID, live: LiveAnswer, writer: UUID) -> None:
    """Store all events before the row has the final status, for readers in other processes."""
    own = Message.objects.filter(pk=pk, writer=writer, status=Message.Status.STREAMING)
    if not retry_until_available(own.exists):
        raise TakenOver
    try:
        retry_until_available(live.save)
    except DatabaseError:
        logger.warning("the events of answer %s could not be saved", pk, exc_info=True)
    if live.taken_over:
        retry_until_available(lambda: release(own))
        raise TakenOver


def _go_on(conversation_id: UUID) -> None:
    try:
        retry_until_available(lambda: start_next(conversation_id))
    except DatabaseError:
        logger.exception("the next answer of %s could not be begun", conversation_id)
    finally:
        connection.close()


def _record() -> None:
    """Start the recorder thread if it does not run."""
    global _recorder
    with _live_lock:
        if _recorder is None or not _recorder.is_alive():
            _recorder = threading.Thread(target=_record_all, name="answers-recorder", daemon=True)
            _recorder.start()


def _record_all() -> None:
    """Save all live answers twice a second, or less often where there are many, until none is left.

    Deletes the events of yesterday's.
    """
    global _recorder
    pause, seconds = threading.Event(), SAVE_SECONDS
    try:
        StreamEvent.objects.filter(created_at__lt=timezone.now() - EVENTS_KEPT).delete()
    except DatabaseError:
        logger.warning("old events could not be deleted", exc_info=True)
        connection.close()
    while True:
        pause.wait(seconds)
        with _live_lock:
            answers = list(_live.values())
            if not answers:
                _recorder = None
                break
        began = time.monotonic()
        try:
            _save_all(answers)
        except DatabaseError:
            logger.warning("answers could not be saved yet", exc_info=True)
            connection.close()
        seconds = min(max(SAVE_SECONDS, (time.monotonic() - began) / RECORDER_SHARE), MOST_SAVE_SECONDS)
    connection.close()


def _save_all(answers: Iterable[LiveAnswer]) -> None:
    by_id = {answer.message_id: answer for answer in answers}
    writing = Message.objects.filter(pk__in=by_id, status=Message.Status.STREAMING)
    writing.filter(writer=PROCESS).update(alive_at=timezone.now())
    lost = set(writing.exclude(writer=PROCESS).values_list("pk", flat=True))
    slow = [message_id for message_id in lost if not by_id[message_id].taken_over]
    if slow:  # this process was slow, and not killed: that counts against no answer
        Message.objects.filter(pk__in=slow, takeovers__gt=0).update(takeovers=F("takeovers") - 1)
    saved = []
    for message_id, answer in by_id.items():
        if message_id in lost:
            answer.leave()
        elif answer.save():
            saved.append(str(message_id))
    announce(saved)
    for message_id in writing.filter(cancel_requested=True).values_list("pk", flat=True):
        by_id[message_id].cancel()
