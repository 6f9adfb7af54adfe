"""`manage.py bench WHAT …`: see ``retrieval.subcommands``."""

from __future__ import annotations

from retrieval.subcommands import CommandOfParts


class Command(CommandOfParts):
    help = "Measures speed against what the machine can do at best."
    parts = "benchmarks"
