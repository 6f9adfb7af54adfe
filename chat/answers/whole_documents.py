"""Answer questions on a whole document with a model: notes on each part, then an answer from their citations.

This is map and reduce within the budget ``CHAT_DOCUMENT_TOKENS``. The parts contain the beginnings of all
sections before the rest of any. The user sees the number of parts and tokens before the first is sent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from uuid import UUID

from django.conf import settings

from chat.answers.context import AnswerSources, context_item
from chat.answers.prompt import RULES, ContextItem, Turn, passage_lines, prompt_for, rules_for, token_estimate
from chat.answers.without_model.question import analyse
from chat.citations.source_units import Sources, load_sources
from chat.providers.base import (
    NO_USAGE,
    Cancellation,
    Cancelled,
    NativeCitation,
    Provider,
    ProviderLimits,
    TakenBack,
    TextDelta,
    Usage,
    stream_with_retries,
)
from chat.providers.context_window import room_for
from documents.models import CitationUnit
from retrieval.query.scope import Scope

MOST_DOCUMENTS = 3  # a question on more documents is answered from search results
MOST_UNITS = 5_000
LEAST_PARTS = 2  # a text that fits one prompt is not split
MAP_QUESTION = """\
These passages are part {number} of {count} of the documents. Somebody asked of the whole: “{question}”
Write at most eight short notes on what this part adds to the answer, the most important first, each with \
the citation of its passage. When it adds nothing, write “Nothing.” """
RULES_TOKENS = token_estimate(RULES + MAP_QUESTION) + 40  # of each prompt beside its passages
LEAST_PART_TOKENS = 150  # smaller parts would be more rules than text
NOTES_TOKENS = 400  # an estimate of the notes on one part
CITED = re.compile(r"\[\[cite:(\w+)")
MARKER = re.compile(r"\[\[cite:[^\]]*\]\]")


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """The parts of whole documents that a question will read.

    Attributes:
        tokens: estimate of the prompts of all parts and of the answer's.
        left_out: passages beyond the budget.
    """

    parts: tuple[tuple[ContextItem, ...], ...]
    tokens: int
    limit: int
    left_out: int
    sources: Sources

    def progress(self, number: int) -> str:
        """Return the budget and the progress of reading, for people."""
        left = f"; {self.left_out:,} passages are left out" if self.left_out else ""
        budget = f"about {self.tokens:,} tokens of at most {self.limit:,} in all{left}"
        return f"Reading part {number} of {len(self.parts)} of the whole document ({budget})…"


def reading_plan(question: str, scope: Scope, provider: Provider) -> ReadingPlan | None:
    """Return the plan for a question on the scope's whole documents; None for a specific question."""
    if scope.narrows_chunks or not analyse(question).topic:
        return None
    documents = list(scope.documents().values_list("pk", flat=True)[: MOST_DOCUMENTS + 1])
    if not 0 < len(documents) <= MOST_DOCUMENTS:
        return None
    return plan_of(documents, settings.CHAT_DOCUMENT_TOKENS, part_tokens(provider))


def part_tokens(provider: Provider) -> int:
    """Return the tokens of passages that a prompt of the provider takes beside all else."""
    return max(room_for(provider) - RULES_TOKENS, LEAST_PART_TOKENS)


def plan_of(documents: Sequence[UUID], limit: int, prompt_tokens: int) -> ReadingPlan | None:
    """Split into parts of at most ``prompt_tokens``; None if one part suffices, or none fits the budget."""
    units = CitationUnit.objects.filter(document__in=documents).exclude(unit_type="heading")
    rows = list(units.order_by("document", "position").values_list("pk", flat=True)[:MOST_UNITS])
    sources = load_sources(rows, with_neighbours=False)
    passages = [context_item(sources, unit.id, at, 0) for at, unit in enumerate(sources.shown, 1)]
    costs = {passage.alias: token_estimate(passage_lines(passage)) for passage in passages}
    room = limit
    while room > 0:
        kept = within_budget(passages, costs, room)
        parts = parts_of(kept, costs, prompt_tokens)
        tokens = sum(costs[passage.alias] for passage in kept) + prompt_tokens
        tokens += RULES_TOKENS * (len(parts) + 1) + NOTES_TOKENS * len(parts)
        if len(parts) < LEAST_PARTS:
            return None
        if tokens <= limit:
            return ReadingPlan(parts, tokens, limit, len(passages) - len(kept), sources)
        room = min(room, sum(costs.values())) - (tokens - limit)
    return None


def parts_of(
    passages: Sequence[ContextItem], costs: Mapping[str, int], tokens: int
) -> tuple[tuple[ContextItem, ...], ...]:
    """Split the passages, in order, into parts of at most ``tokens``."""
    parts: list[list[ContextItem]] = [[]]
    size = 0
    for passage in passages:
        size += costs[passage.alias]
        if size > tokens and parts[-1]:
            parts.append([])
            size = costs[passage.alias]
        parts[-1].append(passage)
    return tuple(map(tuple, parts))


def within_budget(
    passages: Sequence[ContextItem], costs: Mapping[str, int], tokens: int
) -> list[ContextItem]:
    """Select passages within the budget: the beginnings of all sections before the rest of any."""
    seen: Counter[tuple[str, tuple[str, ...]]] = Counter()
    depth: dict[str, int] = {}
    for passage in passages:
        section = passage.unit.document, passage.unit.section_path
        depth[passage.alias] = seen[section]
        seen[section] += 1
    kept: set[str] = set()
    for passage in sorted(passages, key=lambda passage: depth[passage.alias]):
        tokens -= costs[passage.alias]
        if tokens < 0:
            break
        kept.add(passage.alias)
    return [passage for passage in passages if passage.alias in kept]


def read_whole(
    question: str,
    plan: ReadingPlan,
    provider: Provider,
    limits: ProviderLimits,
    cancelled: Cancellation,
    before_part: Callable[[int], None],
    room: int = 0,
) -> AnswerSources:
    """Return the passages cited by the notes on the parts, with the notes and their tokens.

    ``before_part`` is called with the number of each part; ``room``: tokens of the passages returned, 0 is
    those of a prompt. Raises ProviderError, Cancelled.
    """
    notes: list[str] = []
    cited: list[list[ContextItem]] = []
    spent = NO_USAGE
    for number, part in enumerate(plan.parts, 1):
        before_part(number)
        if cancelled.is_set():
            raise Cancelled
        asked = MAP_QUESTION.format(number=number, count=len(plan.parts), question=question)
        written, aliases, usage = "", dict[str, None](), NO_USAGE
        prompt = prompt_for(asked, part, system=rules_for(room_for(provider)))
        for delta in stream_with_retries(provider, prompt, limits, cancelled):
            match delta:
                case TextDelta(text):
                    written += text
                case TakenBack():
                    written = ""
                case NativeCitation(alias):
                    aliases[alias] = None
                case Usage():
                    usage = delta
        aliases |= dict.fromkeys(CITED.findall(written))
        of_part = {passage.alias: passage for passage in part}
        cited.append([of_part[alias] for alias in aliases if alias in of_part])
        notes.append(f"Part {number}: {MARKER.sub('', written).strip()}")
        spent = Usage(spent.input_tokens + usage.input_tokens, spent.output_tokens + usage.output_tokens)
    read = cited if any(cited) else [list(part) for part in plan.parts]
    room = room or max(part_tokens(provider) - sum(map(token_estimate, notes)), LEAST_PART_TOKENS)
    return reduced(question, read, notes, plan, spent, room)


def reduced(
    question: str,
    cited: Sequence[Sequence[ContextItem]],
    notes: Sequence[str],
    plan: ReadingPlan,
    spent: Usage,
    tokens: int,
) -> AnswerSources:
    """Return the cited passages within ``tokens`` in reading order with new aliases, one at least.

    The first of each part have priority.
    """
    kept: list[ContextItem] = []
    for passage in filter(None, chain.from_iterable(zip_longest(*cited))):
        cost = token_estimate(passage_lines(passage))
        if cost <= tokens or not kept:
            tokens -= cost
            kept.append(passage)
    kept.sort(key=lambda passage: int(passage.alias[1:]))
    shown = tuple(replace(passage, alias=f"u{at}") for at, passage in enumerate(kept, 1))
    plan.sources.shown = [passage.unit for passage in shown]
    turns = (Turn("user", f"Take notes on: {question}"), Turn("assistant", "\n\n".join(notes)))
    return AnswerSources(shown, plan.sources, turns=turns, spent=spent)
