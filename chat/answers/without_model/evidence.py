"""Select the units from which a question is answered without a model."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

import msgspec
from django.conf import settings
from django.contrib.postgres.aggregates import BoolOr
from django.db.models import Aggregate, Q, QuerySet
from django.db.models.functions import Length

from chat.answers.context import ANSWER_SEARCH, AnswerSources, context_item, keep_pages
from chat.answers.prompt import SearchNotes, StatedFact
from chat.answers.without_model.answer_types import definitions
from chat.answers.without_model.lines import (
    DIGIT,
    AnswerLine,
    distinct_terms,
    is_step,
    is_title,
    units_named,
    unspaced_characters,
)
from chat.answers.without_model.question import (
    NamedPlace,
    QuestionFeatures,
    Topic,
    analyse,
    caption_pattern,
    name_pattern,
    names_of_places,
    words_of,
)
from chat.answers.without_model.ranking import TermWeights
from chat.citations.source_units import load_sources
from documents.ingestion.facts import Fact, facts_asked, kinds_asked
from documents.models import CitationUnit, Document, Page
from documents.models.document import language_name
from domains.items import Item, items_asked, words_known
from retrieval.index.vectors import active_space
from retrieval.query.question_terms import QUOTED
from retrieval.query.scope import Scope
from retrieval.results import Hit, SearchOptions
from retrieval.search import search
from text.languages import base_language
from text.numbers import whole_number
from text.terms import one_line

# Questions on a whole document (summary, findings, risks, obligations, steps), from its structure.

MOST_UNITS_OF_DOCUMENT = 120
FIRST_UNITS = 60  # of a document with hardly any sections
FEWEST_SECTIONS = 5
MORE_OF_HEADING = 5  # characters beside the words of the topic; longer headings name a part of it
WHOLE_SENTENCE = re.compile(r"[^\W\d].*[.!?。！？]\W*$|[\u3040-\u9fff].*", re.S)
LEAST_CHARACTERS = 30  # of a line that can represent others; half of it in scripts without spaces
LARGE_SECTION, LONG_UNIT = 300, 60  # characters
MOSTLY = 0.6  # share of its characters that are letters


def topic_units(topic: Topic, documents: Sequence[UUID], language: str) -> list[UUID]:
    """Return units of the sections on the topic; without such a section, the beginnings of all."""
    return [pk for document in documents for pk in _units_of(topic, document, language)]


def _units_of(topic: Topic, document: UUID, language: str) -> list[UUID]:
    units = CitationUnit.objects.filter(
        document=document, unit_type__in=("prose", "list", "abstract")
    ).order_by("position")
    own = Document.objects.values_list("language", flat=True).get(pk=document) or "en"
    key = "summary" if topic == "about" else topic
    words = [
        word for code in dict.fromkeys((own, language, "en")) for word in words_of(code, "headings")[key]
    ]
    names = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    heads = re.compile(rf"^[\W\d]*(?:\w+\s+\d+\w?\W*|[IVX]+\W+)?(?:{names})\b(?P<more>.{{0,30}})$", re.I)
    more: dict[tuple[str, ...], int] = {}
    for path in {tuple(path) for path in units.values_list("section_path", flat=True) if path}:
        matches = [heads.match(" ".join(part.split())) for part in path]
        if lengths := [len(match["more"]) for match in matches if match]:
            more[path] = min(lengths)
    wanted = [path for path in more if more[path] <= min(more.values()) + MORE_OF_HEADING]
    if wanted:
        found = Q()
        for path in wanted:
            found |= Q(section_path=list(path))
        return list(units.filter(found).values_list("pk", flat=True)[:MOST_UNITS_OF_DOCUMENT])
    return first_of_sections(units) if topic in ("summary", "about") else []


def first_of_sections(units: QuerySet[CitationUnit]) -> list[UUID]:
    """Return the first unit of each large section, in reading order; with few sections, the first units.

    Sections are those of the highest level that has enough of them.
    """
    rows = list(units.values_list("pk", "section_path", Length("content")))
    for depth in range(1, max((len(path) for _, path, _ in rows), default=0) + 1):
        sizes: Counter[tuple[str, ...]] = Counter()
        firsts: dict[tuple[str, ...], UUID] = {}
        for pk, path, size in rows:
            if len(path) >= depth:
                if size >= LONG_UNIT:
                    firsts.setdefault(tuple(path[:depth]), pk)
                sizes[tuple(path[:depth])] += size
        large = [pk for path, pk in firsts.items() if sizes[path] >= LARGE_SECTION]
        if len(large) >= FEWEST_SECTIONS:
            return large[:MOST_UNITS_OF_DOCUMENT]
    return [pk for pk, *_ in rows[:FIRST_UNITS]]


def opening_lines(lines: Sequence[AnswerLine], most: int) -> list[AnswerLine]:
    """Return whole sentences that open a paragraph, in the order of the document.

    Each section gives one before any gives a second.
    """
    long = [line for line in lines if is_long(line.text)]
    whole = [line for line in long if WHOLE_SENTENCE.match(line.text) and not line.text[0].islower()]
    of_units = {line.unit.id: line for line in reversed(whole if len(whole) >= most else long)}
    opening = sorted(of_units.values(), key=lambda line: (line.unit.document, line.unit.page, line.start))
    firsts = list({line.unit.section_path: line for line in reversed(opening)}.values())[::-1]
    chosen = [*firsts, *(line for line in opening if line not in firsts)][:most]
    return [line for line in opening if line in chosen]


def lines_of_section(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> list[AnswerLine]:
    """Return the lines of a named section in order, if none of them has another word of the question.

    Also those of a page, if the question has hardly another word, as "dice": of the page with that number
    printed, and of that in the file.
    """
    called = names_of_places(question.language) if question.places else ()
    words = [word for word in question.words if word.text.lower() not in called]
    asked = {term for word in words for term in word.terms}
    kinds = ("section", "requirement") if len(words) > 1 else ("section", "requirement", "page")
    places = [place for place in question.places if place.kind in kinds]
    there = units_named(places, lines)
    pages = {place.number for place in places if place.kind == "page"}
    own = [line for line in lines if line.unit.id in there]
    own = [line for line in own if not is_title(line)] or (own if pages else [])
    if any(line.terms & asked for line in own):
        return []
    own.sort(key=lambda line: (line.passage.page_label not in pages, line.unit.page, line.start))
    firsts = list({line.unit.page: line for line in reversed(own)}.values()) if pages else []
    return sorted(own, key=lambda line: line not in firsts)


def lines_under_title(
    question: QuestionFeatures, lines: Sequence[AnswerLine], weights: TermWeights
) -> list[AnswerLine]:
    """Return the lines of the first section whose title matches the question, in order; else [].

    “How do I charge the watch?” is answered by the steps under “1.3 Charging your watch”, “What is the
    mission of the museum?” by the first lines under “Mission”. [] also if a line defines the thing.
    """
    is_open = not (question.wants_number or question.places or question.years)
    may_be_titled = is_open and question.kinds & TITLED_KINDS
    if max(definitions(question, lines), default=0.0) == 1.0:
        return []
    sections: dict[tuple[str, ...], list[AnswerLine]] = defaultdict(list)
    for line in lines:
        path = line.unit.section_path
        above = 2 if "how" in question.kinds else 1  # steps may have a heading of their own
        for depth in range(len(path), max(0, len(path) - above), -1):
            title = path[depth - 1]
            named = may_be_titled and is_titled(question, title, line.language, weights)
            if named or is_quoted(question, title):
                sections[line.unit.document, *path[:depth]].append(line)
    if not sections:
        return []
    best = min(sections.values(), key=lambda own: min(line.passage.rank or MOST_UNITS for line in own))
    own = sorted((line for line in best if not is_title(line)), key=lambda line: (line.unit.page, line.start))
    items = []
    if question.kinds & {"how", "list"}:
        steps = "how" in question.kinds
        items = [line for line in own if (is_step(line) if steps else line.unit.type == "list")]
    return items or own[:MOST_UNDER_TITLE]


def is_titled(question: QuestionFeatures, title: str, language: str, weights: TermWeights) -> bool:
    """Return whether a title has all words of a "how" question, or most of another's, names left out."""
    named = {term for term in distinct_terms(title, language) if not term[0].isdigit()}
    if "how" in question.kinds:
        return named.issuperset(question.terms) and len(named) <= len(question.terms) + MOST_BESIDE_TITLED
    plain = [term for word in question.words if not word.is_name for term in word.terms]
    return bool(named) and named.issubset(question.terms) and weights.share(plain, named) >= LEAST_TITLED


def is_quoted(question: QuestionFeatures, title: str) -> bool:
    """Return whether the question quotes a title, with or without its number."""
    own = " ".join(re.findall(r"[^\W\d]\w*", title.casefold()))
    quoted = QUOTED.findall(question.text.casefold())
    return bool(own) and any(" ".join(re.findall(r"[^\W\d]\w*", text)) == own for text in quoted)


def is_long(text: str) -> bool:
    """Return whether a line can represent others: it is long and consists mostly of letters."""
    return (
        len(text) + unspaced_characters(text) >= LEAST_CHARACTERS
        and sum(map(str.isalpha, text)) >= len(text) * MOSTLY
    )


TITLED_KINDS = frozenset({"how", "define", "list"})  # questions that a section may answer by its title
MOST_BESIDE_TITLED = 3  # terms of a title that are not in the question
LEAST_TITLED = 0.5  # share of the weight of the question's words, without names
MOST_UNDER_TITLE = 2  # lines, where there is no list
MOST_UNITS = 400
MOST_UNITS_A_PLACE = 60
MOST_ROWS = 20_000  # read of the near documents for a pack's items
MOST_ITEM_UNITS = 80
FIRST_MENTIONS = 3
MOST_FACTS = 12  # of one document
ENTRY_TYPES = ("list", "table")  # of a glossary: the text begins with the term
MOST_ENTRIES = 6
ONE_LANGUAGE = frozenset({"wordllama"})  # embedding providers that do not match meanings across languages
NEAR_DOCUMENTS = 3  # documents whose named places and whole structure are read


def find_evidence(text: str, scope: Scope, options: SearchOptions = ANSWER_SEARCH) -> AnswerSources:
    """Return units for an answer without a model.

    They come from the best hits, the places the question names, the items that a pack lists for it, and the
    first mentions of a term to define; for questions on the whole document, from the sections on its topic.
    """
    result = search(text, scope, replace(options, spelling=True), language_model=None)
    hits = result.hits
    if scope.narrows_chunks:  # the places that the question names may be elsewhere
        ranks = units_of_hits(hits)
        return _found([*ranks][:MOST_UNITS], ranks, scope)
    documents, spoken, titles, packs, known = near_documents(scope, hits)
    question = analyse(text, spoken)
    if question.topic and (units := topic_units(question.topic, documents, question.language)):
        return _found(units, {})
    ranks = units_of_hits(hits)
    named = [pk for place in question.places for pk in units_at(place, documents, question.language)]
    items = units_of_items(items_asked(text, packs), documents)
    defined = first_mentions(question, documents) if question.is_definition else []
    facts = stated_facts(text, question.language, known, of_whole=not question.words)
    of_facts = (UUID(fact.unit) for fact in facts)
    order = list(dict.fromkeys([*of_facts, *named, *items, *defined, *ranks]))[:MOST_UNITS]
    found = _found(order, ranks)
    foreign = spoken[0] if spoken and question.language not in spoken else ""
    absent, subject = names_held(question, documents, titles, words_known(text, packs))
    notes = SearchNotes(
        absent=() if foreign else absent,
        documents=len(documents),
        near=() if foreign else tuple(near_spellings(absent, text, result.respelt)),
        facts=tuple(facts),
        subject=subject,
        packs=tuple(packs),
        foreign=language_name(foreign, own=True) if foreign else "",
        by_meaning=bool(foreign) and active_space().provider not in ONE_LANGUAGE,
    )
    return replace(found, notes=notes)


def _found(units: Sequence[UUID], ranks: Mapping[UUID, int], scope: Scope | None = None) -> AnswerSources:
    """Build the passages. With ``scope``, only its pages are kept."""
    sources = load_sources(units)
    if scope is not None:
        keep_pages(sources, scope)
    shown = enumerate(sources.shown, 1)
    passages = (context_item(sources, unit.id, at, ranks.get(UUID(unit.id), 0)) for at, unit in shown)
    return AnswerSources(tuple(passages), sources)


def stated_facts(
    text: str, language: str, known: Mapping[UUID, Sequence[Fact]], of_whole: bool = False
) -> list[StatedFact]:
    """Return the facts that a question asks for, whose words are still on their page.

    None if documents state different ones: which of them is meant is not sure.

    Args:
        of_whole: the question names no part or subject: "Who wrote this?", which may be an organisation.
    """
    found: list[StatedFact] = []
    stated = {document: facts_asked(text, language, facts)[:MOST_FACTS] for document, facts in known.items()}
    if of_whole and "author" in kinds_asked(text, language) and not any(stated.values()):
        stated = {pk: [own for own in facts if own.kind == "organisation"] for pk, facts in known.items()}
    if len({frozenset(fact.value for fact in facts) for facts in stated.values() if facts}) > 1:
        return []
    for document, facts in stated.items():
        for fact in facts:
            units = CitationUnit.objects.filter(document=document, page_number=fact.page)
            quote = fact.quote.partition("\n")[0]
            pairs = units.order_by("position").values_list("pk", "content")
            unit = next((pk for pk, content in pairs if quote and quote in one_line(content)), None)
            named = {other.value.partition(", ")[0] for other in found}
            if unit and fact.value.partition(", ")[0] not in named:  # a person once
                found.append(StatedFact(fact.value, str(unit), quote))
    return found


def units_of_items(items: Sequence[Item], documents: Sequence[UUID]) -> list[UUID]:
    """Return rows and sections labelled with an item the question needs; equal shares for the items."""
    if not items:
        return []
    units = CitationUnit.objects.filter(document__in=documents).order_by("document", "position")
    rows = list(units.filter(unit_type="table").values_list("pk", "content")[:MOST_ROWS])
    paths = list(units.exclude(section_path=[]).values_list("pk", "section_path")[:MOST_ROWS])
    labelled: list[UUID] = []
    for item in items:
        if item.kind == "row":
            of_item = [pk for pk, content in rows if item.label.search(content) and DIGIT.search(content)]
        else:
            of_item = [pk for pk, path in paths if item.label.search(path[-1])]
        labelled += of_item[: MOST_ITEM_UNITS // len(items)]
    return labelled


def first_mentions(question: QuestionFeatures, documents: Sequence[UUID]) -> list[UUID]:
    """Return the first units with all words of the question, and list items and rows that begin with one.

    Terms are defined where they first occur, or in an entry of a glossary.
    """
    if not question.words:
        return []
    units = CitationUnit.objects.filter(document__in=documents).order_by("position")
    mentions = units.filter(unit_type__in=("prose", "list", "abstract"))
    entries = Q()
    for word in question.words:
        mentions = mentions.filter(content__iregex=name_pattern(word.text))
        entries |= Q(content__istartswith=word.text)
    listed = units.filter(entries, unit_type__in=ENTRY_TYPES)
    return [
        *mentions.values_list("pk", flat=True)[:FIRST_MENTIONS],
        *listed.values_list("pk", flat=True)[:MOST_ENTRIES],
    ]


def names_held(
    question: QuestionFeatures, documents: Sequence[UUID], titles: str, known: Set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the question's names: those that no page contains, and those in a title or on a first page.

    ``titles``: of the documents; ``known``: words that the documents may have others for.
    """
    called = {place: f"{words_of(question.language, 'places')[place.kind][0]} {place.number}"
              for place in question.places}  # fmt: skip
    wanted = {name: name_pattern(name) for name in question.names if name not in known}
    wanted |= {
        name: caption_pattern(place, question.language)
        for place, name in called.items()
        if place.kind in ("figure", "table")
    }
    numbered = {
        name: Q(number=whole_number(place.number)) | Q(label=place.number)
        for place, name in called.items()
        if place.kind == "page" and whole_number(place.number) is not None
    }
    if not documents or not (wanted or numbered):
        return (), ()
    matches: dict[str, Aggregate] = {
        f"page{at}": BoolOr(is_page) for at, is_page in enumerate(numbered.values())
    }
    for at, pattern in enumerate(wanted.values()):
        matches[f"any{at}"] = BoolOr(Q(text__iregex=pattern))
        matches[f"first{at}"] = BoolOr(Q(text__iregex=pattern), filter=Q(number=1))
    found = Page.objects.filter(document__in=documents).aggregate(**matches)
    subject, absent = [], []
    for at, (name, pattern) in enumerate(wanted.items()):
        if found[f"first{at}"] or re.search(pattern, titles, re.I):
            subject.append(name)
        elif not found[f"any{at}"]:
            absent.append(name)
    absent += [name for at, name in enumerate(numbered) if not found[f"page{at}"]]
    return tuple(absent), tuple(subject)


def near_spellings(absent: Sequence[str], asked: str, respelt: str) -> list[str]:
    """Return the words that a search offers for absent names: Netflix for Neflix."""
    pairs = zip(re.findall(r"[^\W\d_]+", asked), re.findall(r"[^\W\d_]+", respelt), strict=False)
    return [word for name, word in pairs if word != name and name in absent]


def units_of_hits(hits: Iterable[Hit]) -> dict[UUID, int]:
    """Return unit ids with the rank of their hit: the best matching units, then their neighbours."""
    ranks: dict[UUID, int] = {}
    for rank, hit in enumerate(hits, 1):
        for unit_id in [*hit.best_unit_ids, *hit.unit_ids, *hit.passage_unit_ids]:
            ranks.setdefault(unit_id, rank)
    return ranks


class NearDocuments(NamedTuple):
    """The documents of a question, newest first: languages, titles, names, packs, and facts by document."""

    ids: list[UUID]
    languages: list[str]
    titles: str
    packs: list[str]
    facts: dict[UUID, list[Fact]]


def near_documents(scope: Scope, hits: Sequence[Hit]) -> NearDocuments:
    """Return the scope's documents if they are few, else those with the best hits."""
    votes: Counter[UUID] = Counter()
    if scope.document_ids is not None and len(scope.document_ids) <= NEAR_DOCUMENTS:
        documents = scope.documents()
    else:
        for rank, hit in enumerate(hits, 1):
            votes[hit.document_id] += 1 / (rank + 2)  # type: ignore[assignment]
        documents = Document.objects.filter(pk__in=[pk for pk, _ in votes.most_common(NEAR_DOCUMENTS)])
    columns = ("pk", "language", "title", "original_name", "keyword_index__fields", "metadata__facts")
    rows = list(documents.order_by("-created_at").values_list(*columns))
    packs = {field for *_, fields, _ in rows for field in fields or ()}
    return NearDocuments(
        sorted((pk for pk, *_ in rows), key=lambda pk: -votes[pk]),
        list(dict.fromkeys(base_language(code) for _, code, *_ in rows if code)),
        "\n".join(text for _, _, title, name, *_ in rows for text in (title, name)),
        sorted(packs & set(settings.PACKS)),
        {pk: msgspec.convert(facts or [], list[Fact]) for pk, *_, facts in rows},
    )


def units_at(place: NamedPlace, documents: Sequence[UUID], language: str) -> list[UUID]:
    """Return the units of a named place: a page, a caption, a section or a label."""
    units = CitationUnit.objects.filter(document__in=documents).order_by("document", "position")
    number = re.escape(place.number.partition("(")[0])
    if place.kind == "page":
        labels = Page.objects.filter(document__in=documents, label=place.number)
        page = whole_number(place.number)
        pages = Q(pk=None) if page is None else Q(page_number=page)
        for document, page in labels.values_list("document_id", "number"):
            pages |= Q(document=document, page_number=page)
        wanted = pages
    elif place.kind in ("figure", "table"):
        starts = Q(content__iregex=rf"^\W*{caption_pattern(place, language)}(\D|$)")
        pages = Q(pk=None)
        for document, page in units.filter(starts).values_list("document_id", "page_number")[:4]:
            pages |= Q(document=document, page_number=page)
        wanted = pages
    else:
        starts = Q(content__iregex=rf"^\W*(\w+\s+)?[A-Z]?{number}([^\w.]|\.?\s|$)")
        wanted = starts if place.kind == "requirement" else starts & Q(unit_type="heading")
        if place.kind == "section":
            paths = units.filter(wanted).values_list("content", flat=True)[:4]
            for path in list(paths):
                wanted |= Q(section_path__contains=[path])
    return list(units.filter(wanted).values_list("pk", flat=True)[:MOST_UNITS_A_PLACE])
