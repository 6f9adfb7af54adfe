"""``manage.py verify --batch FILE``: verify claims on passages. Needs no database, network or model."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import msgspec
from django.core.management.base import BaseCommand, CommandParser

from citing.batch import Case, check
from documents.ingestion.parser import parse_limits
from pdf.api import ParseFailure


class Command(BaseCommand):
    help = "Checks whether passages support claims. Reads and writes one JSON object per line."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--batch",
            required=True,
            help='lines of {"claim", "passage" or "pdf" and "page"}; - is standard input',
        )
        parser.add_argument("--root", type=Path, default=Path(), help="base folder of the paths in a batch")
        parser.add_argument("--json", action="store_true", help="print one line of JSON per claim")
        parser.add_argument(
            "--output", type=argparse.FileType("w", encoding="utf-8"), help="file to write the lines to"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch"] == "-":
            counts = self._check_all(sys.stdin.buffer, options)
        else:
            try:
                with Path(options["batch"]).open("rb") as lines:
                    counts = self._check_all(lines, options)
            except OSError as failure:
                self.stderr.write(f"{options['batch']}: {failure.strerror}")
                sys.exit(2)
        if not options["json"]:
            self.stdout.write("\n".join(f"{verdict:12} {count:6}" for verdict, count in counts.most_common()))
        if counts["error"]:
            sys.exit(1)

    def _check_all(self, lines: BinaryIO, options: dict[str, Any]) -> Counter[str]:
        counts = Counter[str]()
        outputs: list[TextIO | Any] = [options["output"]] if options["output"] else []
        if options["json"] and not outputs:
            outputs = [self.stdout]
        for line in lines:
            if not line.strip():
                continue
            result = checked_line(line, options["root"])
            counts[result.get("verdict", "error")] += 1
            for output in outputs:
                output.write(json.dumps(result, ensure_ascii=False) + "\n")
                output.flush()
        return counts


def checked_line(line: bytes, root: Path) -> dict[str, Any]:
    """Return the verdict of a line, or its id and error."""
    name = ""
    try:
        raw = msgspec.json.decode(line)
        name = raw.get("id", "") if isinstance(raw, dict) else ""
        case = msgspec.convert(raw, Case)
        return dict(msgspec.to_builtins(check(case, root, parse_limits())))
    except ParseFailure as failure:
        return {"id": name, "error": f"{failure.message} ({failure.code})"}
    except (msgspec.MsgspecError, ValueError) as failure:
        return {"id": name, "error": str(failure)}
