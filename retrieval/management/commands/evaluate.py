"""`manage.py evaluate WHAT …`: runs one of the evaluations that the apps offer."""

from __future__ import annotations

from argparse import ArgumentParser
from importlib import import_module
from typing import Any, Protocol

from django.apps import apps
from django.core.management.base import CommandParser, OutputWrapper
from django.utils.module_loading import module_has_submodule

from documents.management import LibraryCommand

# A command whose parts live in several apps: ``evaluate retrieval``, ``evaluate answers``.
#
# An app gives its parts in a module ``evaluations`` with a tuple ``SUBCOMMANDS``,
# so that chat's need no import from retrieval to chat.


class Subcommand(Protocol):
    """``name`` is what is typed; ``help`` one sentence."""

    name: str
    help: str

    def add_arguments(self, parser: ArgumentParser) -> None: ...

    def run(self, out: OutputWrapper, **options: Any) -> None:
        """Raises CommandError."""
        ...


def subcommands(module: str) -> dict[str, Subcommand]:
    """Those of every app that has ``module``, by name."""
    found: dict[str, Subcommand] = {}
    for config in apps.get_app_configs():
        if config.module is not None and module_has_submodule(config.module, module):
            parts = import_module(f"{config.name}.{module}").SUBCOMMANDS
            found |= {part.name: part for part in parts}
    return found


class CommandOfParts(LibraryCommand):
    """A command that runs one of the parts found in the apps' module ``parts``."""

    parts: str

    def add_arguments(self, parser: CommandParser) -> None:
        choices = parser.add_subparsers(dest="part", required=True, metavar="WHAT")
        for name, part in sorted(subcommands(self.parts).items()):
            part.add_arguments(choices.add_parser(name, help=part.help))

    def handle(self, *args: Any, part: str, **options: Any) -> None:
        subcommands(self.parts)[part].run(self.stdout, **options)


class Command(CommandOfParts):
    help = "Measures retrieval and answers on questions whose answers are known."
    parts = "evaluations"
