"""The evidence on a section, without a model: what each document says, differences, and the passages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from textwrap import shorten
from uuid import uuid4

from django.utils.translation import gettext

from chat.answers.answer_builder import AnswerBuilder
from chat.answers.context import AnswerSources
from chat.answers.prompt import ContextItem
from chat.answers.without_model.answer import answer_without_model, found_lines
from chat.answers.without_model.answer_types import DURATIONS, counts
from chat.answers.without_model.evidence import find_evidence
from chat.answers.without_model.lines import distinct_terms, has_content, lines_of
from chat.answers.without_model.question import (
    QuestionFeatures,
    analyse,
    counted_terms,
    message,
    phrases_in,
    without_owner,
)
from chat.answers.without_model.ranking import TermWeights
from chat.answers.without_model.value_lines import names_counted
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
from text.quantities import quantities_in
from text.sentences import sentence_spans
from text.terms import terms_of

MOST_SEPARATE = 40  # with at most so many documents, each has its line: a fifth of a second each
LONGEST_FACT = 300  # characters
LEAST_ASKED = 0.5  # share of a question's terms, by weight, in what a row says and its heading
HEADED = 0.01  # added under a heading of the question's terms
ALL_ASKED = 0.99  # … where they are few: one of two says little
FEW_TERMS = 2
MOST_ANNOUNCED = 4  # terms beside the question's in a sentence that only announces
ASKS = re.compile(r"\?(?:\s|$)")  # a document's own question, as in a checklist


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
    found = find_evidence(question, scope)
    asked = analyse(question, languages_of(found))
    counting = counting_units(asked, found.passages) if "count" in asked.kinds else set()
    kept = tuple(one for one in found.passages if one.unit.id in counting)
    passages, citations = evidence_on(question, replace(found, passages=kept or found.passages))
    if not scope.document_ids or not 1 < len(scope.document_ids) <= MOST_SEPARATE:
        return passages, citations
    of_one = without_owner(question, analyse(question).language)
    own_question = of_one if analyse(of_one).terms else question
    each = [find_evidence(own_question, Scope(scope.user, document_ids=(pk,))) for pk in scope.document_ids]
    facts = [first_facts(own_question, found) for found in each]
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
    """Return what a document says on most of the question, beyond its words; of itself, all of it.

    A sentence that only announces what is asked for is followed by the next.
    """
    asked = analyse(question, languages_of(found))
    if not found.notes.facts and not found_lines(asked, found.passages, found.notes).is_direct:
        return []
    _, citations = evidence_on(question, found)
    own = [one for one in citations if added_terms(one, asked)]
    stated = {letters(fact.quote) for fact in found.notes.facts}
    if stated:
        return [one for one in own if letters(one.quote) in stated]
    own = [one for one in own if is_statement(one, asked)] + counting_lines(asked, found)
    weights = TermWeights(found.passages)
    shares = [(on_question(asked, one, found, weights), one) for one in own]
    least = LEAST_ASKED if len(asked.terms) > FEW_TERMS else ALL_ASKED
    best = [one for share, one in sorted(shares, key=lambda pair: -pair[0])[:1] if share >= least]
    return [*best, *(following for one in best for following in continued(one, asked, found))]


def counting_lines(asked: QuestionFeatures, found: AnswerSources) -> list[Citation]:
    """Return the sentences of the passages that count what is asked for, beyond those of the answer."""
    builder = AnswerBuilder(uuid4(), found.sources, {})
    for line in lines_of(asked, found.passages) if "count" in asked.kinds else ():
        if not line.values and counts_asked(line.text, asked, line.language):
            exhaust(builder.cite_passage(line.unit, line.quote, line.text))
            exhaust(builder.write("\n"))
    return builder.citations


def counting_units(asked: QuestionFeatures, passages: Sequence[ContextItem]) -> set[str]:
    """Return the ids of rows and texts with a number of what is counted: “Total, Employees 2018: 93,516”."""
    return {
        line.unit.id
        for line in lines_of(asked, passages)
        if any(cell.quantity and names_counted(asked, line, cell) for cell in line.values)
        or (not line.values and counts_asked(line.text, asked, line.language))
    }


def counts_asked(text: str, asked: QuestionFeatures, language: str) -> bool:
    """Return whether a text has a number of what a question counts, neither a share nor an amount."""
    counted = counted_terms(asked, language)
    found = (one for one in quantities_in(text, language) if not one.dimension)
    return bool(counted) and any(counts(one, text, counted, language) for one in found)


def added_terms(fact: Citation, asked: QuestionFeatures) -> frozenset[str]:
    return distinct_terms(fact.claim, asked.language) - {*asked.terms}


def is_statement(fact: Citation, asked: QuestionFeatures) -> bool:
    """Return whether a text states something: not “Equal contribution.”, nor the question of a checklist."""
    says_more = len(added_terms(fact, asked)) > 1 or any(map(str.isdigit, fact.claim))
    return says_more and not ASKS.search(fact.claim)


def continued(fact: Citation, asked: QuestionFeatures, found: AnswerSources) -> list[Citation]:
    """Return the sentence after one that only announces: “We see two limitations.”, “They are:”."""
    unit = found.sources.units[str(fact.unit_id)]
    has_value = any(one.dimension for one in quantities_in(fact.claim, asked.language))
    own = added_terms(fact, asked) - distinct_terms(unit.title, asked.language)
    is_short = len(own) <= MOST_ANNOUNCED and not has_value
    is_lead = is_short or fact.claim.rstrip().endswith(":")
    if unit.type in ("table", "caption") or not is_lead or letters(fact.claim) not in letters(unit.text):
        return []
    below = (one for one in found.sources.neighbours(unit) if one.char_start > unit.char_start)
    rest = [(unit, unit.text[fact.char_end - unit.char_start :])]
    rest += [(one, one.text) for one in takewhile(lambda one: one.type in ("prose", "list"), below)]
    for one, text in rest:
        for span in sentence_spans(text, one.language or "en"):
            words = text[span.start : span.end].strip()
            if has_content(words):
                builder = AnswerBuilder(uuid4(), found.sources, {})
                exhaust(builder.cite_passage(one, words, words))
                return builder.citations
    return []


def on_question(asked: QuestionFeatures, fact: Citation, found: AnswerSources, weights: TermWeights) -> float:
    """Return 0..1, the share of the question in a fact and its heading; 1 for what a pack knows as asked for.

    0 for a sentence without a number of the things that a question counts.
    """
    unit = found.sources.units[str(fact.unit_id)]
    language = unit.language or asked.language
    heading = " ".join(unit.section_path[-1:])
    counted = counted_terms(asked, language)
    rows = [one for one in found.passages if one.unit.id == unit.id and unit.table]
    if counted and not (counts_asked(fact.claim, asked, language) or counting_units(asked, rows)):
        return 0.0
    if any(item.label.search(fact.claim) for item in items_asked(asked.text, pack_names())):
        return 1.0
    if len(asked.terms) == 1 and "define" in asked.kinds and not names_word(asked, f"{fact.claim} {heading}"):
        return 0.0
    said = distinct_terms(f"{fact.claim} {heading}", language)
    if any(one.dimension in DURATIONS for one in quantities_in(fact.claim, language)):
        periods = phrases_in(asked.language, "period").findall(asked.text.casefold())
        said |= {*terms_of(" ".join(periods), asked.language)}  # “three months' notice” has its period
    is_headed = {*asked.terms} <= distinct_terms(heading, language)
    return weights.share(asked.terms, said) + HEADED * is_headed


def names_word(asked: QuestionFeatures, text: str) -> bool:
    """Return whether a text has a word of the question, in singular or plural: not “contributes” for one."""
    words = "|".join(re.escape(word.text.removesuffix("s")) for word in asked.words)
    return re.search(rf"\b(?:{words})(?:e?s)?\b", text, re.I) is not None


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
