"""The evidence on a section, without a model: what each document says, differences, and the passages."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from uuid import uuid4

from django.utils.translation import gettext

from chat.answers.answer_builder import AnswerBuilder
from chat.answers.context import AnswerSources
from chat.answers.without_model.answer import answer_without_model, found_lines
from chat.answers.without_model.answer_types import has_count
from chat.answers.without_model.evidence import find_evidence
from chat.answers.without_model.lines import distinct_terms
from chat.answers.without_model.question import QuestionFeatures, analyse, counted_terms, message
from chat.answers.without_model.ranking import TermWeights
from chat.citations.source_units import Sources
from chat.models import Citation
from chat.providers.base import NativeCitation, TextDelta
from chat.reports.sentence_check import exhaust, letters
from chat.reports.source_differences import differences_between, written_differences
from citing.marker_decoder import defused_line, format_marker, with_marks
from documents.labels import distinct_labels
from documents.models import Document
from domains import pack_names
from domains.items import items_asked
from retrieval.query.scope import Scope

MOST_SEPARATE = 40  # with at most so many documents, each has its line: a fifth of a second each
LONGEST_FACT = 300  # characters
LEAST_ASKED = 0.5  # share of a question's terms, by weight, in what a row says and its heading


def evidence_on(question: str, found: AnswerSources) -> tuple[str, list[Citation]]:
    """Return the passages on a question as a note's Markdown, and their unsaved citations."""
    builder = AnswerBuilder(uuid4(), found.sources, {}, question=question)
    units = {passage.alias: passage.unit for passage in found.passages}
    nothing = message(analyse(question, languages_of(found)).language, "none")
    for delta in answer_without_model(question, found.passages, found.notes):
        if isinstance(delta, TextDelta) and delta.text == nothing and found.passages:
            continue  # a section gathers passages; that they do not answer directly is said by their heading
        events = (
            builder.write(delta.text)
            if isinstance(delta, TextDelta)
            else (builder.cite_passage if delta.is_passage else builder.cite)(units[delta.alias], delta.quote)
            if isinstance(delta, NativeCitation)
            else ()
        )
        exhaust(events)
    markers = [format_marker(one.pk, one.page_number) for one in builder.citations]
    return with_marks(builder.content, lambda at, mark: markers[at]).strip(), builder.citations


def evidence_table(question: str, scope: Scope) -> tuple[str, list[Citation]]:
    """Return what each document says first, where they differ, and the best passages of all."""
    passages, citations = evidence_on(question, find_evidence(question, scope))
    if not scope.document_ids or not 1 < len(scope.document_ids) <= MOST_SEPARATE:
        return passages, citations
    each = [find_evidence(question, Scope(scope.user, document_ids=(pk,))) for pk in scope.document_ids]
    facts = [first_facts(question, found) for found in each]
    stated = [fact for own in facts for fact in own]
    if any(found.notes.facts for found in each):  # of the documents themselves: passages say no more
        passages, citations = "", []
    labels = distinct_labels(Document.objects.filter(pk__in=scope.document_ids))
    quoted = {one.document_id for one in citations}
    rows = [row(own, labels[pk], pk in quoted) for own, pk in zip(facts, scope.document_ids, strict=True)]
    names = gettext("Document"), gettext("What it says")
    head = f"| {' | '.join(names)} |\n|---|---|\n"
    sources = joined(each)
    cited = [sources.units[str(fact.unit_id)] for fact in stated]
    differing, of_both = written_differences(
        differences_between([(fact.quote, fact) for fact in stated], cited, sources),
        sources,
        gettext("The sources differ"),
    )
    parts = [head + "\n".join(rows), differing, passages]
    return "\n\n".join(filter(None, parts)), [*stated, *of_both, *citations]


def languages_of(found: AnswerSources) -> list[str]:
    return list(dict.fromkeys(passage.unit.language for passage in found.passages))


def first_facts(question: str, found: AnswerSources) -> list[Citation]:
    """Return what a document says on most of the question, beyond its words; of itself, all of it."""
    asked = analyse(question, languages_of(found))
    if not found.notes.facts and not found_lines(asked, found.passages, found.notes).is_direct:
        return []
    _, citations = evidence_on(question, found)
    own = [one for one in citations if distinct_terms(one.claim, asked.language) - {*asked.terms}]
    stated = {letters(fact.quote) for fact in found.notes.facts}
    if stated:
        return [one for one in own if letters(one.quote) in stated]
    weights = TermWeights(found.passages)
    shares = [(on_question(asked, one, found, weights), one) for one in own]
    return [one for share, one in sorted(shares, key=lambda pair: -pair[0])[:1] if share >= LEAST_ASKED]


def on_question(asked: QuestionFeatures, fact: Citation, found: AnswerSources, weights: TermWeights) -> float:
    """Return 0..1, the share of the question in a fact and its heading; 1 for what a pack knows as asked for.

    0 for a sentence without a number of the things that a question counts.
    """
    unit = found.sources.units[str(fact.unit_id)]
    language = unit.language or asked.language
    counted = counted_terms(asked, language)
    if counted and not has_count(fact.claim, counted, language):
        return 0.0
    if any(item.label.search(fact.claim) for item in items_asked(asked.text, pack_names())):
        return 1.0
    headed = f"{fact.claim} {' '.join(unit.section_path[-1:])}"
    return weights.share(asked.terms, distinct_terms(headed, language))


def row(facts: Sequence[Citation], label: str, is_quoted: bool) -> str:
    """Return a row of the table: a sentence as printed, a value with its names; or that there is none."""
    nothing = gettext("see the passages") if is_quoted else gettext("nothing found")
    return f"| {cell(label)} | {'; '.join(map(said, facts)) or nothing} |"


def said(fact: Citation) -> str:
    words = shorten(cell(fact.claim), LONGEST_FACT, placeholder=" …")
    quoted = f"“{words}”" if letters(fact.claim) in letters(fact.quote) else words
    return f"{quoted}{format_marker(fact.pk, fact.page_number)}"


def cell(text: str) -> str:
    return defused_line(text).replace("|", "/")


def joined(each: Sequence[AnswerSources]) -> Sources:
    """Return the units of all, by id."""
    sources = each[0].sources
    for found in each[1:]:
        sources.units |= found.sources.units
        sources.places |= found.sources.places
        sources.pages |= found.sources.pages
    return sources
