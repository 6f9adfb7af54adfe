"""`manage.py evaluate WHAT …`: score retrieval, answers or review cells whose truth is known."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from bench.evaluations.answers import AnswerEvaluation
from bench.evaluations.retrieval import RetrievalEvaluation
from bench.evaluations.review import ReviewEvaluation
from documents.management import LibraryCommand


class Command(LibraryCommand):
    help = "Measures retrieval and answers on questions whose answers are known."

    def add_arguments(self, parser: CommandParser) -> None:
        choices = parser.add_subparsers(required=True, metavar="WHAT")
        for part in (AnswerEvaluation(), RetrievalEvaluation(), ReviewEvaluation()):
            chosen = choices.add_parser(part.name, help=part.help)
            part.add_arguments(chosen)
            chosen.set_defaults(run=part.run)

    def handle(self, **options: Any) -> None:
        options["run"](self.stdout, **options)
