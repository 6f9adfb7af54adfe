"""`manage.py evaluate answers`: score answers with known truths."""

from __future__ import annotations

import re
import statistics
import threading
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.core.management.base import OutputWrapper
from django.test.utils import override_settings

from bench.evaluations.retrieval import (
    KnownQuestion,
    add_question_arguments,
    evaluation_user,
    ingest_folder,
    read_lines,
    wanted_files,
)
from chat.answers import question_commands
from chat.answers.runner import claim_next
from chat.answers.without_model.answer import NAME as WITHOUT_MODEL
from chat.answers.without_model.question import language_of, message
from chat.answers.write_answer import AnswerContext, write_answer
from chat.models import Citation, Message
from citing.claims import VERIFIED
from citing.marker_decoder import without_markers
from documents.models import Document
from text.numbers import number_words
from text.quantities import Quantity, quantities_in

# --- Answers to questions with known pages and values (FinanceBench's format) ---


class AnsweredQuestion(KnownQuestion, frozen=True):
    """A question with its known answer; ``sources``: what answers it, "Table", "Chart", …; [] if unknown."""

    answer: str = ""


class SaidValues(msgspec.Struct, frozen=True):
    """Counts of questions.

    Attributes:
        asked: their known answer is one number, date or name, which text or tables give; or the document
            does not answer them.
        said: of these, a value was said.
        right: of these, the value is the known one, within its rounding and with its scale.
    """

    asked: int
    said: int
    right: int


class AnswerScores(msgspec.Struct, frozen=True):
    """Shares of questions; ``precision`` and ``verified`` are shares of citations.

    Attributes:
        cited: an evidence page is cited; passages under a refusal do not count.
        first: the first citation is on an evidence page; likewise.
        shown: an evidence page is among the pages shown, also under a refusal.
        shown_first: it is shown first.
        precision: citations on an evidence page.
        verified: citations whose verdict is exact, normalized, moved or computed.
        values: values said, see ``SaidValues``.
        unanswered: the answer states, in the question's language, that no direct answer was found; or with a
            model, that the documents do not say.
        citations: mean number per question.
        judged_right: citations that users called right, of those they judged; None without any.
        ms: median time of an answer.
    """

    questions: int
    cited: float
    first: float
    shown: float
    shown_first: float
    precision: float
    verified: float
    values: SaidValues
    unanswered: float
    citations: float
    judged_right: float | None
    ms: float


@dataclass(frozen=True, slots=True)
class EvaluatedAnswer:
    """A question with its answer: the cited pages in order, their verdicts, and the claims that it makes."""

    known: AnsweredQuestion
    right_pages: frozenset[int]
    pages: tuple[int, ...]
    verdicts: tuple[str, ...]
    text: str
    milliseconds: float
    said: tuple[str, ...] = ()

    @property
    def is_unanswered(self) -> bool:
        refusal = message(language_of(self.known.question), "none").rstrip(".。")
        return self.text.lstrip().startswith((refusal, "The documents do not say"))

    @property
    def cites_evidence(self) -> bool:
        return bool(self.right_pages & set(self.pages))

    @property
    def shows_first(self) -> bool:
        return bool(self.pages) and self.pages[0] in self.right_pages


def answer_questions(
    questions: Iterable[AnsweredQuestion], user: User, library: Mapping[str, UUID], breadth: str
) -> list[EvaluatedAnswer]:
    """Ask each question about its document, or about all. Stores nothing."""
    return [_answered(known, user, library, breadth) for known in questions]


def _answered(
    known: AnsweredQuestion, user: User, library: Mapping[str, UUID], breadth: str
) -> EvaluatedAnswer:
    ids = [library[known.doc_name]] if breadth == "document" and known.doc_name in library else []
    documents = Document.objects.filter(pk__in=ids or list(library.values()))
    conversation = question_commands.start_conversation(user, documents)
    try:
        question_commands.ask(conversation, known.question)
        answer = claim_next(conversation.pk)
        assert answer is not None, "a new conversation has nothing to wait for"
        start = time.perf_counter()
        write_answer(answer, AnswerContext(lambda event: None, threading.Event()))
        return _outcome(known, answer, library, (time.perf_counter() - start) * 1000)
    finally:
        conversation.delete()


def _outcome(
    known: AnsweredQuestion, answer: Message, library: Mapping[str, UUID], milliseconds: float
) -> EvaluatedAnswer:
    rows = list(Citation.objects.filter(message=answer).order_by("position"))
    own = library.get(known.doc_name)
    return EvaluatedAnswer(
        known,
        frozenset(found.evidence_page_num + 1 for found in known.evidence),
        tuple(row.page_number if row.document_id == own else 0 for row in rows),
        tuple(row.verdict for row in rows),
        without_markers(Message.objects.get(pk=answer.pk).content),
        milliseconds,
        tuple(row.claim for row in rows if answer.provider != WITHOUT_MODEL or row.verdict != "found"),
    )


def scores_of(outcomes: Sequence[EvaluatedAnswer]) -> AnswerScores:
    citations = [(page in o.right_pages) for o in outcomes for page in o.pages]
    verdicts = [verdict in VERIFIED for o in outcomes for verdict in o.verdicts]
    return AnswerScores(
        questions=len(outcomes),
        cited=share(o.cites_evidence and not o.is_unanswered for o in outcomes),
        first=share(o.shows_first and not o.is_unanswered for o in outcomes),
        shown=share(o.cites_evidence for o in outcomes),
        shown_first=share(o.shows_first for o in outcomes),
        precision=share(citations),
        verified=share(verdicts),
        values=said_values(outcomes),
        unanswered=share(o.is_unanswered for o in outcomes),
        citations=round(len(citations) / len(outcomes), 2) if outcomes else 0.0,
        judged_right=judged_right(),
        ms=round(statistics.median(o.milliseconds for o in outcomes), 1) if outcomes else 0.0,
    )


LONGEST_VALUE = 8  # words of a known answer that is one number, date or name
TEXT_SOURCES = re.compile(r"te[xk]?[xt]|tab", re.IGNORECASE)  # "Text", "Texte", "Tabelle"


def said_values(outcomes: Sequence[EvaluatedAnswer]) -> SaidValues:
    asked = [o for o in outcomes if not o.known.evidence or is_one_value(o.known)]
    said = [o for o in asked if o.said]
    return SaidValues(len(asked), len(said), sum(says_right(o) for o in said))


def is_one_value(known: AnsweredQuestion) -> bool:
    """Return whether a known answer is one number, date or name that text or a table gives."""
    if known.sources and not any(map(TEXT_SOURCES.search, known.sources)):
        return False
    words = known.answer.split()
    if not words or len(words) > LONGEST_VALUE or words[0].casefold().strip(".,") in ("yes", "no"):
        return False
    values = quantities_in(known.answer, language_of(known.question))
    return len(values) == 1 or (not values and all(word[:1].isupper() for word in words))


def says_right(outcome: EvaluatedAnswer) -> bool:
    """Return whether a claim has the known value: within the rounding of either, with its scale.

    A known number without a scale may be in the scale that its question names: "in USD millions".
    """
    language = language_of(outcome.known.question)
    known = quantities_in(outcome.known.answer, language)
    if not known:
        return any(outcome.known.answer.casefold() in claim.casefold() for claim in outcome.said)

    def named(word: str) -> bool:  # no "k" of "Nike"
        return re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", outcome.known.question, re.I) is not None

    asked = {scale for word, scale in number_words(language).scales.items() if named(word)}
    scales = asked if asked and known[0].scale == 1 else {Decimal(1)}
    values = [q for claim in outcome.said for q in quantities_in(claim.rpartition(": ")[2], language)]
    return any(same_amount(known[0], scale, said) for scale in scales for said in values)


def same_amount(known: Quantity, scale: Decimal, said: Quantity) -> bool:
    """Return whether two amounts are equal, in any sign, within half of the last place of either."""
    if "date" in (known.dimension, said.dimension):
        return known.base == said.base
    off = max(known.step * scale, said.step) / 2
    return abs(abs(known.base * scale) - abs(said.base)) <= off


def judged_right() -> float | None:
    """Return the share of right citations among those with feedback, in all conversations."""
    judged = Citation.objects.exclude(feedback="").values_list("feedback", flat=True)
    return share(feedback == "right" for feedback in judged) if judged else None


def share(marks: Iterable[bool]) -> float:
    listed = list(marks)
    return round(sum(listed) / len(listed), 4) if listed else 0.0


class AnswerEvaluation:
    name = "answers"
    help = "Cited pages, verdicts and values of answers to known questions (FinanceBench's format)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_question_arguments(parser)
        parser.add_argument("--json", action="store_true", help="one line of JSON")
        parser.add_argument("--each", action="store_true", help="each question with its answer")
        parser.add_argument("--without-packs", action="store_true", help="disable vocabulary packs")

    def run(self, out: OutputWrapper, **options: Any) -> None:
        questions = read_lines(options["questions"], AnsweredQuestion)
        user = evaluation_user()
        files = wanted_files(options["pdfs"], list(questions), options["scope"])
        library = ingest_folder(user, files)
        with override_settings(**({"PACKS": []} if options["without_packs"] else {})):
            outcomes = answer_questions(questions, user, library, options["scope"])
        if options["each"]:
            for outcome in outcomes:
                out.write(line_of(outcome))
        write_scores(out, scores_of(outcomes), options["json"])


def write_scores(out: OutputWrapper, scores: msgspec.Struct, json: bool) -> None:
    """Write one line of JSON, or one line for each score."""
    if json:
        out.write(msgspec.json.encode(scores).decode())
        return
    named = msgspec.to_builtins(scores)
    width = max(map(len, named)) + 2
    for name, value in named.items():
        out.write(f"{name:<{width}}{value}")


def line_of(outcome: EvaluatedAnswer) -> str:
    mark = "✓" if outcome.cites_evidence else "✗"
    mark += " (no direct answer)" if outcome.is_unanswered else ""
    pages = ", ".join(map(str, outcome.pages))
    text = "\n".join(f"    {line}" for line in outcome.text.splitlines() if line.strip())
    return (
        f"{mark} {outcome.known.doc_name}: cites p. {pages or '–'}; right {sorted(outcome.right_pages)}\n"
        f"  {outcome.known.question}\n{text}"
    )
