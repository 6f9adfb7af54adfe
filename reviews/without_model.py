"""Fill a cell without a model, from the row or sentence that answers its column best.

Numbers, amounts and dates are the best-scored values of rows and sentences (``value_lines``). A text is a
line with the question's words as its label, else the answer that a conversation would give.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import chain, islice
from uuid import uuid4

from chat.answers.answer_builder import AnswerBuilder
from chat.answers.context import AnswerSources
from chat.answers.without_model.answer import bullet, found_lines
from chat.answers.without_model.answer_types import type_match
from chat.answers.without_model.lines import (
    ENTRY,
    AnswerLine,
    distinct_terms,
    has_content,
    lines_of,
    printed_row,
    terms_over,
)
from chat.answers.without_model.question import (
    QuestionFeatures,
    analyse,
    language_of,
    message,
    opening_words,
    without_owner,
)
from chat.answers.without_model.ranking import RankedPage, Relevance, TermWeights, item_match, rank, relevance
from chat.answers.without_model.value_lines import (
    ITEM_SYNONYM,
    WEIGHTS,
    Asked,
    ValueLine,
    added_terms,
    fits,
    said_otherwise,
    values_of,
)
from chat.answers.without_model.values import may_lack_scale
from chat.models import Citation
from chat.reports.sentence_check import exhaust
from citing.claim_spans import claim_before, plain
from citing.claims import CONTRADICTED, VERIFIED, Claim, SourceUnit
from citing.marker_decoder import without_markers
from citing.tables import word_of
from citing.verdict import verify_cited
from documents.ingestion.facts import kinds_asked
from domains import pack_names
from domains.items import Item, items_asked, words_known
from reviews.models import ReviewCell, ReviewColumn
from reviews.question_answer import is_within
from reviews.question_columns import columns_for
from reviews.typed_values import (
    QUANTITIES,
    Evidence,
    FilledCell,
    TypedValue,
    as_json,
    chosen_in,
    of_period,
    typed_value,
)
from text.numbers import YEAR
from text.quantities import quantities_in

State, Kind = ReviewCell.State, ReviewColumn.Kind
MOST_PAGES = 12  # searched for a value
MOST_WHOLE = 3  # pages of which all lines are used, beyond those that search found
MOST_TRIED = 8  # values to verify
MOST_LINES = 3  # lines of a text
SAME = 0.05  # maximum difference of the scores of two values for an unclear cell
SAME_IN_TEXT = 0.55  # … of a sentence, divided by the question's terms: one word hardly tells values apart
SAME_DATE = 0.6
STATES_VALUE = 0.55  # minimum share of the question's content terms in a sentence, or over it, with its value
MOST_ADDED = 1.5  # terms of a cell's label and groups beside the question's, for each of these
STATES_COUNT = 0.45  # … and the noun that the value counts
DOUBTED = 0.5  # confidence in a cell below which its value is not stated
LEAST_UNITS = 20  # in a document of fewer, one that lacks a word says little of that word
LEAST_COVERED = 0.4  # minimum share of the question's content terms in a text and its headings
STATES = 0.6  # minimum share of them in a line itself that states a text
TERMS_OF_TEXT = 2  # … and so many: one word that happens to be there says nothing
CLAUSE_NAME = 0.7  # share of them above which a question asks for a clause and nothing else

OPENING = re.compile(r"(?:[\w'’-]+ ?){0,3}")  # of a paragraph, which names its subject: “AR-LSAT (…) is”
NEAR_LINES = 600  # characters on a page between lines of one statement


@dataclass(frozen=True)
class ColumnEvidence:
    """A column's question, and what search found for it in a document."""

    question: QuestionFeatures
    found: AnswerSources

    @classmethod
    def at(cls, column: ReviewColumn, found: AnswerSources) -> ColumnEvidence:
        languages = list(dict.fromkeys(passage.unit.language for passage in found.passages))
        return cls(without_frame(analyse(column.question, languages)), found)

    @cached_property
    def ranked(self) -> list[RankedPage]:
        """Return the pages relevant to the question, best first: not needed for a document's own facts."""
        lines = lines_of(self.question, self.found.passages)
        return rank(self.question, lines, self.found.passages, self.found.notes.packs)[:MOST_PAGES]

    @cached_property
    def pages(self) -> list[RankedPage]:
        """Return the relevant pages, the first with all their lines."""
        whole = [whole_page(self.question, page) for page in self.ranked[:MOST_WHOLE]]
        return [*whole, *self.ranked[MOST_WHOLE:]]

    @cached_property
    def relevance(self) -> Relevance | None:
        return relevance(self.question, self.ranked, self.found.notes) if self.ranked else None

    @property
    def lines(self) -> list[AnswerLine]:
        return [line for page in self.pages for line in page.lines]

    @property
    def is_direct(self) -> bool:
        """Return whether the pages are on the question, or a line has its words as label."""
        if self.relevance is None:
            return False
        lacks = bool(self.relevance.lacking or self.found.notes.absent or self.question.years)
        return self.relevance.is_direct or (not lacks and bool(self.labelled(1)))

    def labelled(self, least: int = 2) -> list[AnswerLine]:
        """Return lines like “Agreement term: 1 year” with ``least`` words of the question in the label."""
        asked = set(self.question.terms)
        return [
            line
            for line in self.lines
            if (entry := ENTRY.match(line.text))
            and (terms := distinct_terms(entry["label"], line.language)) <= asked
            and len(terms) >= min(least, len(asked))
        ]

    def coverage(self, terms: frozenset[str]) -> float:
        """Return 0..1, the share of the question's content terms among the terms, weighted by idf."""
        return self.weights.share(self.question.terms, terms)

    @cached_property
    def weights(self) -> TermWeights:
        return TermWeights(self.found.passages)


def without_frame(question: QuestionFeatures) -> QuestionFeatures:
    """Leave out the terms of words that a page on the subject need not say."""
    kept = distinct_terms(without_owner(question.text, question.language), question.language)
    terms = tuple(term for term in question.terms if term in kept)
    return replace(question, terms=terms) if terms else question


def whole_page(question: QuestionFeatures, page: RankedPage) -> RankedPage:
    """Add the lines of the page's units that search did not find, after those it found."""
    first = page.lines[0].passage
    shown = {line.unit.id for line in page.lines}
    on_page = (first.unit, *first.around)
    items = [
        replace(first, unit=unit, around=on_page, rank=0, heading_below="")
        for unit in on_page
        if unit.id not in shown
    ]
    return replace(page, lines=(*page.lines, *lines_of(question, items)))


def without_model(column: ReviewColumn, found: AnswerSources) -> FilledCell:
    """Fill a cell of the column from the passages found."""
    evidence = ColumnEvidence.at(column, found)
    return quantity(column, evidence) if column.kind in QUANTITIES else text(column, evidence)


def quantity(column: ReviewColumn, evidence: ColumnEvidence) -> FilledCell:
    """Fill a number, an amount or a date: the best value that is verified on its page.

    Not stated where nothing is directly on the question; unclear where two values score alike.
    """
    if column.kind == Kind.DATE and (cell := stated_facts(column, evidence)):
        return cell
    asked = asked_by(column, evidence)
    values = values_of(asked, evidence.pages) if evidence.is_direct else []
    held = held_values(values, evidence)
    if not held:
        return FilledCell(State.NOT_STATED)
    citations = cited([line for _, line in held], evidence.found).citations
    best, cells = held[0][0].cell, [one.cell for one in values if one.cell]
    is_doubtful = (
        not is_stated(held[0][0], asked, evidence)
        or (best and may_lack_scale(best, cells, ()))
        or is_one_of_parts(held[0][0], values, evidence.question)
    )
    if is_doubtful or len({one.size for one, _ in held}) > 1:
        return FilledCell(State.UNCLEAR, text="\n".join(line.text for _, line in held), citations=citations)
    first = held[0][0]
    value = of_period(as_json(column, first.quantity), best.period.part if best else "", evidence.question)
    return FilledCell(State.FOUND, value, first.text, citations)


def asked_by(column: ReviewColumn, evidence: ColumnEvidence) -> Asked:
    items = items_asked(evidence.question.text, evidence.found.notes.packs)
    return Asked(evidence.question, items, column.kind, column.unit)  # type: ignore[arg-type]


def is_stated(one: ValueLine, asked: Asked, evidence: ColumnEvidence) -> bool:
    """Return whether the cell asked for, or a sentence on all that is asked, has the value."""
    if one.cell and lacks_year(one, evidence.question):
        return False
    if (one.is_named or one.cell is None) and item_match(asked.items[:1], one.line) >= ITEM_SYNONYM:
        return True
    if one.cell and (
        one.cell.confidence < DOUBTED
        or len(added_terms(one, evidence.question)) > MOST_ADDED * len(evidence.question.terms)
    ):
        return False
    if one.is_named or one.line in evidence.labelled(
        1
    ):  # a label of the question's words: "Date: 7 September 2020"
        return True
    weights = TermWeights(evidence.found.passages, LEAST_UNITS)
    least = STATES_COUNT if "count" in evidence.question.kinds else STATES_VALUE
    opening = distinct_terms(OPENING.match(one.line.unit.text)[0], one.line.language)  # type: ignore[index]
    said = one.line.terms | terms_over(one.line) | opening | said_otherwise(evidence.question, one.line)
    return weights.share(evidence.question.terms, said) >= least


def lacks_year(one: ValueLine, question: QuestionFeatures) -> bool:
    """Return whether a cell without a year is on a page that does not name the year asked for.

    True: obligations “Total: 357” of a report for 2021, for "What is the capital expenditure 2018?".
    """
    if one.year or not question.asked_years:
        return False
    return question.asked_years.isdisjoint(map(int, YEAR.findall(one.line.page_text)))


def is_one_of_parts(best: ValueLine, values: Sequence[ValueLine], question: QuestionFeatures) -> bool:
    """Return whether a counting row names a part, and another row another: stores in Canada, in the USA."""
    if "count" not in question.kinds or best.cell is None or not (part := added_terms(best, question)):
        return False
    return any(
        one.cell and added_terms(one, question) not in (part, frozenset())
        for one in values
        if one.size != best.size
    )


def held_values(values: Sequence[ValueLine], evidence: ColumnEvidence) -> list[tuple[ValueLine, AnswerLine]]:
    """Return the best verified value, and those that score alike, each with its line."""
    held: list[tuple[ValueLine, AnswerLine]] = []
    for one in values[:MOST_TRIED]:
        best = held[0][0] if held else one
        if is_rival(one, best, values, evidence.question):
            held += [(one, line) for line in verified_lines([one.line], evidence.found)]
    return held


def scores_alike(one: ValueLine, best: ValueLine, question: QuestionFeatures) -> bool:
    """Return whether scores hardly tell two values apart: a text has many counts of employees.

    A smaller count than the best is that of a part.
    """
    less = best.score - one.score
    if less <= SAME or one.cell or best.cell:
        return less <= SAME
    if one.quantity.dimension == "date":  # a document has many dates
        return less <= SAME_DATE
    is_part = "count" in question.kinds and one.size < best.size
    return not is_part and less <= SAME_IN_TEXT / max(len(question.terms), 1)


def is_rival(
    one: ValueLine, best: ValueLine, values: Sequence[ValueLine], question: QuestionFeatures
) -> bool:
    """Return whether scores hardly tell a value from the best, or only a better page one of the same names.

    Two segments have such cells: "Total sales, 2021". A sum, or a value of sentences, that is printed in more
    places than the other is told apart by that; one of another year than the one asked for is no rival.
    """
    if best.year in question.asked_years and one.year not in {0, *question.asked_years}:
        return False
    is_alike, is_row = scores_alike(one, best, question), bool(one.cell and best.cell)
    is_namesake = one.cell and best.cell and one.cell.name == best.cell.name
    if is_row and (is_alike or not is_namesake):
        return is_alike

    def places(size: Decimal) -> set[str]:
        return {other.line.unit.id for other in values if other.size == size}

    is_near = is_alike or (is_row and one.score >= best.score - WEIGHTS["page"])
    return is_near and len(places(one.size)) >= len(places(best.size))


def verified_lines(lines: Iterable[AnswerLine], found: AnswerSources) -> Iterator[AnswerLine]:
    """Yield lines that the verifier finds on the page as written; else the unit word for word."""
    shown = [passage.unit for passage in found.passages]
    for line in lines:
        for version in versions_of(line):
            written_line = bullet(version.text)
            span = claim_before(written_line, version.quote)
            claim = Claim(plain(written_line[span.start : span.end]), version.quote)
            if verify_cited(claim, line.unit, line.passage.around, shown).supported:
                yield version
                break


def versions_of(line: AnswerLine) -> Iterator[AnswerLine]:
    """Yield the versions of a line, best first: a row by its cells, then as printed."""
    yield replace(line, values=())
    if line.unit.table and has_content(line.unit.text):
        printed = printed_row(line.unit.table)
        yield replace(line, text=printed, quote=printed)


def cited(lines: Sequence[AnswerLine], found: AnswerSources) -> AnswerBuilder:
    """Cite and check each line as in an answer."""
    return drafted([(line.text, line.unit, line.quote) for line in lines], found)


def drafted(said: Iterable[tuple[str, SourceUnit, str]], found: AnswerSources) -> AnswerBuilder:
    """Return a list of texts, each with the unit and the words that it cites."""
    draft = AnswerBuilder(uuid4(), found.sources, {})
    for text, unit, quote in said:
        exhaust(chain(draft.write(bullet(text)), draft.cite(unit, quote), draft.write("\n")))
    return draft


# --- Texts ---


def text(column: ReviewColumn, evidence: ColumnEvidence) -> FilledCell:
    """Fill a text, yes or no, or a choice: from labelled lines, else from the answer of a conversation."""
    if column.kind == Kind.TEXT and (cell := stated_facts(column, evidence)):
        return cell
    if column.kind == Kind.BOOLEAN and (cell := compared(column, evidence)):
        return cell
    items = clauses_asked(evidence)
    lines = item_lines(items, evidence) if items else named_lines(column, evidence)
    own = list(islice(verified_lines(lines, evidence.found), MOST_LINES))
    if own and (cell := judged(column, cited(own, evidence.found))).state == State.FOUND:
        return cell
    if items and column.kind == Kind.TEXT:
        return FilledCell(State.NOT_STATED)  # documents of this field would state it in known words
    shown = found_lines(evidence.question, evidence.found.passages, evidence.found.notes)
    held = list(verified_lines(shown.lines if shown.is_direct else (), evidence.found))
    stating = [line for line in held if states_text(evidence, line)]
    if stating or column.kind != Kind.TEXT:
        cell = judged(column, draft := cited(stating or held, evidence.found))
        return cell if is_covered(evidence, draft.citations) else FilledCell(State.NOT_STATED)
    draft = cited(held[:1], evidence.found)
    if not is_covered(evidence, draft.citations):
        return FilledCell(State.NOT_STATED)
    # a line under a heading on the question need not answer it
    return FilledCell(State.UNCLEAR, text=held[0].text, citations=draft.citations)


def compared(column: ReviewColumn, evidence: ColumnEvidence) -> FilledCell | None:
    """Answer yes or no by the number that a question bounds: “Are more than five datasets used?”."""
    bounded = columns_for(column.question)[0]
    if not bounded.condition:
        return None
    cell = quantity(bounded, ColumnEvidence.at(bounded, evidence.found))
    if cell.state != State.FOUND:
        return cell
    is_true = is_within(bounded.condition, cell.value)
    return replace(cell, value=is_true, text="Yes" if is_true else "No")


def states_text(evidence: ColumnEvidence, line: AnswerLine) -> bool:
    """Return whether a line has most of what is asked, in two terms or the very word, and such an answer."""
    question = evidence.question
    terms = line.terms & {*question.terms}
    if not names_thing(question, line):
        return False
    is_word = len(question.terms) == 1 and any(
        re.search(rf"\b{re.escape(word.text)}\b", line.text, re.I) for word in question.words
    )
    is_asked, kind = is_word or len(terms) >= TERMS_OF_TEXT, type_match(question, line)
    least = STATES_VALUE if kind == 1.0 else STATES
    return is_asked and kind > 0 and evidence.coverage(line.terms) >= least


def names_thing(question: QuestionFeatures, line: AnswerLine) -> bool:
    """Return whether a line or its heading names what is asked for, or says the rest as the question does.

    False: “We use the FOLIO test set” for "Which solver is used for FOLIO?".
    """
    first, thing, rest, *_ = [*question.text.casefold().rstrip("? ").split(maxsplit=2), "", "", ""]
    asked = distinct_terms(thing, question.language) & {*question.terms}
    headed = distinct_terms(" ".join(line.unit.section_path[-1:]), line.language)
    if first not in opening_words(question.language) or asked <= line.terms | headed:
        return True
    return bool(rest) and rest in line.text.casefold()


def clauses_asked(evidence: ColumnEvidence) -> list[Item]:
    """Return the clause that the question asks for, where a pack knows by which words it is told.

    In documents of another field only if the question says hardly more than its name: "the governing law".
    """
    question, packs = evidence.question, evidence.found.notes.packs
    items = items_asked(question.text, packs)[:1]
    if not items:
        known = distinct_terms(" ".join(words_known(question.text, pack_names())), question.language)
        if sum(term in known for term in question.terms) > CLAUSE_NAME * len(question.terms):
            items = items_asked(question.text, pack_names())[:1]
    return [one for one in items if one.kind == "sentence"]


def stated_facts(column: ReviewColumn, evidence: ColumnEvidence) -> FilledCell | None:
    """Return what the document says of itself, such as its parties, if the column asks for that."""
    units = {passage.unit.id: passage.unit for passage in evidence.found.passages}
    facts = [fact for fact in evidence.found.notes.facts if fact.unit in units]
    draft = drafted([(fact.value, units[fact.unit], fact.quote) for fact in facts], evidence.found)
    dates = [
        TypedValue(as_json(column, one), fact.value)
        for fact in facts
        if column.kind == Kind.DATE
        for one in quantities_in(fact.value, evidence.question.language)
        if fits(column.kind, column.unit, one, fact.value)
    ]
    cell = judged(column, draft, next(iter(dates), None))
    if cell.state == State.FOUND:
        return cell
    asked = kinds_asked(column.question, evidence.question.language)
    return (
        FilledCell(State.NOT_STATED) if "organisation" in asked else None
    )  # no passage says whose document it is


def item_lines(items: Sequence[Item], evidence: ColumnEvidence) -> list[AnswerLine]:
    """Return the document's first sentence that is an item of a pack, and the ones near it."""
    matching = [line for line in evidence.lines if item_match(items, line)]
    matching.sort(key=lambda line: (line.unit.page, line.start))
    first = matching[0] if matching else None
    return [
        line
        for line in matching
        if first and line.unit.page == first.unit.page and line.start - first.start < NEAR_LINES
    ]


def named_lines(column: ReviewColumn, evidence: ColumnEvidence) -> list[AnswerLine]:
    """Return lines labelled with the question's name, or that name a choice or its number."""
    question = evidence.question
    if not evidence.is_direct:
        return []
    if column.kind in (Kind.CHOICE, Kind.CHOICES):
        choosing = [line for line in evidence.lines if chosen_in(column, line.text, line.language)]
        return best_covered(choosing, evidence)
    if column.kind != Kind.TEXT:
        return []
    if labelled := evidence.labelled()[:1]:
        return labelled
    if question.kinds & {"count", "amount"} and not question.computation:
        kinds = (ReviewColumn(question=column.question, kind=kind) for kind in (Kind.NUMBER, Kind.MONEY))
        values = [one for kind in kinds for one in values_of(asked_by(kind, evidence), evidence.pages)]
        best = max(values, key=lambda one: one.score, default=None)
        rivals = [one for one in values if best and best.score - one.score <= SAME]
        if best and len({one.size for one in rivals}) == 1:
            return best_covered([best.line], evidence)
    return []


def best_covered(lines: Sequence[AnswerLine], evidence: ColumnEvidence) -> list[AnswerLine]:
    """Return the line with most of the question's content terms, its headings included."""
    shares = [evidence.coverage(line.terms | terms_over(line)) for line in lines]
    best = max(shares, default=0.0)
    return [lines[shares.index(best)]] if best >= LEAST_COVERED else []


def is_covered(evidence: ColumnEvidence, citations: Sequence[Citation]) -> bool:
    """Return whether a cited line has enough of the question's content terms, its headings included."""
    by_unit = {str(line.unit.id): terms_over(line) for line in evidence.lines}
    shares = [
        evidence.coverage(distinct_terms(one.claim, "en") | by_unit.get(str(one.unit_id), frozenset()))
        for one in citations
    ]
    return max(shares, default=0.0) >= LEAST_COVERED


# --- An answer as a cell ---


def judged(column: ReviewColumn, draft: AnswerBuilder, named: TypedValue | None = None) -> FilledCell:
    """Convert an answer to a cell: its state and value follow from the verified citations.

    ``named``: a choice, or yes or no, that a model chose from these words.
    """
    answer_text = without_markers(draft.content).strip()
    claims = "\n".join(dict.fromkeys(citation.claim for citation in draft.citations))
    direct = not answer_text.startswith(refusals(column.question))
    held = [citation for citation in draft.citations if citation.verdict in VERIFIED]
    if not direct:
        return FilledCell(State.NOT_STATED, citations=draft.citations)
    if any(citation.verdict in CONTRADICTED for citation in draft.citations):
        return FilledCell(State.UNCLEAR, text=claims or answer_text, citations=draft.citations)
    evidence = [
        Evidence(
            citation.claim,
            citation.quote,
            unit.language or "en",
            intro_of(unit, draft.sources.units.values()),
        )
        for citation in held
        if (unit := draft.sources.units[str(citation.unit_id)])
    ]
    value = typed_value(column, evidence, named)
    if value is None:
        return FilledCell(State.UNCLEAR, text=claims or answer_text, citations=draft.citations)
    first = held[value.place]
    if draft.sources.units[str(first.unit_id)].table:
        part = word_of("part_of_year", first.claim, evidence[value.place].language)
        value = replace(value, value=of_period(value.value, part, analyse(column.question)))
    if column.kind != Kind.TEXT:  # the words that give the value come first
        held = [first, *(citation for citation in held if citation is not first)]
    return FilledCell(State.FOUND, value.value, value.text, held)


def intro_of(unit: SourceUnit, units: Iterable[SourceUnit]) -> str:
    """Return what a list item continues: “We do not pay for”, “A. Service calls to:”; '' for a paragraph."""
    if unit.type != "list":
        return ""
    above = [
        (one.char_start, one.text)
        for one in units
        if (one.page, one.section_path, one.type) == (unit.page, unit.section_path, unit.type)
        and one.char_start < unit.char_start
        and one.text.rstrip().endswith(":")
        and one.text.lstrip()[:1].isdigit() != unit.text.lstrip()[:1].isdigit()
    ]
    return " ".join([*unit.section_path[-1:], *(text for _, text in sorted(above)[-1:])])


def refusals(question: str) -> tuple[str, ...]:
    """Return the beginnings of answers that found nothing direct."""
    language = language_of(question)
    beginnings = (message(language, key).rstrip(".:。：") for key in ("none", "closest"))
    return (*beginnings, "The documents do not say")
