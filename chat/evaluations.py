"""`manage.py evaluate answers QUESTIONS.jsonl --pdfs DIR`: what answers cite, and whether it holds."""

from __future__ import annotations

import statistics
import threading
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.core.management.base import CommandError, OutputWrapper
from django.test.utils import override_settings

from chat.answers import question_commands
from chat.answers.runner import claim_next
from chat.answers.without_model.question import language_of, message
from chat.answers.write_answer import AnswerContext, write_answer
from chat.citations.claims import VERIFIED
from chat.citations.marker_decoder import without_markers
from chat.citations.values.written_values import values_in
from chat.models import Citation, Message
from documents.models import Document
from retrieval.evaluations import KnownQuestion, evaluation_user, take_in_folder, wanted_files

# Measures answers on questions whose right pages and values are known (FinanceBench's format).


class AnsweredQuestion(KnownQuestion, frozen=True):
    """A question with its known answer, for the accuracy of values."""

    answer: str = ""


class AnswerScores(msgspec.Struct, frozen=True):
    """Shares of questions, but for the precision and the verified share, which are of citations.

    Attributes:
        cited: an evidence page is among the cited pages.
        first: the first citation stands on an evidence page.
        precision: citations that stand on an evidence page.
        verified: citations whose verdict is exact, normalized, moved or computed.
        values: of the questions whose answer holds an amount: that amount is claimed in the answer (its
            headings claim nothing), whatever its sign; amounts that must be computed count as missing.
        unanswered: the answer says, in the question's language, that no direct answer was found; or with
            a model, that the documents do not say.
        citations: mean number a question.
        judged_right: citations people called right, of those they judged; None when none was judged.
        ms: median time for an answer.
    """

    questions: int
    cited: float
    first: float
    precision: float
    verified: float
    values: float
    unanswered: float
    citations: float
    judged_right: float | None
    ms: float


@dataclass(frozen=True, slots=True)
class Answered:
    """One question and what came of it: the pages cited in order, and their verdicts."""

    known: AnsweredQuestion
    right_pages: frozenset[int]
    pages: tuple[int, ...]
    verdicts: tuple[str, ...]
    text: str
    milliseconds: float

    @property
    def is_unanswered(self) -> bool:
        said = message(language_of(self.known.question), "none").rstrip(".。")
        return self.text.lstrip().startswith((said, "The documents do not say"))

    @property
    def cites_evidence(self) -> bool:
        return bool(self.right_pages & set(self.pages))


def read_answered_questions(path: Path) -> list[AnsweredQuestion]:
    """Raises OSError, msgspec.DecodeError."""
    lines = path.read_bytes().splitlines()
    return [msgspec.json.decode(line, type=AnsweredQuestion) for line in lines if line.strip()]


def answer_questions(
    questions: Iterable[AnsweredQuestion], user: User, library: Mapping[str, UUID], breadth: str
) -> list[Answered]:
    """Puts each question to its own document, or to all of them; keeps nothing of it in the database."""
    return [_answered(known, user, library, breadth) for known in questions]


def _answered(known: AnsweredQuestion, user: User, library: Mapping[str, UUID], breadth: str) -> Answered:
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
) -> Answered:
    rows = list(Citation.objects.filter(message=answer).order_by("position"))
    own = library.get(known.doc_name)
    return Answered(
        known,
        frozenset(found.evidence_page_num + 1 for found in known.evidence),
        tuple(row.page_number if row.document_id == own else 0 for row in rows),
        tuple(row.verdict for row in rows),
        without_markers(Message.objects.get(pk=answer.pk).content),
        milliseconds,
    )


def scores_of(outcomes: Sequence[Answered]) -> AnswerScores:
    citations = [(page in o.right_pages) for o in outcomes for page in o.pages]
    verdicts = [verdict in VERIFIED for o in outcomes for verdict in o.verdicts]
    with_value = [o for o in outcomes if amounts_in(o.known.answer)]
    return AnswerScores(
        questions=len(outcomes),
        cited=share(o.cites_evidence for o in outcomes),
        first=share(bool(o.pages) and o.pages[0] in o.right_pages for o in outcomes),
        precision=share(citations),
        verified=share(verdicts),
        values=share(says_value(o) for o in with_value),
        unanswered=share(o.is_unanswered for o in outcomes),
        citations=round(len(citations) / len(outcomes), 2) if outcomes else 0.0,
        judged_right=judged_right(),
        ms=round(statistics.median(o.milliseconds for o in outcomes), 1) if outcomes else 0.0,
    )


def says_value(outcome: Answered) -> bool:
    """Whether some value of the known answer is claimed in what was answered."""
    lines = [line for line in outcome.text.splitlines() if not line.startswith("#")]
    said = {number for line in lines for number in amounts_in(line)}
    return bool(amounts_in(outcome.known.answer) & said)


def amounts_in(text: str) -> set[Decimal]:
    """The sizes of a text's values but for years and dates, which answer no question after a number."""
    return {abs(value.number) for value in values_in(text) if value.kind not in ("year", "date")}


def judged_right() -> float | None:
    """What people said of the citations they judged, in all conversations."""
    judged = Citation.objects.exclude(feedback="").values_list("feedback", flat=True)
    return share(feedback == "right" for feedback in judged) if judged else None


def share(marks: Iterable[bool]) -> float:
    listed = list(marks)
    return round(sum(listed) / len(listed), 4) if listed else 0.0


class AnswerEvaluation:
    name = "answers"
    help = "Cited pages, verdicts and values of answers to known questions (FinanceBench's format)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl")
        parser.add_argument("--pdfs", type=Path, required=True, help="folder with <doc_name>.pdf")
        parser.add_argument("--scope", choices=["document", "library"], default="document")
        parser.add_argument("--json", action="store_true", help="one line of JSON")
        parser.add_argument("--each", action="store_true", help="each question with its answer")
        parser.add_argument("--without-packs", action="store_true", help="switch the packs of fields off")

    def run(self, out: OutputWrapper, **options: Any) -> None:
        try:
            questions = read_answered_questions(options["questions"])
        except (OSError, msgspec.MsgspecError) as error:
            raise CommandError(f"{options['questions']}: {error}") from None
        user = evaluation_user()
        files = wanted_files(options["pdfs"], list(questions), options["scope"])
        library = take_in_folder(user, files)
        with override_settings(**({"PACKS": []} if options["without_packs"] else {})):
            outcomes = answer_questions(questions, user, library, options["scope"])
        if options["each"]:
            for outcome in outcomes:
                out.write(line_of(outcome))
        scores = scores_of(outcomes)
        if options["json"]:
            out.write(msgspec.json.encode(scores).decode())
        else:
            for name, value in msgspec.structs.asdict(scores).items():
                out.write(f"{name:<14}{value}")


def line_of(outcome: Answered) -> str:
    mark = "✓" if outcome.cites_evidence else "✗"
    mark += " (no direct answer)" if outcome.is_unanswered else ""
    pages = ", ".join(map(str, outcome.pages))
    said = "\n".join(f"    {line}" for line in outcome.text.splitlines() if line.strip())
    return (
        f"{mark} {outcome.known.doc_name}: cites p. {pages or '–'}; right {sorted(outcome.right_pages)}\n"
        f"  {outcome.known.question}\n{said}"
    )


SUBCOMMANDS = (AnswerEvaluation(),)
