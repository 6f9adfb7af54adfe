"""Write the answer to a question: search, prompt, stream, verify, store."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from django.conf import settings
from django.db import connection
from django.utils.translation import gettext, ngettext

from chat.answers.answer_builder import AnswerBuilder
from chat.answers.context import (
    ABOUT_REGION,
    ANSWER_SEARCH,
    NOT_SEEN,
    AnswerSources,
    added_to,
    find_context,
    has_documents,
    pictures_of,
    question_on_region,
    recall_context,
    scope_of,
    standalone_question,
    units_of_region,
    with_units_first,
)
from chat.answers.events import ContextSource, DoneEvent, Event, FailedEvent, SourcesEvent, StatusEvent
from chat.answers.message_presenters import done_event, shown_messages
from chat.answers.persistence import fail, finish, seconds_since
from chat.answers.prompt import (
    ContextItem,
    Prompt,
    Turn,
    prompt_for,
    prompt_tokens,
    room_for_passages,
    rules_for,
    within_budget,
)
from chat.answers.question_commands import cited_numbers
from chat.answers.whole_documents import read_whole, reading_plan
from chat.answers.without_model.answer import NAME as EXTRACTIVE
from chat.answers.without_model.evidence import find_evidence
from chat.answers.without_model.question import analyse
from chat.citations.model_judge import configured_judge
from chat.models import Message
from chat.providers.base import (
    NO_USAGE,
    Cancellation,
    Cancelled,
    Delta,
    NativeCitation,
    Progress,
    Provider,
    RepetitionGuard,
    Shortened,
    StreamEnd,
    TakenBack,
    TextDelta,
    Usage,
    Waiting,
    label,
    stream_with_retries,
)
from chat.providers.context_window import room_for
from chat.providers.registry import helper_of, language_model, limits_of, provider_named
from citing.foreign_markers import AnswerDecoder
from citing.marker_decoder import CitationMark, stored_marks, without_markers
from citing.marker_decoder import Text as TextMark
from documents.ingestion.leases import retry_until_available
from documents.ingestion.recognition import pages_left
from documents.translation import translated
from retrieval.provider_calls import ProviderError
from retrieval.query.scope import Scope
from retrieval.results import RagConfig, SearchRecord

# An incomplete answer as its model wrote it, to be continued.


def started_text(content: str, passages: Sequence[ContextItem]) -> str:
    """Return stored content with this turn's aliases in its markers, without citations of other units."""
    aliases = {passage.unit.id: passage.alias for passage in passages}
    pieces, at = [], 0
    for mark in stored_marks(content):
        alias = aliases.get(mark.unit_id)
        pieces += [content[at : mark.start], f"[[cite:{alias}:{mark.page}]]" if alias else ""]
        at = mark.end
    return "".join([*pieces, content[at:]])


logger = logging.getLogger(__name__)


class TakenOver(Exception):
    """Another process has taken over this answer. Nothing more is stored here."""


Emit = Callable[[Event], None]
CUT_SHORT = {"length": "The answer hit the length limit.", "refused": "The model declined to continue."}
WROTE_NOTHING = "The model wrote no answer. Ask again, or choose another model."
NOTHING_TO_SEARCH = "There is no document to search yet. Add one, or wait until it is indexed."


@dataclass(slots=True)
class AnswerContext:
    """Callbacks and settings of one answer being written.

    Attributes:
        emit: takes each event as it happens.
        cancelled: may be set at any time by any thread.
        on_draft: called with the draft before its first word, so that it can be saved while it grows.
        before_end: called before the answer's row is marked as ended, when only ``done`` is left to emit;
            raises TakenOver when another process has taken over.
        provider: writes the answer; None is the conversation's own.
        before_model: called after the searches, before the provider writes.
        before_check: called after the provider has finished, before the claims are checked.
        spent: tokens of notes on a whole document, taken before the answer.
    """

    emit: Emit
    cancelled: threading.Event
    on_draft: Callable[[AnswerBuilder], None] = lambda draft: None
    before_end: Callable[[], None] = lambda: None
    provider: Provider | None = None
    before_model: Callable[[], None] = lambda: None
    before_check: Callable[[], None] = lambda: None
    spent: Usage = NO_USAGE


def write_answer(answer: Message, writing: AnswerContext) -> None:
    """Write and store the pending answer, or its failure. ``done`` is always the last event.

    Raises TakenOver where ``before_end`` does.
    Called without an open transaction: the database connection is given back
    while the model writes.
    """
    start = time.monotonic()
    try:
        _write(answer, writing, start)
    except TakenOver:
        raise
    except Cancelled:
        _fail(answer, writing, "Stopped.")
    except ProviderError as error:
        writing.emit(FailedEvent(translated(error.message), error.permanent))
        _fail(answer, writing, error.message)
    except Exception:
        logger.exception("answer %s failed", answer.pk)
        message = "Something went wrong on the server. Try again."
        writing.emit(FailedEvent(translated(message), permanent=False))
        _fail(answer, writing, message)
    writing.emit(retry_until_available(lambda: final_event(answer)))


def final_event(answer: Message) -> DoneEvent:
    """Return the last event, from the stored answer."""
    answer.refresh_from_db()
    return done_event(answer)


def _fail(answer: Message, writing: AnswerContext, error: str) -> None:
    writing.before_end()
    retry_until_available(lambda: fail(answer, error))


def _write(answer: Message, writing: AnswerContext, start: float) -> None:
    provider = writing.provider or provider_named(answer.conversation.provider, answer.conversation.model)
    draft, prompt = retry_until_available(lambda: prepare(answer, provider, writing))
    compose(draft, provider, prompt, writing, start)


def prepare(answer: Message, provider: Provider, writing: AnswerContext) -> tuple[AnswerBuilder, Prompt]:
    """Read all that the model needs from the database. Raises ProviderError, Cancelled."""
    history = history_of(answer)
    question = understood_question(answer, provider, history, writing)
    found = found_passages(answer, question, history, provider, writing)
    if not found.passages and not has_documents(scope_of(answer.conversation, answer.conversation.owner)):
        raise ProviderError(NOTHING_TO_SEARCH, permanent=True)
    draft = draft_of(answer, found)
    draft.shows_only = provider.name == EXTRACTIVE
    writing.on_draft(draft)
    turns = (*history, *found.turns)
    pictures: tuple[bytes, ...] = ()
    if (region := answer.question.region) and not provider.is_local:
        pictures = pictures_of(region, answer.conversation.owner) if provider.sees else ()
        question = question_on_region(question, region, found, bool(pictures))
    started = started_text(answer.content, found.passages)
    prompt = prompt_for(question, found.passages, turns, started, rules_for(room_for(provider)))
    return draft, replace(prompt, notes=found.notes, pictures=pictures)


def history_of(answer: Message) -> tuple[Turn, ...]:
    """Return earlier standalone questions and answers, within the token budget."""
    if is_first(answer):
        return ()
    earlier = answer.conversation.messages.filter(position__lt=answer.position - 1).order_by("position")
    turns = [
        Turn(message.role, message.standalone_question or without_markers(message.content))  # type: ignore[arg-type]
        for message in earlier
        if message.content
    ]
    return within_budget(turns, settings.CHAT_HISTORY_TOKENS)


def is_first(answer: Message) -> bool:
    """Return whether this is the conversation's first question."""
    return answer.position < 2


def understood_question(
    answer: Message, provider: Provider, history: tuple[Turn, ...], writing: AnswerContext
) -> str:
    """Return the question rewritten to be understood alone, and store it on its row."""
    asked = answer.question
    question = asked.standalone_question or standalone_question(
        asked.content, history, helper_of(provider), limits_of(provider), writing.cancelled
    )
    if question != asked.standalone_question:
        asked.standalone_question = question
        Message.objects.filter(pk=asked.pk).update(standalone_question=question)
    rewritten = question if question != asked.content else ""
    added = added_to(asked.content, question)
    writing.emit(StatusEvent("searching", gettext("Searching…"), question=rewritten, added=added))
    return question


def found_passages(
    answer: Message, question: str, history: tuple[Turn, ...], provider: Provider, writing: AnswerContext
) -> AnswerSources:
    """Return the passages and emit them. A continued answer keeps the passages it began with."""
    scope = scope_of(answer.conversation, answer.conversation.owner)
    if answer.content and answer.sources:
        found = recall_context(answer.sources)
    else:
        found = searched_passages(answer, question, history, scope, provider, writing)
    sources = [passage.unit.id for passage in found.passages]
    Message.objects.filter(pk=answer.pk).update(
        sources=sources,
        provider=provider.name,
        model=provider.model,
        pages_left=pages_left(scope.documents()),
    )
    count = len(found.passages)
    reading = ngettext("Reading %(count)s passage…", "Reading %(count)s passages…", count) % {"count": count}
    writing.emit(StatusEvent("reading", reading, passages=count))
    writing.emit(SourcesEvent(tuple(context_sources(found))))
    return found


def searched_passages(
    answer: Message,
    question: str,
    history: tuple[Turn, ...],
    scope: Scope,
    provider: Provider,
    writing: AnswerContext,
) -> AnswerSources:
    """Search with the answer's ``rag_config``, and record the search in the history."""
    config = RagConfig.read(answer.rag_config)
    scope = config.filters.narrow(scope)
    options = replace(config.options(ANSWER_SEARCH), record=search_record(answer))
    region = answer.question.region
    inside = units_of_region(region, scope) if region else []
    if region and not inside and not provider.sees:
        raise ProviderError(NOT_SEEN.format(provider=label(provider.name)), permanent=True)
    if provider.name == EXTRACTIVE:
        if inside:
            return recall_context([str(pk) for pk in inside])
        return find_evidence(question, scope, options)
    if not region and (plan := reading_plan(question, scope, provider)):
        give_back_connection()

        def report_progress(part: int) -> None:
            writing.emit(StatusEvent("reading", plan.progress(part), tokens=plan.tokens))

        found = read_whole(question, plan, provider, limits_of(provider), writing.cancelled, report_progress)
        writing.spent = found.spent
        return found
    helper = language_model(provider, writing.cancelled)
    asked = question + (ABOUT_REGION if region else "")
    room = room_for_passages(room_for(provider), asked, history)
    found = find_context(question, scope, provider.passages, room, helper, options)
    return with_units_first(found, inside, room) if inside else found


def search_record(answer: Message) -> SearchRecord:
    """Return the record of a search, with the answer's id and, for a follow-up, the answer before."""
    earlier = answer.conversation.messages.filter(
        position__lt=answer.position, role=Message.Role.ASSISTANT
    ).order_by("position")
    before = None if is_first(answer) else earlier.values_list("pk", flat=True).last()
    return SearchRecord("chat", "follow_up" if before else "question", answer.pk, before)


MOST_SOURCES = 60  # the extractive answerer reads more passages than are worth listing


def context_sources(found: AnswerSources) -> Iterator[ContextSource]:
    for passage in found.passages[:MOST_SOURCES]:
        unit = passage.unit
        yield ContextSource(
            unit.id, unit.document, unit.title, unit.page, passage.section, unit.type, unit.text[:300]
        )


def draft_of(answer: Message, found: AnswerSources) -> AnswerBuilder:
    """Return an empty draft, or that of the incomplete answer to continue."""
    numbers = {} if is_first(answer) and not answer.content else cited_numbers(answer.conversation_id, answer)
    asked = analyse(answer.question.content)
    draft = AnswerBuilder(answer.pk, found.sources, numbers, question=asked.text, is_open=asked.is_open)
    if answer.content:
        seen = shown_messages([answer])[0]
        draft.begin_with(answer.content, list(answer.citations.all()), list(seen.citations))
    return draft


def compose(
    draft: AnswerBuilder, provider: Provider, prompt: Prompt, writing: AnswerContext, start: float
) -> None:
    """Stream, decode, check and store the answer. Text written before a failure is kept."""
    if provider.is_local:
        writing.emit(StatusEvent("writing", gettext("Writing…")))
    else:
        writing.emit(waiting_status(Waiting(0, prompt_tokens(prompt), Progress())))
    if not provider.is_local:
        give_back_connection()
    writing.before_model()
    usage: dict[str, float] = {}
    status, error = Message.Status.COMPLETE, ""
    try:
        for event in drafted(draft, provider, prompt, writing.cancelled, usage):
            writing.emit(event)
    except Cancelled:
        status, error = Message.Status.INCOMPLETE, "Stopped."
    except ProviderError as failure:
        written = bool(without_markers(draft.content).strip())
        status = Message.Status.INCOMPLETE if written else Message.Status.FAILED
        error = failure.message
        writing.emit(FailedEvent(failure.message, failure.permanent, can_continue=written))
    writing.before_check()
    if status == Message.Status.COMPLETE and provider.name != "extractive":
        check(draft, provider, writing)
    for name, tokens in asdict(writing.spent).items():
        if tokens:
            usage[name] = usage.get(name, 0) + tokens
    writing.before_end()
    retry_until_available(lambda: finish(draft, status, error, usage | {"seconds": seconds_since(start)}))


def waiting_status(waiting: Waiting) -> StatusEvent:
    """Return what the model does before its first word, and for how long."""
    progress = waiting.progress
    if not waiting.is_connected:
        text = gettext("Connecting to the model's server…")
    elif progress.thinks:
        text = gettext("The model is thinking…")
    elif progress.read:
        text = gettext("The model has read %(read)s of %(tokens)s tokens…")
    else:
        text = gettext("The model is reading about %(tokens)s tokens…")
    seconds = gettext("%(seconds)s s") % {"seconds": waiting.seconds} if waiting.seconds else ""
    numbers = {"read": f"{progress.read:,}", "tokens": f"{waiting.tokens:,}"}
    return StatusEvent("reading", f"{text % numbers} {seconds}".strip())


def check(draft: AnswerBuilder, provider: Provider, writing: AnswerContext) -> None:
    """Cite uncited claims, and let the judge, if configured, decide claims that no rule could compare.

    A failure leaves the answer as the model wrote it.
    """
    writing.emit(StatusEvent("checking", gettext("Checking…")))
    try:
        for event in draft.complete():
            writing.emit(event)
        if judging := configured_judge(provider, writing.cancelled):
            for event in draft.judge(judging):
                writing.emit(event)
    except Cancelled:
        return
    except Exception:
        logger.exception("answer %s could not be completed", draft.message_id)


def drafted(
    draft: AnswerBuilder,
    provider: Provider,
    prompt: Prompt,
    cancelled: Cancellation,
    usage: dict[str, float],
) -> Iterator[Event]:
    """Add the model's stream to the draft. Raises Cancelled and ProviderError; earlier text is kept."""
    passages = prompt.aliases
    decoder = AnswerDecoder(passages)
    runaway = RepetitionGuard()
    end: StreamEnd | None = None
    is_writing = provider.is_local
    try:
        for delta in stream_with_retries(provider, prompt, limits_of(provider), cancelled):
            if isinstance(delta, TextDelta) and not is_writing:
                is_writing = True
                yield StatusEvent("writing", gettext("Writing…"))
            if isinstance(delta, StreamEnd):
                end = delta  # the usage may follow
            elif isinstance(delta, TakenBack):
                decoder = AnswerDecoder(passages)
                yield from draft.take_back()
                yield StatusEvent("writing", gettext("Writing…"))
            elif provider.name == EXTRACTIVE and isinstance(delta, TextDelta):
                yield from draft.write(delta.text)  # words of documents: "(p. 9)" cites nothing
            else:
                yield from _drafted_delta(draft, delta, decoder, prompt, usage)
            runaway.watch(delta)
    finally:
        is_whole = end == StreamEnd()
        marks = decoder.flush(is_whole)
        remaining = [event for mark in marks for event in _drafted_mark(draft, mark, prompt)]
    yield from remaining
    if end and end.reason != "stop":
        raise ProviderError(CUT_SHORT[end.reason], permanent=end.reason == "refused")
    if not draft.content.strip():  # it called a tool, or only thought
        raise ProviderError(WROTE_NOTHING)


def _drafted_delta(
    draft: AnswerBuilder, delta: Delta, decoder: AnswerDecoder, prompt: Prompt, usage: dict[str, float]
) -> Iterator[Event]:
    match delta:
        case TextDelta(text):
            for mark in decoder.decode(text.replace("\x00", "").replace("\r", "")):
                yield from _drafted_mark(draft, mark, prompt)
        case NativeCitation(alias, quote, block, is_passage, before):
            for mark in decoder.flush():
                yield from _drafted_mark(draft, mark, prompt)
            if is_passage:
                yield from draft.cite_passage(prompt.aliases[alias].unit, quote, before)
                return
            yield from _drafted_mark(draft, CitationMark(alias, None, quote), prompt)
            if block and (passage := prompt.aliases.get(alias)):
                draft.cite_block(passage.unit, block)
        case Waiting():
            yield waiting_status(delta)
        case Shortened(left_out):
            usage["left_out"] = left_out
            yield StatusEvent(
                "reading", gettext("The prompt is too long for this model, so it gets fewer passages…")
            )
        case Usage(input_tokens, output_tokens):
            usage.update(input_tokens=input_tokens, output_tokens=output_tokens)


def _drafted_mark(draft: AnswerBuilder, mark: TextMark | CitationMark, prompt: Prompt) -> Iterator[Event]:
    if isinstance(mark, TextMark):
        yield from draft.write(mark.text)
    elif passage := prompt.aliases.get(mark.alias):
        yield from draft.cite(passage.unit, mark.quote)


def give_back_connection() -> None:
    """Close this thread's database connection; the next query opens another."""
    if not connection.in_atomic_block:
        connection.close()
