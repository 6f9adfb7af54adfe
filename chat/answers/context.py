"""The context of an answer: the standalone question, and the units found for it."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from uuid import UUID

from django.contrib.auth.models import User

from chat.answers.pool import computed
from chat.answers.prompt import (
    NO_SEARCH_NOTES,
    ContextItem,
    Prompt,
    SearchNotes,
    Turn,
    shown_text,
    token_estimate,
)
from chat.answers.without_model.question import analyse, language_of, opening_words
from chat.citations.source_units import Sources, load_sources
from chat.models import Conversation, Region
from chat.providers.base import NO_USAGE, Provider, ProviderLimits, Usage, reply_text, stream_with_retries
from documents.contents import plain, units_in
from documents.files.page_pictures import PictureFailed, region_picture
from documents.models import Document
from retrieval.provider_calls import LanguageModel, ProviderError
from retrieval.query.question_terms import asking_words, readable
from retrieval.query.scope import Scope
from retrieval.results import Hit, SearchOptions, SearchResult
from retrieval.search import PlannedSearch, finish_search, planned_search
from text.numbers import YEAR_DIGITS
from text.terms import terms_of

# Names in a question: companies, people, places, products.

PERIOD = re.compile(rf"\b(?:FY|CY|Q[1-4]\s*)?{YEAR_DIGITS}\b|\bFY\d{{2}}\b|\bQ[1-4]\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b(?:[A-Z0-9][\w&.'’-]*[A-Za-z][\w&.'’-]*)(?:\s+(?:[A-Z][\w&.'’-]*))*")
_NO_NAME = re.compile(rf"{PERIOD.pattern}|\d+(?:st|nd|rd|th)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s(?:\s+|$)")


def names_in(text: str) -> list[str]:
    """Return capitalised runs inside sentences, each up to its possessive, without years and ordinals."""
    found = [name.rstrip(".,") for match in _NAME.finditer(text) for name in _POSSESSIVE.split(match[0])]
    return [name for name in dict.fromkeys(found) if name and not _NO_NAME.fullmatch(name)]


ANSWER_SEARCH = SearchOptions(limit=24, threshold=0, excerpts=False, off=frozenset({"compression"}))
"""No threshold: a model is shown the nearest passages even of a question that is written badly."""


@dataclass(frozen=True, slots=True)
class AnswerSources:
    """The passages of one question, best first, and the rows that they come from.

    Attributes:
        turns: the model's notes on the parts of a whole document, as turns of the prompt.
        spent: tokens of these notes.
    """

    passages: tuple[ContextItem, ...]
    sources: Sources
    notes: SearchNotes = NO_SEARCH_NOTES
    turns: tuple[Turn, ...] = ()
    spent: Usage = NO_USAGE


def scope_of(conversation: Conversation, user: User) -> Scope:
    """Return the scope in which a conversation's questions are searched."""
    if conversation.scope == Conversation.ScopeKind.DOCUMENTS:
        ids = tuple(conversation.documents.visible_to(user).values_list("pk", flat=True))
        return Scope(user, document_ids=ids)
    if conversation.scope == Conversation.ScopeKind.COLLECTION:
        return Scope(user, collection_id=conversation.collection_id or UUID(int=0))
    return Scope(user)


def find_context(
    question: str,
    scope: Scope,
    count: int,
    tokens: int,
    language_model: LanguageModel | None = None,
    options: SearchOptions = ANSWER_SEARCH,
) -> AnswerSources:
    """Return at most ``count`` units of the best chunks within ``tokens``.

    The units of a chunk that match the question come before the chunk's others, which are left
    out where ``options`` has compression on.
    """
    planned = planned_search(question, scope, options, language_model)
    return computed(_context_of, planned, scope, count, tokens, "compression" in options.off)


def _context_of(
    planned: PlannedSearch | SearchResult, scope: Scope, count: int, tokens: int, whole: bool
) -> AnswerSources:
    result = planned if isinstance(planned, SearchResult) else finish_search(planned)
    ranks = ranked_units(result.hits, whole)
    sources = load_sources(list(ranks)[:count])
    keep_pages(sources, scope)
    return AnswerSources(within(sources, ranks, tokens), sources)


def find_context_of_all(
    questions: Iterable[str], scopes: Iterable[Scope], count: int, tokens: int
) -> AnswerSources:
    """Return the best passages of each question in its scope, interleaved, within ``tokens`` together."""
    each = [
        find_context(question, scope, count, tokens).passages
        for question, scope in zip(questions, scopes, strict=True)
    ]
    ranks: dict[UUID, int] = {}
    for rank, passages in enumerate(zip_longest(*each), start=1):
        for passage in filter(None, passages):
            ranks.setdefault(UUID(passage.unit.id), rank)
    sources = load_sources(list(ranks))
    return AnswerSources(within(sources, ranks, tokens), sources)


ABOUT_REGION = """

The question is about a part of page {page} of “{title}”. {words}{picture}"""
ITS_WORDS = "Passages {first} to {last} are its words: cite them. "
SEEN = "The picture shows it. What only the picture shows may be said without a citation, as seen there."
UNSEEN = "You are not shown its picture: say so where the words do not answer."
NOT_SEEN = (
    "No words were read in this part of the page, and {provider} does not accept images. "
    "Choose a model that does, or ask about the text around it."
)


def units_of_region(region: Region, scope: Scope) -> list[UUID]:
    """Return the units in the region; none if the scope's user may not see its document."""
    visible = Document.objects.visible_to(scope.user).filter(pk=region.document).exists()
    return units_in(region.document, region.page, region.box) if visible else []


def with_units_first(found: AnswerSources, units: Sequence[UUID], tokens: int) -> AnswerSources:
    """Return the sources with these units first, within ``tokens``."""
    ranks = {UUID(passage.unit.id): passage.rank for passage in found.passages}
    sources = load_sources(list(dict.fromkeys([*units, *ranks])))
    return replace(found, passages=within(sources, ranks, tokens), sources=sources)


def pictures_of(region: Region, user: User) -> tuple[bytes, ...]:
    """Return the region's picture; () if the user may not see its document, or it cannot be drawn."""
    document = Document.objects.visible_to(user).filter(pk=region.document).first()
    if document is None:
        return ()
    try:
        return (region_picture(document, region.page, region.box),)
    except PictureFailed:
        return ()


def question_on_region(question: str, region: Region, found: AnswerSources, sees: bool) -> str:
    """Return the question for the model; ``sees``: the model gets the region's picture too."""
    inside = {str(pk) for pk in units_in(region.document, region.page, region.box)}
    aliases = [passage.alias for passage in found.passages if passage.unit.id in inside]
    words = ITS_WORDS.format(first=aliases[0], last=aliases[-1]) if aliases else "No words were read in it. "
    title = Document.objects.values_list("title", flat=True).get(pk=region.document)
    about = {"page": region.page, "title": title, "words": words, "picture": SEEN if sees else UNSEEN}
    return question + ABOUT_REGION.format(**about)


def keep_pages(sources: Sources, scope: Scope) -> None:
    """Keep only units on the scope's pages: a chunk may begin before them or continue after them."""
    last = scope.page_to or sys.maxsize
    sources.shown = [unit for unit in sources.shown if (scope.page_from or 1) <= unit.page <= last]


def recall_context(unit_ids: Sequence[str]) -> AnswerSources:
    """Return the passages of a turn that was begun before, with the same aliases, if they still exist."""
    sources = load_sources(unit_ids)
    places = {unit_id: index for index, unit_id in enumerate(unit_ids, start=1)}
    return AnswerSources(
        tuple(context_item(sources, unit.id, places[unit.id], 0) for unit in sources.shown), sources
    )


def ranked_units(hits: Iterable[Hit], whole: bool = True) -> dict[UUID, int]:
    """Return unit ids with the rank of their chunk, in the order of the prompt.

    ``whole``: include the chunk's units that do not match the question.
    """
    ranks: dict[UUID, int] = {}
    for rank, hit in enumerate(hits, start=1):
        for unit_id in [*hit.best_unit_ids, *(hit.unit_ids if whole else ())]:
            ranks.setdefault(unit_id, rank)
    return ranks


def within(sources: Sources, ranks: dict[UUID, int], tokens: int) -> tuple[ContextItem, ...]:
    """Return the passages in order that fit into ``tokens``; skip longer ones, as shorter ones may follow.

    A heading that was found is left out if another passage has it in its head.
    """
    kept: list[ContextItem] = []
    named = {
        (unit.document, plain(heading))
        for unit in sources.shown
        if unit.type != "heading"
        for heading in unit.section_path
    }
    for unit in sources.shown:
        rank = ranks.get(UUID(unit.id), 0)
        if rank and unit.type == "heading" and (unit.document, plain(unit.text)) in named:
            continue
        cost = token_estimate(shown_text(unit)) + 20
        if cost <= tokens:
            tokens -= cost
            kept.append(context_item(sources, unit.id, len(kept) + 1, rank))
    sources.shown = [passage.unit for passage in kept]
    return tuple(kept)


def context_item(sources: Sources, unit_id: str, number: int, rank: int) -> ContextItem:
    unit, place = sources.units[unit_id], sources.places[unit_id]
    around, below = sources.neighbours(unit), place.heading_below(unit)
    return ContextItem(f"u{number}", unit, place.lines, rank, place.heading, around, below, place.label)


def has_documents(scope: Scope) -> bool:
    """Return whether the scope has a document to search."""
    return Document.objects.filter(pk__in=scope.documents()).searchable().exists()


# Standalone questions: follow-ups with the subject of the conversation added.

REWRITE = """\
Rewrite the person's last question so that it can be understood without the conversation. Keep its language, \
put in the names, years and terms it refers to, and add nothing else. Reply with the question alone."""
LONGEST_REWRITE = 600
NEW_WORDS = 1 / 3  # share of a rewritten question that the conversation does not have; more is an answer
FEW_WORDS = 6  # maximum words of a question without a name that gets names and years from earlier turns
OWN_WORDS = 2  # with fewer words of its own, it repeats the last question for another year or part

_REFERS = re.compile(
    r"\b(it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|then|same|former|latter|"
    r"(?<!are )(?<!is )(?<!was )(?<!were )there|"
    r"previous|above|also|instead|again|more|another|others?)\b|"
    r"^\s*(and|or|but|so|why|how come|what about|how about|what else|compared)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[“\"„«].+[”\"“»]", re.DOTALL)
_POINTS_AHEAD = re.compile(r"\b(this|these)\W*$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w&'’-]*|\d[\d.,]*")


def standalone_question(
    question: str,
    history: Sequence[Turn],
    provider: Provider,
    limits: ProviderLimits,
    cancelled: threading.Event,
) -> str:
    """Return the question with the subject it refers to. Without a reply of the model it is not rewritten."""
    if not history:
        return question
    if provider.rewrites:
        try:
            return rewritten(question, history, provider, limits, cancelled) or carried_over(
                question, history
            )
        except ProviderError:
            pass
    return carried_over(question, history)


def rewritten(
    question: str,
    history: Sequence[Turn],
    provider: Provider,
    limits: ProviderLimits,
    cancelled: threading.Event,
) -> str:
    """Return the model's rewritten question; '' if it is not a single short line of known words.

    Raises ProviderError.
    """
    prompt = Prompt(question, history=tuple(history), system=REWRITE)
    quick = ProviderLimits(min(limits.silence, 20), 30, 1, 0, min(limits.first, 20))
    reply = reply_text(stream_with_retries(provider, prompt, quick, cancelled)).strip().strip('"“”')
    line = readable(reply) if "\n" not in reply and len(reply) <= LONGEST_REWRITE else ""
    if any(line in turn.text for turn in history if turn.role == "assistant"):
        return ""  # a small model repeats an answer
    words, known = set(terms_of(line)), set(terms_of("\n".join([question, *(turn.text for turn in history)])))
    return line if words and len(words - known) <= NEW_WORDS * len(words) else ""


def carried_over(question: str, history: Sequence[Turn]) -> str:
    """Return the question with names, years and terms of the last one, if it depends on that; no model."""
    asked = [turn.text for turn in history if turn.role == "user"]
    if not asked or not leans(question) or analyse(question).topic:
        return question  # a question on the whole document depends on no other
    before = asked[-1]
    carried = [name for name in names_in(before) if name.lower() not in question.lower()]
    if not PERIOD.search(question):
        carried += [year for year in PERIOD.findall(before) if year not in carried]
    own = [word for word in content_words(question) if not PERIOD.fullmatch(word)]
    if len(own) < OWN_WORDS or _REFERS.search(question):
        known = {word.lower() for word in content_words(question)} | {
            word.lower() for name in carried for word in _WORD.findall(name)
        }
        carried += [
            word for word in content_words(before) if word.lower() not in known and not PERIOD.fullmatch(word)
        ]
    return f"{question.rstrip()} ({' '.join(dict.fromkeys(carried))})" if carried else question


def leans(question: str) -> bool:
    """Return whether a question depends on earlier turns: it refers back, or is short and names nothing.

    Words that are quoted are a subject of its own, which "this:" before them and "it" after them refer to.
    """
    if quoted := _QUOTED.search(question):
        before, after = question[: quoted.start()], question[quoted.end() :]
        if len(_WORD.findall(f"{before} {after}")) >= OWN_WORDS:
            return bool(_REFERS.search(_POINTS_AHEAD.sub("", before)))
    is_short = len(_WORD.findall(question)) <= FEW_WORDS and not names_in(question)
    return bool(_REFERS.search(question)) or (is_short and not (opens(question) and content_words(question)))


def opens(question: str) -> bool:
    """Return whether a question begins with a word that asks: "Which pension plans changed?"."""
    first = re.match(r"\W*(\w+)", question.casefold())
    return first is not None and first[1] in opening_words(language_of(question))


def added_to(question: str, standalone: str) -> str:
    """Return what a question was searched with besides its own words; a model's rewriting whole."""
    own = question.rstrip()
    if standalone.startswith(f"{own} (") and standalone.endswith(")"):
        return standalone[len(own) + 2 : -1]
    return "" if standalone == question else standalone


def content_words(text: str) -> list[str]:
    """Return the words of a question without stop words and words that only ask."""
    language = language_of(text)
    asking = asking_words(language)
    return [word for word in _WORD.findall(text) if not asking.issuperset(terms_of(word, language))]
