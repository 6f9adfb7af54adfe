"""Plan a search: the user's question, and the filters and further queries derived from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, TypeVar

import msgspec
from django.conf import settings

from retrieval.provider_calls import (
    LanguageModel,
    PendingCall,
    ProviderError,
    Schema,
    closed_object,
    start_call,
)
from retrieval.query.question_terms import Phrase, QueryTerms, analyze_query, readable
from retrieval.query.scope import Scope
from retrieval.ranking.candidate_lists import DERIVED_WEIGHT, NamedQuestion
from retrieval.results import DerivedQuery, StrategyName, Trace
from text.numbers import YEAR_DIGITS, whole_number

# --- Filters and further queries that are derived from a question ---
#
# Filters come from field words (`author:rowe`), from plain phrases ("on page 12", "in table 2", "papers since
# 2019", "by Smith et al.", "in the methods section"), and from a language model. The search drops a filter
# that leaves nothing, and reports it. One call to the model serves all strategies: each reads its own key of
# one JSON object, so a malformed value costs one strategy only.


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters read from a question; names and meanings are those of ``Scope``."""

    chunk_types: tuple[str, ...] = ()
    section_types: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    year_from: int | None = None
    year_to: int | None = None
    page_from: int | None = None
    page_to: int | None = None
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    without_authors: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    without_languages: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stated)

    @property
    def stated(self) -> dict[str, Any]:
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}

    def of_documents(self) -> Filters:
        """Return the filters on documents, without those on their chunks."""
        return replace(self, chunk_types=(), section_types=(), page_from=None, page_to=None)

    def of_chunks(self) -> Filters:
        """Return the filters on chunks: kinds, sections, pages."""
        return Filters(self.chunk_types, self.section_types, page_from=self.page_from, page_to=self.page_to)

    def narrow(self, scope: Scope) -> Scope:
        """Return the scope with these filters, unless the user has set them."""
        return replace(
            scope, **{name: value for name, value in self.stated.items() if not getattr(scope, name)}
        )

    def describe(self) -> dict[str, str]:
        """Return (filter, value) pairs for display."""
        return {
            name: ", ".join(value) if isinstance(value, tuple) else str(value)
            for name, value in self.stated.items()
        }


LISTED = {
    "author": "authors",
    "tag": "tags",
    "language": "languages",
    "section": "section_types",
    "type": "chunk_types",
}
EXCLUDABLE = ("author", "tag", "language")
FIELD = re.compile(rf'(?<!\S)(-?)({"|".join(LISTED)}|year|page):(?:"([^"]+)"|(\S+))', re.I)
FIELD_NAMES = (*LISTED, "year", "page")
LIKE_FIELD = re.compile(r"(?<!\S)-?([^\W\d_]{3,12}):(?=[^\s/])")
ALIKE = 0.75  # least ratio of difflib at which a word is a misspelt name of a field
SPAN = re.compile(r"(\d{1,5})?(-|–|\.\.)?(\d{1,5})?")


def field_words(text: str) -> tuple[str, Filters]:
    """Return the question without its field words, and their filters.

    Examples: ``year:2015-2019 page:3 author:"Ida Rowe" -tag:draft``. Invalid values (``page:cover``) stay in
    the question.
    """
    found: dict[str, Any] = {}

    def read(match: re.Match[str]) -> str:
        excludes, name, value = match[1], match[2].lower(), match[3] or match[4]
        if excludes and name not in EXCLUDABLE:
            return match[0]
        if name in LISTED:
            wanted = value.lower() if name not in ("author", "tag") else value
            key = f"without_{LISTED[name]}" if excludes else LISTED[name]
            found[key] = (*found.get(key, ()), wanted)
            return ""
        span = SPAN.fullmatch(value)
        if not span or not (span[1] or span[3]):
            return match[0]
        bounds = {"from": span[1], "to": span[3] if span[2] else span[1]}
        numbers = {end: whole_number(digits) for end, digits in bounds.items() if digits}
        if None in numbers.values():
            return match[0]
        found.update({f"{name}_{end}": number for end, number in numbers.items()})
        return ""

    return " ".join(FIELD.sub(read, text).split()), Filters(**found)


def misspelt_field(text: str) -> str:
    """Return a word that is nearly the name of a field: ``autor`` of ``autor:pan``; '' without one."""
    words = (match[1] for match in LIKE_FIELD.finditer(text))
    return next((word for word in words if get_close_matches(word.lower(), FIELD_NAMES, 1, ALIKE)), "")


PAGES = re.compile(r"\b(?:on|from|at)\s+(?:page|pages|p\.|pp\.)\s*(\d+)(?:\s*(?:-|–|to|and)\s*(\d+))?", re.I)
TABLE = re.compile(r"\b(?:in|from|see)\s+(?:the\s+)?table(?:\s+\d+)?\b|\btable\s+\d+\b", re.I)
CODE = re.compile(r"\bcode (?:example|sample|block|listing|snippet)s?\b", re.I)
SECTIONS = (
    ("abstract", "abstract"),
    ("introduction", "introduction"),
    ("methods", "methods|methodology|materials and methods"),
    ("results", "results"),
    ("discussion", "discussion"),
    ("conclusion", "conclusion|conclusions"),
    ("references", "references|bibliography"),
)
WORKS = r"(?:papers?|articles?|studies|study|reports?|documents?|publications?|works?|published|written)"
YEAR = rf"({YEAR_DIGITS})"
SINCE = re.compile(rf"\b{WORKS}\s+(?:since|after|from)\s+{YEAR}(?:\s+(?:to|until|-|–)\s+{YEAR})?", re.I)
BEFORE = re.compile(rf"\b{WORKS}\s+(?:before|until|up to)\s+{YEAR}", re.I)
IN_YEAR = re.compile(rf"\b{WORKS}\s+(?:in|of)\s+{YEAR}", re.I)
BETWEEN = re.compile(rf"\b{WORKS}\s+between\s+{YEAR}\s+and\s+{YEAR}", re.I)
AUTHOR = re.compile(r"\b(?:by\s+)?([A-Z][\w'’-]+)(?:\s+(?:and|&)\s+[A-Z][\w'’-]+)?\s+et\s+al\b")


def read_filters(text: str) -> Filters:
    """Return the filters that rules find. Years filter only if they date the document."""
    found: dict[str, Any] = {}
    for part in (_pages(text), _kinds(text), _sections(text), _years(text), _authors(text)):
        found.update(part)
    return Filters(**found)


def _pages(text: str) -> Iterator[tuple[str, Any]]:
    if match := PAGES.search(text):
        first, last = whole_number(match[1]) or 0, whole_number(match[2] or match[1]) or 0
        if 0 < first <= last < 100_000:
            yield "page_from", first
            yield "page_to", last


def _kinds(text: str) -> Iterator[tuple[str, Any]]:
    if TABLE.search(text):
        yield "chunk_types", ("table",)
    elif CODE.search(text):
        yield "chunk_types", ("code",)


# A question of a section and of nothing else: "What methods were used in this study?"
ABOUT_SECTION = (
    r"(?:what|which) (?:{words}) (?:is|are|was|were) (?:used|applied|reported|found|drawn|reached)"
    r"(?: (?:in|by|of) (?:the|this) (?:paper|article|study|report|authors?|work))?\W*"
)


def _sections(text: str) -> Iterator[tuple[str, Any]]:
    for section, words in SECTIONS:
        named = rf"\b(?:in|from) the (?:{words})\b|\bthe (?:{words}) section\b"
        about = ABOUT_SECTION.format(words=words)
        if re.search(named, text, re.I) or re.fullmatch(about, text.strip(), re.I):
            yield "section_types", (section,)
            return


def _years(text: str) -> Iterator[tuple[str, Any]]:
    if match := BETWEEN.search(text):
        yield from (("year_from", int(match[1])), ("year_to", int(match[2])))
    elif match := SINCE.search(text):
        yield "year_from", int(match[1])
        if match[2]:
            yield "year_to", int(match[2])
    elif match := BEFORE.search(text):
        yield "year_to", int(match[1])
    elif match := IN_YEAR.search(text):
        yield from (("year_from", int(match[1])), ("year_to", int(match[1])))


def _authors(text: str) -> Iterator[tuple[str, Any]]:
    if match := AUTHOR.search(text):
        yield "authors", (match[1],)


FILTERS_WANTED = """an object of the filters that the question states, with only these keys, each optional: \
chunk_types (list of: prose, table, list, code, caption), section_types (list of: abstract, introduction, \
methods, results, discussion, conclusion), authors (list of names), year_from, year_to (when the document \
was published, not what it reports), page_from, page_to (numbers)"""


Names = Annotated[
    tuple[Annotated[str, msgspec.Meta(pattern=r"^[^\x00]{1,200}$")], ...], msgspec.Meta(max_length=20)
]
Number = Annotated[int, msgspec.Meta(ge=0, le=100_000)]


class _Written(msgspec.Struct, frozen=True):
    chunk_types: Names = ()
    section_types: Names = ()
    authors: Names = ()
    year_from: Number | None = None
    year_to: Number | None = None
    page_from: Number | None = None
    page_to: Number | None = None


def filters_of(reply: Reply) -> Filters:
    """Return the filters of a model's reply. Raises ProviderError."""
    return Filters(**msgspec.structs.asdict(reply.read("filters", _Written)))


Value = TypeVar("Value")
PROMPT = """Documents will be searched for the question below. Reply with one JSON object and nothing else.
Its keys:
{wanted}

Question: {question}"""


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's JSON object; each value is decoded when it is used."""

    values: Mapping[str, msgspec.Raw]

    def read(self, key: str, kind: type[Value]) -> Value:
        """Return the value of a key. Raises ProviderError if it is absent or of another type."""
        try:
            return msgspec.json.decode(self.values[key], type=kind)
        except (KeyError, msgspec.MsgspecError):
            raise ProviderError(f"The model's {key} could not be read.") from None

    def texts(self, key: str, longest: int) -> list[str]:
        """Return the non-empty texts of a list, cleaned like typed queries. Raises ProviderError."""
        return [text for said in self.read(key, list[str]) if (text := readable(said)[:longest].strip())]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A key of the reply: what is to stand there, in words and as schema."""

    key: str
    words: str
    schema: Schema


def derive(question: str, wanted: Sequence[Wanted], model: LanguageModel) -> Reply:
    """Ask for the keys of ``wanted``. Raises ProviderError."""
    lines = "\n".join(f'"{one.key}": {one.words}' for one in wanted)
    schema = closed_object(**{one.key: one.schema for one in wanted})
    answer = model.complete(PROMPT.format(wanted=lines, question=question), schema)
    written = re.search(r"\{.*\}", answer, re.S)  # models often write text around the object
    try:
        return Reply(msgspec.json.decode(written[0] if written else answer, type=dict[str, msgspec.Raw]))
    except msgspec.MsgspecError:
        raise ProviderError("The model did not reply with JSON.") from None


# HyDE (Gao et al. 2022): search by the vector of a hypothetical answer.

LONGEST_PASSAGE = 2000  # characters
HYPOTHETICAL_PASSAGE = """\
the passage of a document that would answer the question, three sentences at most, in the tone \
of such a document; invent what you do not know, it is only used to find the real one"""


def hypothetical_passage(reply: Reply) -> str:
    """Return HyDE's passage. Raises ProviderError."""
    return readable(reply.read("passage", str))[:LONGEST_PASSAGE]


# Multi-query: the question in other terms.
#
# Synonyms of packs (``retrieval.query.question_terms``) are always used; a language model adds three
# variants.

VARIANTS = 3
LONGEST_VARIANT = 500  # characters
VARIANTS_WANTED = f"""\
a list of {VARIANTS} other ways to ask, for documents that use other words: the terms of the \
documents' own field, spelled-out abbreviations, synonyms; every name, number and year is kept"""


def variants_of(reply: Reply) -> list[str]:
    """Return up to three variants. Raises ProviderError."""
    return reply.texts("variants", LONGEST_VARIANT)[:VARIANTS]


# Decomposition: each part of a compound question is searched separately.

MAX_PARTS = 4
LONGEST_PART = 500  # characters of a part
SENTENCE = re.compile(r"[^?!.]+[?!.]?")
PARTS_WANTED = f"""\
when the question asks for several separate things, a list of at most {MAX_PARTS} questions \
that can each be understood alone; else an empty list"""


def split_question(text: str) -> list[str]:
    """Return the parts that rules find: several questions in a row. [] for one question."""
    parts = [part.strip() for part in SENTENCE.findall(text) if part.endswith("?")]
    return parts[:MAX_PARTS] if len(parts) > 1 else []


def parts_of(reply: Reply) -> list[str]:
    """Return the parts; [] if the question asks for one thing. Raises ProviderError."""
    parts = reply.texts("parts", LONGEST_PART)
    return parts[:MAX_PARTS] if len(parts) > 1 else []


# --- The plan ---

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to search for.

    Attributes:
        questions: the person's own first, then variants and parts.
        invented: HyDE's passage, '' when there is none.
        filters: read from the question itself.
    """

    questions: tuple[NamedQuestion, ...]
    invented: str
    filters: Filters
    derived: tuple[DerivedQuery, ...]

    @property
    def own(self) -> QueryTerms:
        """Return the terms of the user's text."""
        return self.questions[0].question

    @property
    def text(self) -> str:
        return self.own.text

    @property
    def meanings(self) -> list[tuple[str, str, float]]:
        """Return the texts to embed: list name, text, weight."""
        asked = [(f"meaning of {named.name}", named.question.text, named.weight) for named in self.questions]
        invented = [("meaning of an invented answer", self.invented, 1.0)] if self.invented else []
        return [*asked, *invented]

    @property
    def asked(self) -> list[NamedQuestion]:
        """Return the questions for evidence: the question and its parts, not its variants."""
        return [named for named in self.questions if named.weight == 1]

    def with_parts(self, known: Callable[[Phrase], bool]) -> Plan:
        """Return the plan whose questions also look for the parts of their compounds that are ``known``."""
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
    """Return the plan. One call asks the model for everything; late replies are ignored.

    ``read`` analyses the texts of parts and variants.
    """
    reply = _ask(question.text, trace, model)
    variants = _derived("multi_query", variants_of, reply, trace) or []
    parts = _derived("decomposition", parts_of, reply, trace) or _offline_parts(question, trace)
    invented = _derived("hyde", hypothetical_passage, reply, trace) or ""
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


TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
NUMBER_OR_NULL: Schema = {"type": ["integer", "null"]}
FILTERS = closed_object(
    **dict.fromkeys(("chunk_types", "section_types", "authors"), TEXTS),
    **dict.fromkeys(("year_from", "year_to", "page_from", "page_to"), NUMBER_OR_NULL),
)
WANTED: dict[StrategyName, Wanted] = {
    "multi_query": Wanted("variants", VARIANTS_WANTED, TEXTS),
    "decomposition": Wanted("parts", PARTS_WANTED, TEXTS),
    "hyde": Wanted("passage", HYPOTHETICAL_PASSAGE, TEXT),
    "self_query": Wanted("filters", FILTERS_WANTED, FILTERS),
}
"""What a model is asked for by each strategy that it helps."""


def _ask(text: str, trace: Trace, model: LanguageModel | None) -> PendingCall[Reply] | None:
    wanted = [one for name, one in WANTED.items() if trace.wants(name)]
    if model is None or not wanted:
        return None
    return start_call(partial(derive, text, wanted, model), settings.SEARCH_PROVIDER_SECONDS)


def _derived(
    name: StrategyName, read: Callable[[Reply], Answer], asked: PendingCall[Reply] | None, trace: Trace
) -> Answer | None:
    """Return the strategy's part of the reply; None if it is off or unreadable."""
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
    parts = split_question(question.text)
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
            written = filters_of(asked.answer())
    with trace.step("self_query") as step:
        step.ran = True
        read = read_filters(question.text)
        filters = Filters(**{**written.stated, **read.stated})
        step.added = len(filters.stated)
    return filters
