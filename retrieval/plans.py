"""What will be searched for: the person's question, and what was derived from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from django.conf import settings

from retrieval.deadlines import Asked, ask
from retrieval.lists import DERIVED_WEIGHT, NamedQuestion
from retrieval.providers.language import LanguageModel
from retrieval.questions import Question, understand
from retrieval.results import DerivedQuery, StrategyName
from retrieval.strategies import decomposition, hyde, multi_query, self_query
from retrieval.strategies.self_query import Filters
from retrieval.trace import Trace

NO_MODEL = "no language model is configured"
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
    def own(self) -> Question:
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


def plan_search(question: Question, trace: Trace, model: LanguageModel | None) -> Plan:
    """Asks the model for all it can give at once, and does without what does not come in time."""
    asked = _ask_all(question.text, trace, model)
    variants = _answer(asked.variants, "multi_query", trace, [])
    parts = _answer(asked.parts, "decomposition", trace, []) or _offline_parts(question, trace)
    invented = _answer(asked.passage, "hyde", trace, "")
    filters = _filters(question, asked.filters, trace)
    if "multi_query" in trace.off:
        question = replace(question, weights=_own(question), phrases=())
    questions = [
        NamedQuestion("question", question),
        *(NamedQuestion(f"part {at}", understand(text)) for at, text in enumerate(parts, 1)),
        *(
            NamedQuestion(f"variant {at}", understand(text), DERIVED_WEIGHT)
            for at, text in enumerate(variants, 1)
        ),
    ]
    derived = [
        *(DerivedQuery(text, "decomposition") for text in parts),
        *(DerivedQuery(text, "multi_query") for text in variants),
        *([DerivedQuery(invented, "hyde")] if invented else []),
    ]
    return Plan(tuple(questions), invented, filters, tuple(derived))


def _own(question: Question) -> dict[str, float]:
    return {term: weight for term, weight in question.weights.items() if term in question.said}


@dataclass(frozen=True, slots=True)
class _AskedAll:
    variants: Asked[list[str]] | None
    parts: Asked[list[str]] | None
    passage: Asked[str] | None
    filters: Asked[Filters] | None


def _ask_all(text: str, trace: Trace, model: LanguageModel | None) -> _AskedAll:
    def started(name: StrategyName, call: Callable[[str, LanguageModel], Answer]) -> Asked[Answer] | None:
        return ask(partial(call, text, model)) if trace.wants(name) and model is not None else None

    return _AskedAll(
        started("multi_query", multi_query.write_variants),
        started("decomposition", decomposition.write_parts),
        started("hyde", hyde.write_passage),
        started("self_query", self_query.write_filters),
    )


def _answer(asked: Asked[Answer] | None, name: StrategyName, trace: Trace, nothing: Answer) -> Answer:
    if asked is None:
        if name not in trace.off:
            trace.skip(name, NO_MODEL)
        return nothing
    with trace.step(name) as step:
        answer = asked.answer(settings.SEARCH_PROVIDER_SECONDS)
        step.added = 1 if isinstance(answer, str) else len(answer)  # type: ignore[arg-type]
        return answer
    return nothing


def _offline_parts(question: Question, trace: Trace) -> list[str]:
    if "decomposition" in trace.off:
        return []
    parts = decomposition.split_question(question.text)
    if parts:
        with trace.step("decomposition") as step:
            step.ran, step.added = True, len(parts)
    return parts


def _filters(question: Question, asked: Asked[Filters] | None, trace: Trace) -> Filters:
    if "self_query" in trace.off:
        return Filters()
    written = Filters()
    if asked is not None:
        with trace.step("self_query"):
            written = asked.answer(settings.SEARCH_PROVIDER_SECONDS)
    with trace.step("self_query") as step:
        step.ran = True
        read = self_query.read_filters(question.text)
        filters = Filters(**{**written.stated, **read.stated})
        step.added = len(filters.stated)
    return filters
