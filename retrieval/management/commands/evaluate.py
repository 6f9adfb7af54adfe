"""`manage.py evaluate WHAT …`: see ``retrieval.subcommands``."""

from __future__ import annotations

from retrieval.subcommands import CommandOfParts


class Command(CommandOfParts):
    help = "Measures retrieval and answers on questions whose answers are known."
    parts = "evaluations"
