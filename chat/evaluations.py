"""`manage.py evaluate answers QUESTIONS.jsonl --pdfs DIR`: what answers cite, and whether it holds."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import msgspec
from django.core.management.base import CommandError, OutputWrapper
from django.test.utils import override_settings

from chat.answer_evaluation import Answered, answer_questions, read_answered_questions, scores_of
from retrieval.evaluations import evaluation_user, take_in_folder, wanted_files


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
