"""What is shown without a model: a value where one is certain, and the passages a reader would look for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten

from chat.answers.prompt import NO_SEARCH_NOTES, ContextItem, Prompt, SearchNotes, StatedFact
from chat.answers.without_model.evidence import lines_of_section, lines_under_title, opening_lines
from chat.answers.without_model.lines import (
    AnswerLine,
    distinct_terms,
    escaped,
    is_naked,
    lines_of,
    row_name,
)
from chat.answers.without_model.passages import MOST_PASSAGES, passage_around, written
from chat.answers.without_model.question import (
    COMPANY_FORMS,
    QuestionFeatures,
    analyse,
    asks_something,
    holds_name,
    message,
)
from chat.answers.without_model.ranking import RankedPage, TermWeights, page_of, rank, relevance, worth_citing
from chat.answers.without_model.values import SaidValue, certain_value
from chat.providers.base import Delta, NativeCitation, Provider, StreamEnd, TextDelta
from retrieval.query.question_terms import LISTED, QUOTED
from text.terms import one_line

NAME = "extractive"
MOST_OF_DOCUMENT = 5  # passages of a summary, of findings, risks, obligations, steps
LONGEST_SUBJECT = 60  # characters in a heading
MOST_ROWS = 6  # of a page, among which the most general is shown
MOST_NAMED = 4  # missing words that are named


class Extractive(Provider):
    """The provider that answers without a model."""

    name, model, passages, rewrites, is_local = NAME, "", 400, False, True

    def stream(self, prompt: Prompt) -> Iterator[Delta]:
        yield from joined(answer_without_model(prompt.question, prompt.passages, prompt.notes))
        yield StreamEnd()


def joined(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """Yield texts with the passage's citation after them: each piece is rendered, and is an event."""
    text = ""
    for delta in deltas:
        if isinstance(delta, TextDelta):
            text += delta.text
        elif isinstance(delta, NativeCitation) and delta.is_passage:
            yield replace(delta, before=text)
            text = ""
        else:
            if text:
                yield TextDelta(text)
            yield delta
            text = ""
    if text:
        yield TextDelta(text)


def answer_without_model(
    text: str, passages: Sequence[ContextItem], notes: SearchNotes = NO_SEARCH_NOTES
) -> Iterator[Delta]:
    """Yield a certain value and the passages in Markdown, with their citations."""
    question = analyse(text, list(dict.fromkeys(passage.unit.language for passage in passages)))
    found = found_lines(question, passages, notes)
    if notes.facts:
        yield from stated(notes.facts, passages)
        if not found.is_direct:
            return
        yield TextDelta(f"**{message(question.language, 'passages')}**\n\n")
    elif not found.is_direct:
        yield TextDelta(message(question.language, "none"))
        yield from reasons(question, notes, found.lacking)
        if found.lines:
            seen = f" {message(question.language, 'must_be_seen')}" if question.must_be_seen else ""
            yield TextDelta(f"{seen}\n\n**{message(question.language, 'closest')}**\n\n")
    else:
        if missing := "".join(delta.text for delta in reasons(question, notes)).strip():
            yield TextDelta(f"{missing}\n\n")
        if value := certain_value(question, found.pages, notes):
            yield from said(value)
        yield TextDelta(f"**{heading(question)}**\n\n")
    for line in found.lines:
        yield from written(passage_around(line))


def stated(facts: Sequence[StatedFact], passages: Sequence[ContextItem]) -> Iterator[Delta]:
    """Yield the facts that the question asks for, each with the words that state it."""
    known = {passage.unit.id: passage for passage in passages}
    for fact in facts:
        if passage := known.get(fact.unit):
            yield TextDelta(f"- {escaped(fact.value)}")
            # with the mark of a footnote or a place, “Ada Quaya”, its words are shown, not claimed
            is_marked = not re.search(rf"(?<!\w){re.escape(fact.quote)}(?!\w)", one_line(passage.unit.text))
            yield NativeCitation(passage.alias, fact.quote, is_passage=is_marked)
            yield TextDelta("\n")
    yield TextDelta("\n")


def heading(question: QuestionFeatures) -> str:
    """Return the heading of the passages; it says what they are on where they explain, define or compare."""
    quoted = QUOTED.search(LISTED.sub(" ", question.text))
    on_the_whole = (question.topic or question.places) and not quoted  # "What is this document about?"
    explains = quoted or question.kinds & {"define", "compare", "why"}
    if not (quoted or question.words) or on_the_whole or not explains:
        return message(question.language, "passages")
    words = [word.text for word in question.words]
    start = min((question.text.find(word) for word in words), default=0)
    end = max((question.text.rfind(word) + len(word) for word in words), default=0)
    subject = quoted[1] if quoted else question.text[start:end]
    short = shorten(one_line(subject), LONGEST_SUBJECT, placeholder=" …")
    return message(question.language, "passages_on").format(subject=f"“{escaped(short)}”")


def said(value: SaidValue) -> Iterator[Delta]:
    """Yield a value with the cell that shows it."""
    yield TextDelta(escaped(value.text))
    yield NativeCitation(value.line.passage.alias, value.quote)
    if value.other:
        quote, line = value.other
        yield NativeCitation(line.passage.alias, quote)
    yield TextDelta("\n\n")


@dataclass(frozen=True, slots=True)
class FoundLines:
    """The best lines for a question, each of another passage, best first.

    Attributes:
        pages: the pages they are on, and others, best first.
        is_direct: the pages are on the question; else they are only the closest.
        lacking: names and numbers of the question that no page shown has.
    """

    lines: tuple[AnswerLine, ...] = ()
    pages: tuple[RankedPage, ...] = ()
    is_direct: bool = False
    lacking: tuple[str, ...] = ()


def found_lines(
    question: QuestionFeatures, passages: Sequence[ContextItem], notes: SearchNotes
) -> FoundLines:
    """Return the lines to show: of a section that is named or titled so, then the best of each page."""
    lines = lines_of(question, passages)
    if question.topic and passages and not any(passage.rank for passage in passages):
        most = MOST_PASSAGES if question.topic == "about" else MOST_OF_DOCUMENT
        return FoundLines(tuple(one_per_unit(opening_lines(shown_forms(lines), most))), (), True)
    pages = rank(question, lines, passages, notes.packs)
    if section := lines_of_section(question, lines):
        shown = one_per_unit(shown_forms(section))[:MOST_PASSAGES]
        return FoundLines(tuple(shown), tuple(pages), True)
    placed = [] if notes.absent else lines_under_title(question, lines, TermWeights(passages))
    forms = [shown_forms(most_general(question, page.lines)) for page in pages]
    best = [line for lines in forms for line in lines[:1]]
    # the best line of each page that is likely to answer
    chosen = [line for page in worth_citing(pages) for line in shown_forms(page.lines)[:1]]
    if not chosen and not placed:
        return FoundLines()
    judged = relevance(question, pages[:MOST_PASSAGES], notes, chosen) if chosen else None
    by_meaning = notes.by_meaning and not notes.absent
    fits = judged is not None and not question.topic and (judged.is_direct or by_meaning)
    is_direct = fits or (bool(placed) and not question.must_be_seen)
    if not is_direct:
        telling = ([line for line in lines if line.values or len(line.terms) > 1] for lines in forms)
        best = [line for lines in telling for line in lines[:1]]
        if judged is None or not (judged.is_related or by_meaning) or not asks_something(question):
            return FoundLines()
    shown = on_topic(question, apart([*shown_forms(placed)[:1], *best]))[:MOST_PASSAGES]
    texts = "\n".join(page.titled_text for page in pages if page.number in set(map(page_of, shown)))
    lacking = [name for name in judged.lacking if not holds_name(texts, name)] if judged else []
    return FoundLines(tuple(shown), tuple(pages), is_direct, tuple(lacking))


def on_topic(question: QuestionFeatures, lines: list[AnswerLine]) -> list[AnswerLine]:
    """Return lines without those whose passage has no word of the question, if the first passage has one."""
    asked = set(question.terms)

    def held(line: AnswerLine) -> set[str]:
        passage = " ".join((*line.unit.section_path, line.unit.text, line.text))
        return asked & distinct_terms(passage, line.language)

    return list(filter(held, lines)) if lines and held(lines[0]) else lines


def most_general(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> Sequence[AnswerLine]:
    """Return lines with the row first whose whole name adds least to the question, if the first is a row.

    A wrapped label and its groups make "Revenues" the revenues of something else.
    """
    if not lines or not lines[0].values:
        return lines
    asked = {*question.terms, *COMPANY_FORMS}
    held = asked & set(lines[0].label_terms)
    rows = [line for line in lines[:MOST_ROWS] if line.values and held <= set(line.label_terms)]

    def extra(line: AnswerLine) -> int:
        name = row_name(line.label, line.values)
        return len(
            distinct_terms(name, line.language) - asked - distinct_terms(line.unit.title, line.language)
        )

    best = min(rows, key=extra, default=lines[0])
    return [best, *(line for line in lines if line is not best)]


def apart(lines: Iterable[AnswerLine]) -> list[AnswerLine]:
    """Return the lines without those of a page that is already shown, or with the words of one."""
    kept: list[AnswerLine] = []
    for line in lines:
        page = (line.unit.document, line.unit.page)
        if all((o.unit.document, o.unit.page) != page and o.text != line.text for o in kept):
            kept.append(line)
    return kept


def one_per_unit(lines: Iterable[AnswerLine]) -> list[AnswerLine]:
    """Return the first line of each paragraph, row or list."""
    found: dict[tuple[str, ...], AnswerLine] = {}
    for line in lines:
        unit = line.unit
        own = ("list", *unit.section_path) if unit.type == "list" else (unit.id,)
        found.setdefault(own, line)
    return list(found.values())


def shown_forms(lines: Iterable[AnswerLine]) -> list[AnswerLine]:
    """Return the lines without rows of several values without heads."""
    return [line for line in lines if not is_naked(line)]


def reasons(
    question: QuestionFeatures, notes: SearchNotes, lacking: Sequence[str] = ()
) -> Iterator[TextDelta]:
    """Yield which words of the question the documents lack, where that is known, and what is spelt so."""
    absent = "absent" if notes.documents < 2 else "absent_in_several"
    lacking = [name for name in lacking if name not in notes.absent]
    for key, names in ((absent, notes.absent), ("near_spelling", notes.near), ("lacking", lacking)):
        if names:
            more = ", …" if len(names) > MOST_NAMED else ""
            words = ", ".join(f"“{escaped(word)}”" for word in names[:MOST_NAMED]) + more
            said = message(question.language, key).format(words=words, count=notes.documents)
            yield TextDelta(f" {said}")
    if notes.foreign and not notes.by_meaning:
        other_language = message(question.language, "other_language").format(language=notes.foreign)
        yield TextDelta(f" {other_language}")


def bullet(text: str) -> str:
    """Return one line of a list."""
    return f"- {escaped(text)}"
