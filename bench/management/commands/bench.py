"""`manage.py bench NAME …`: run a benchmark, a module `bench/<name>.py`.

Its docstring begins with what it measures. It has `add_arguments(parser)`, and `run(command, options)`, which
prints with `command.stdout.write` and returns the exit code. `OWN_SERVERS = True` means that it starts and
migrates its own database servers.
"""

from __future__ import annotations

import pkgutil
import sys
from argparse import ArgumentParser
from importlib import import_module
from types import ModuleType
from typing import Any

import bench
from documents.management import LibraryCommand


def benchmarks() -> dict[str, ModuleType]:
    """Return the modules of `bench` by name, without parts of one (`_name`)."""
    return {
        module.name: import_module(f"bench.{module.name}")
        for module in pkgutil.iter_modules(bench.__path__)
        if not module.ispkg and not module.name.startswith("_")
    }


class Command(LibraryCommand):
    help = "Measures speed and robustness, as ratios within one run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        choices = parser.add_subparsers(dest="benchmark", required=True, metavar="NAME")
        for name, module in benchmarks().items():
            summary = (module.__doc__ or name).splitlines()[0]
            chosen = choices.add_parser(name, help=summary, description=summary)
            module.add_arguments(chosen)
            chosen.set_defaults(module=module)

    def execute(self, *args: Any, **options: Any) -> str | None:
        self.requires_migrations_checks = not getattr(options["module"], "OWN_SERVERS", False)
        return super().execute(*args, **options)

    def handle(self, **options: Any) -> None:
        code = options["module"].run(self, options)
        if code:
            sys.exit(code)
