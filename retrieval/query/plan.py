"""What will be searched for: the person's question, and what was derived from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from django.conf import settings

from retrieval.provider_calls import LanguageModel, PendingCall, start_call
from retrieval.query import self_query
from retrieval.query.question_terms import Phrase, QueryTerms, analyze_query
from retrieval.query.self_query import Filters, Reply, derive
from retrieval.ranking.candidate_lists import DERIVED_WEIGHT, NamedQuestion
from retrieval.results import DerivedQuery, StrategyName, Trace

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to search for.

    Attributes:
        questions: the person's own first, then variants and parts.
        invented: HyDE's passage, '' when there is none.
        filters: what the question itself says of where to look.
    """

    questions: tuple[NamedQuestion, ...]
    invented: str
    filters: Filters
    derived: tuple[DerivedQuery, ...]

    @property
    def own(self) -> QueryTerms:
        """What the person typed."""
        return self.questions[0].question

    @property
    def text(self) -> str:
        return self.own.text

    @property
    def meanings(self) -> list[tuple[str, str, float]]:
        """What to embed: list name, text, weight."""
        asked = [(f"meaning of {named.name}", named.question.text, named.weight) for named in self.questions]
        invented = [("meaning of an invented answer", self.invented, 1.0)] if self.invented else []
        return [*asked, *invented]

    @property
    def asked(self) -> list[NamedQuestion]:
        """What evidence is weighed against: the question and its parts, not its variants."""
        return [named for named in self.questions if named.weight == 1]

    def with_parts(self, known: Callable[[Phrase], bool]) -> Plan:
        """The plan whose questions also look for the parts of their compounds that are ``known``."""
        questions = tuple(
            replace(named, question=named.question.with_parts(known)) for named in self.questions
        )
        return replace(self, questions=questions)


def plan_search(
    question: QueryTerms,
    trace: Trace,
    model: LanguageModel | None,
    read: Callable[[str], QueryTerms] = analyze_query,
) -> Plan:
    """Asks the model for all it can give in one call, and does without what does not come in time.

    ``read`` understands the texts of parts and variants.
    """
    reply = _ask(question.text, trace, model)
    variants = _derived("multi_query", self_query.variants_of, reply, trace) or []
    parts = _derived("decomposition", self_query.parts_of, reply, trace) or _offline_parts(question, trace)
    invented = _derived("hyde", self_query.hypothetical_passage, reply, trace) or ""
    filters = _filters(question, reply, trace)
    if "multi_query" in trace.off:
        question = replace(question, packs={})
    questions = [
        NamedQuestion("question", question),
        *(NamedQuestion(f"part {at}", read(text)) for at, text in enumerate(parts, 1)),
        *(NamedQuestion(f"variant {at}", read(text), DERIVED_WEIGHT) for at, text in enumerate(variants, 1)),
    ]
    derived = [
        *(DerivedQuery(text, "decomposition") for text in parts),
        *(DerivedQuery(text, "multi_query") for text in variants),
        *([DerivedQuery(invented, "hyde")] if invented else []),
    ]
    return Plan(tuple(questions), invented, filters, tuple(derived))


WANTED: dict[StrategyName, tuple[str, str]] = {
    "multi_query": ("variants", self_query.VARIANTS_WANTED),
    "decomposition": ("parts", self_query.PARTS_WANTED),
    "hyde": ("passage", self_query.HYPOTHETICAL_PASSAGE),
    "self_query": ("filters", self_query.WANTED),
}
"""Strategies that a model helps: the key of its reply, and what is to stand there."""


def _ask(text: str, trace: Trace, model: LanguageModel | None) -> PendingCall[Reply] | None:
    wanted = dict(wish for name, wish in WANTED.items() if trace.wants(name))
    if model is None or not wanted:
        return None
    return start_call(partial(derive, text, wanted, model), settings.SEARCH_PROVIDER_SECONDS)


def _derived(
    name: StrategyName, read: Callable[[Reply], Answer], asked: PendingCall[Reply] | None, trace: Trace
) -> Answer | None:
    """What the strategy reads from the reply; None where it is off, or nothing came that it can read."""
    if name in trace.off:
        return None
    if asked is None:
        trace.skip(name, trace.no_model)
        return None
    with trace.step(name) as step:
        answer = read(asked.answer())
        step.added = 1 if isinstance(answer, str) else len(answer)  # type: ignore[arg-type]
        return answer
    return None


def _offline_parts(question: QueryTerms, trace: Trace) -> list[str]:
    if "decomposition" in trace.off:
        return []
    parts = self_query.split_question(question.text)
    if parts:
        with trace.step("decomposition") as step:
            step.ran, step.added = True, len(parts)
    return parts


def _filters(question: QueryTerms, asked: PendingCall[Reply] | None, trace: Trace) -> Filters:
    if "self_query" in trace.off:
        return Filters()
    written = Filters()
    if asked is not None:
        with trace.step("self_query"):
            written = self_query.filters_of(asked.answer())
    with trace.step("self_query") as step:
        step.ran = True
        read = self_query.read_filters(question.text)
        filters = Filters(**{**written.stated, **read.stated})
        step.added = len(filters.stated)
    return filters
