"""From a question to the passages an answer may cite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User

from chat.models import Conversation
from chat.prompting import NO_NOTES, Notes, Passage, shown_text, token_estimate
from chat.sources import Sources, load_sources
from chat.table_heads import with_column_years
from documents.models import Document
from retrieval.providers.language import LanguageModel
from retrieval.results import Hit, SearchOptions
from retrieval.scope import Scope
from retrieval.search import search

HITS = 24  # chunks asked of search


@dataclass(frozen=True, slots=True)
class Found:
    """The passages of one question, best first, and the rows they were made of."""

    passages: tuple[Passage, ...]
    sources: Sources
    notes: Notes = NO_NOTES


def scope_of(conversation: Conversation, user: User) -> Scope:
    """Where a conversation's questions are searched."""
    if conversation.scope == Conversation.Scope.DOCUMENTS:
        ids = tuple(conversation.documents.visible_to(user).values_list("pk", flat=True))
        return Scope(user, document_ids=ids)
    if conversation.scope == Conversation.Scope.COLLECTION:
        return Scope(user, collection_id=conversation.collection_id or UUID(int=0))
    return Scope(user)


def find_passages(
    question: str, scope: Scope, count: int, tokens: int, language_model: LanguageModel | None = None
) -> Found:
    """At most ``count`` units within ``tokens``, of the best chunks.

    The units of a chunk that match the question come before the chunk's others.
    """
    result = search(question, scope, SearchOptions(limit=HITS, excerpts=False), language_model=language_model)
    ranks = ranked_units(result.hits)
    sources = load_sources(list(ranks)[:count])
    with_column_years(sources)
    return Found(within(sources, ranks, tokens), sources)


def recalled_passages(unit_ids: Sequence[str]) -> Found:
    """The passages of a turn that was begun before, under the same aliases as far as they still exist."""
    sources = load_sources(unit_ids)
    places = {unit_id: index for index, unit_id in enumerate(unit_ids, start=1)}
    return Found(tuple(passage_of(sources, unit.id, places[unit.id], 0) for unit in sources.shown), sources)


def ranked_units(hits: Iterable[Hit]) -> dict[UUID, int]:
    """Unit ids with the rank of their chunk, in the order they are to be shown."""
    ranks: dict[UUID, int] = {}
    for rank, hit in enumerate(hits, start=1):
        for unit_id in [*hit.best_unit_ids, *hit.unit_ids]:
            ranks.setdefault(unit_id, rank)
    return ranks


def within(sources: Sources, ranks: dict[UUID, int], tokens: int) -> tuple[Passage, ...]:
    """Passages in order while they fit; a passage that does not is left out, shorter ones may follow."""
    kept: list[Passage] = []
    for unit in sources.shown:
        cost = token_estimate(shown_text(unit)) + 20
        if cost <= tokens:
            tokens -= cost
            kept.append(passage_of(sources, unit.id, len(kept) + 1, ranks.get(UUID(unit.id), 0)))
    sources.shown = [passage.unit for passage in kept]
    return tuple(kept)


def passage_of(sources: Sources, unit_id: str, number: int, rank: int) -> Passage:
    unit, place = sources.units[unit_id], sources.places[unit_id]
    around, below = sources.neighbours(unit), place.heading_below(unit)
    return Passage(f"u{number}", unit, place.lines, rank, place.heading, around, below)


def has_documents(scope: Scope) -> bool:
    """Whether there is anything to search."""
    return Document.objects.filter(pk__in=scope.documents()).searchable().exists()
