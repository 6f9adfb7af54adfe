"""`manage.py bench NAME …`: measures. Each stands in a module of its own, `<app>/benchmarks/<name>.py`.

Such a module has a docstring that begins with what it measures, `add_arguments(parser)`,
and `run(command, options)`, which prints with `command.stdout.write` and returns the exit code.
"""

from __future__ import annotations

import pkgutil
import sys
from argparse import ArgumentParser
from importlib import import_module
from types import ModuleType
from typing import Any

from documents.management.library_command import LibraryCommand

APPS = ("documents", "retrieval", "chat", "config")


def benchmarks() -> dict[str, ModuleType]:
    """Modules by name, from the `benchmarks` packages of the apps that have one."""
    found: dict[str, ModuleType] = {}
    for app in APPS:
        try:
            package = import_module(f"{app}.benchmarks")
        except ModuleNotFoundError:
            continue
        for module in pkgutil.iter_modules(package.__path__):
            if not module.name.startswith("_"):
                found[module.name] = import_module(f"{app}.benchmarks.{module.name}")
    return found


class Command(LibraryCommand):
    help = "Measures speed and endurance, as ratios within one run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        choices = parser.add_subparsers(dest="benchmark", required=True, metavar="NAME")
        for name, module in benchmarks().items():
            summary = (module.__doc__ or name).splitlines()[0]
            chosen = choices.add_parser(name, help=summary, description=summary)
            module.add_arguments(chosen)
            chosen.set_defaults(module=module)

    def handle(self, **options: Any) -> None:
        code = options["module"].run(self, options)
        if code:
            sys.exit(code)
