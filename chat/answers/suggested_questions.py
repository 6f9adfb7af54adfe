"""Suggest questions about a document, each of which has a direct answer.

A question is made from a part of the document: a section, a row, a fact, a label and its value. It is
suggested only if the answer without a model cites that part.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import Min, QuerySet, Sum
from django.db.models.functions import Length
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from chat.answers.prompt import ContextItem, looks_like_injection
from chat.answers.without_model.answer import answer_without_model
from chat.answers.without_model.evidence import find_evidence, stated_facts, topic_units
from chat.answers.without_model.question import (
    Topic,
    language_of,
    message,
)
from chat.citations.source_units import load_sources
from chat.providers.base import NativeCitation, TextDelta
from citing.tables import read_tables
from documents.ingestion.facts import Fact
from documents.models import CitationUnit, Document
from documents.models.document import DocumentQuerySet
from retrieval.query.scope import Scope
from text.languages import base_language, language_data
from text.terms import one_line

MOST = 4
MOST_TRIED = 8  # of one document; each costs what an answer costs
MOST_READ = 600  # units of a kind that are read for candidates
OF_ONE_KIND = 3  # candidates
KEPT_SECONDS = 24 * 3600
LOOKED_AT = 8  # newest documents of a library
LONGEST_LABEL = 45  # characters
ENOUGH_PROSE = 250  # characters of a section; less follows a form's name, an address or a cover's caption
SHORT_CLAUSE = 60  # the same, where fewer than MOST sections have enough: a lease of short clauses
FEWEST_CLAUSES = 3  # of a document of short clauses; an invoice has one text under its table
LABELLED = re.compile(  # a line "Due date: 8 June", a row of one value; of joined lines, capital to colon
    r"^(?P<whole>[^\W\d_][^:：\t]+?)(?:\s*[:：]\s*|\t)(?=\D{0,20}\d)[^:：\t]{1,40}$"
    r"|(?:^|\s)(?P<part>[^\W\d_a-z]\w*(?: [a-zß-ÿ]\w*){0,3})[:：]\s(?=\D{0,20}\d)"
)
SAYS_NOTHING = re.compile(
    "|".join(line for line in language_data("en", "headings.txt").splitlines() if line[0] != "#"), re.I
)
NUMBERING = re.compile(
    r"^\s*((item|part|section|chapter|note|article|artikel|abschnitt|§+)\s+)?"
    r"([\dIVX]+([.):][\dIVX]+)*[.):]?\w?[.):]?|[A-Z](\.\d+)+\.?)(\s*[—–]\s*|\s+)",
    re.I,
)
ADDRESS = re.compile(r"\d{5}|^\d+ .*,")  # a postcode, house number or file number


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, and the number of characters of prose directly under it."""

    heading: str
    prose: int


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question, and the place its answer must cite; '' for any place.

    Attributes:
        units: ids of units, one of which must be cited.
        section: a heading above the cited unit.
    """

    question: str
    units: tuple[str, ...] = ()
    section: str = ""

    def is_cited(self, cited: Sequence[ContextItem]) -> bool:
        """Return whether the passages hold what is asked about."""
        return any(
            passage.unit.id in self.units
            if self.units
            else not self.section or any(self.section in one_line(part) for part in passage.unit.section_path)
            for passage in cited
        )


# --- Of one document ---


def direct_questions(document: Document, user: User) -> list[str]:
    """Return up to four questions that the answerer without a model answers directly, of unlike kinds.

    They are cached until the document is indexed again.
    """
    given = document.metadata.get("questions") or []
    key = sha256(f"{document.pk} {document.indexed_at} {get_language()} {given}".encode()).hexdigest()
    if (known := cache.get(f"direct-questions-{key}")) is None:
        tried = ([Suggestion(str(question)) for question in given] or suggestions(document))[:MOST_TRIED]
        direct = (suggested.question for suggested in tried if is_direct(suggested, document, user))
        known = list(itertools.islice(direct, MOST))
        cache.set(f"direct-questions-{key}", known, KEPT_SECONDS)
    return list(known)


def suggestions(document: Document) -> list[Suggestion]:
    """Return what may be asked, in the document's language where the interface has it.

    One question of each kind in turn, then those about sections alone.
    """
    own = base_language(document.language)
    spoken = (code for code, _name in settings.LANGUAGES if base_language(code) == own)
    with override(next(spoken, get_language())):
        return _suggestions(document)


def _suggestions(document: Document) -> list[Suggestion]:
    """Return what may be asked, in the language that is set."""
    kinds = (
        topic_questions(document),
        questions_in_headings(document),
        value_questions(document),
        fact_questions(document),
    )
    rounds = itertools.zip_longest(*(kind[:OF_ONE_KIND] for kind in kinds))
    mixed = [suggested for turn in rounds for suggested in turn if suggested]
    of_short = [] if informative_of(document, 0) else labelled_questions(document)[:OF_ONE_KIND]
    sections = informative_of(document, MOST)
    first = Suggestion(_("What is this document about?"))
    asked = [first, *mixed, *of_short, *section_questions(sections)]
    return list({suggested.question: suggested for suggested in asked}.values())


def topic_questions(document: Document) -> list[Suggestion]:
    """Return questions on the whole document that one of its sections answers."""
    asked: dict[Topic, str] = {
        "findings": _("What are the main findings?"),
        "risks": _("What are the main risks?"),
        "obligations": _("What are the main obligations?"),
        "steps": _("What are the main steps?"),
    }
    return [Suggestion(text) for topic, text in asked.items() if topic_units(topic, [document.pk], "en")]


def questions_in_headings(document: Document) -> list[Suggestion]:
    """Return headings that are questions, of more than two words in scripts with spaces."""
    sections = informative_of(document, 0)
    asked = [
        section.heading
        for section in sections
        if section.heading.endswith("？")
        or (section.heading.endswith("?") and len(section.heading.split()) > 2)
    ]
    return [Suggestion(heading, section=heading) for heading in asked]


def section_questions(sections: Iterable[Section]) -> list[Suggestion]:
    """Return questions about informative sections throughout the document."""
    topics = spread([section for section in sections if not section.heading.endswith(("?", "？"))], MOST)
    asked = _("What does the document say about “%(topic)s”?")
    return [Suggestion(asked % {"topic": topic}, section=topic) for topic in topics]


def value_questions(document: Document) -> list[Suggestion]:
    """Return “What was “Net sales” in 2022?” for rows with a value for each of several years.

    A row of that year must be cited: another row of the label may be of another period.
    """
    asked = _("What was “%(label)s” in %(year)s?")
    found: dict[str, list[str]] = defaultdict(list)
    pages = units_of(document, CitationUnit.Type.TABLE).values_list("document", "page_number")
    units = CitationUnit.objects.on_pages(pages).order_by("position")
    rows = load_sources(list(units.values_list("pk", flat=True)), with_neighbours=False).shown
    for unit, cells in read_tables(rows).items():
        years = [str(*cell.period.years) if len(cell.period.years) == 1 else "" for cell in cells]
        is_of_years = all(years) and len(set(years)) == len(years) > 1
        if is_of_years and is_label(cells[0].label) and all(cell.is_certain for cell in cells):
            found[asked % {"label": cells[0].label, "year": max(years)}].append(unit)
    return [Suggestion(question, tuple(ids)) for question, ids in found.items()]


def fact_questions(document: Document) -> list[Suggestion]:
    """Return questions for the parties or authors that the document itself names."""
    facts = {document.pk: msgspec.convert(document.metadata.get("facts") or [], list[Fact])}
    asked = (_("Who are the parties?"), _("Who are the authors?"))
    stated = {question: stated_facts(question, get_language() or "en", facts) for question in asked}
    return [Suggestion(text, tuple(fact.unit for fact in found)) for text, found in stated.items() if found]


def labelled_questions(document: Document) -> list[Suggestion]:
    """Return “What is the “Total due”?” for rows of one value, the last first, and for lines with a label."""
    asked = _("What is the “%(label)s”?")
    types = (CitationUnit.Type.PROSE, CitationUnit.Type.LIST, CitationUnit.Type.TABLE)
    units = units_of(document, *types).values_list("pk", "content")
    matches = [(str(pk), match) for pk, content in units for match in LABELLED.finditer(content)]
    found = [(match["whole"] or match["part"], pk, "\t" in match[0]) for pk, match in matches]
    rows = [own for own in reversed(found) if own[-1]]  # a total is the last row
    mixed = itertools.zip_longest(rows, (own for own in found if not own[-1]))
    named = [own for turn in mixed for own in turn if own and is_label(own[0])]
    return [Suggestion(asked % {"label": label}, (pk,)) for label, pk, _row in named]


def is_label(text: str) -> bool:
    """Return whether a row's first cell names its values: a few words, without numbers; not “Add: Tax”."""
    letters = sum(map(str.isalpha, text)) if ":" not in text[:-1] else 0
    return 6 <= len(text) <= LONGEST_LABEL and letters >= 0.8 * len(text) and not looks_like_injection(text)


def units_of(document: Document, *types: CitationUnit.Type) -> QuerySet[CitationUnit]:
    """Return the document's first units of these types, in reading order."""
    return CitationUnit.objects.filter(document=document, unit_type__in=types).order_by("position")[
        :MOST_READ
    ]


def is_direct(suggested: Suggestion, document: Document, user: User) -> bool:
    """Return whether the document answers the question from its place; cached until it is indexed again."""
    asked = sha256(f"{document.pk} {document.indexed_at} {suggested}".encode()).hexdigest()
    key = f"direct-answer-{asked}"
    if (known := cache.get(key)) is None:
        known = suggested.is_cited(cited_directly(suggested.question, document, user))
        cache.set(key, known, KEPT_SECONDS)
    return bool(known)


def cited_directly(question: str, document: Document, user: User) -> list[ContextItem]:
    """Return the passages that the answer without a model cites; none where it is not direct."""
    found = find_evidence(question, Scope(user, document_ids=(document.pk,)))
    deltas = list(answer_without_model(question, found.passages, found.notes))
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    if text.startswith(message(language_of(question), "none").rstrip(".。")):
        return []
    by_alias = {passage.alias: passage for passage in found.passages}
    return [by_alias[delta.alias] for delta in deltas if isinstance(delta, NativeCitation)]


# --- Of a library ---


def library_questions(documents: DocumentQuerySet, user: User) -> list[str]:
    """Return up to four questions, one per document, about the longest section of the newest documents."""
    newest = documents.searchable().order_by("-created_at")[:LOOKED_AT]
    asked = {own.question: (own, document) for document in newest if (own := question_to(document))}
    fitting = (own.question for own, document in asked.values() if is_direct(own, document, user))
    return list(itertools.islice(fitting, MOST))


def question_to(document: Document) -> Suggestion | None:
    """Return a question to the library that this document answers; None without an informative section.

    A heading of several words says more than one like "Template".
    """
    if given := document.metadata.get("questions"):
        return Suggestion(str(given[0]))
    sections = informative_of(document, 1)
    topics = spread([section for section in sections if " " in section.heading] or sections, 1)
    if not topics or looks_like_injection(document.title):
        return None
    named = {"title": document.title, "topic": topics[0]}
    return Suggestion(_("What does “%(title)s” say about “%(topic)s”?") % named, section=topics[0])


# --- Sections worth asking about ---


def sections_of(document: Document) -> list[Section]:
    """Return the document's sections in reading order."""
    prose = CitationUnit.objects.filter(
        document=document, unit_type__in=(CitationUnit.Type.PROSE, CitationUnit.Type.LIST)
    )
    rows = (
        prose.exclude(section_path=[])
        .values("section_path")
        .annotate(characters=Sum(Length("content")), first=Min("position"))
        .order_by("first")
    )
    return [Section(row["section_path"][-1], row["characters"]) for row in rows]


def informative_of(document: Document, fewest: int) -> list[Section]:
    """Return informative sections; where they are fewer than ``fewest``, also several short ones."""
    facts = document.metadata.get("facts") or []
    own = " ".join([document.title, *(fact["value"] for fact in facts if fact["kind"] == "organisation")])
    found = sections_of(document)
    sections = informative(found, own)
    short = [] if len(sections) >= fewest else informative(found, own, SHORT_CLAUSE)
    return short if len(short) >= FEWEST_CLAUSES else sections


def informative(sections: Iterable[Section], title: str = "", least: int = ENOUGH_PROSE) -> list[Section]:
    """Return sections with a specific heading and enough text, without numbering and duplicates."""
    topics: dict[str, Section] = {}
    for section in sections:
        heading = " ".join(section.heading.split())
        topic = NUMBERING.sub("", heading).strip(" .:–—-[]")
        if (
            section.prose >= least
            and 4 <= len(topic) <= 70
            and re.search(r"[^\W\d_]{4}", topic)
            and not topic.startswith(("(", "（"))  # a qualification of the heading above
            and not SAYS_NOTHING.fullmatch(topic)
            and not ADDRESS.search(heading)
            and not words(topic) <= words(title)
            and not looks_like_injection(heading)
        ):
            topics.setdefault(topic.casefold(), Section(topic, section.prose))
    return list(topics.values())


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def spread(topics: list[Section], most: int) -> list[str]:
    """Divide the sections into ``most`` equal parts, and return the heading of the longest in each."""
    bounds = [round(part * len(topics) / most) for part in range(most + 1)]
    stretches = [topics[start:end] for start, end in itertools.pairwise(bounds)]
    return [max(stretch, key=lambda topic: topic.prose).heading for stretch in stretches if stretch]
