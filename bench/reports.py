"""What stays of reports by a model that deceives in a third of its sentences, over real HTTP.

Each question becomes a report of one section on its document. A sentence that stays is right if verified
or marked; a quotation is invented if the writer's own record (``bench._deceiving_writer``) says so, or if its
letters are on no page of the document. The kind of each sentence is of that record, too, not the verifier's.
"""

from __future__ import annotations

import json
import random
import re
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand

from bench._deceiving_writer import HONEST, DeceivingWriter, deceiving_server
from chat.models import Report
from chat.reports.report_commands import new_report
from chat.reports.report_queue import write_next_section
from chat.reports.sentence_check import letters, quotations, statement_spans
from citing.claim_spans import claims_something, plain
from citing.marker_decoder import stored_marks
from documents.models import Document, Page

MARK = re.compile("‹[^›]*›")
INSIDE = re.compile(r"([.!?…]*[”\"’)]*) \*\(([^)]*)\)\*")  # a mark behind its sentence, moved into it


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("questions", type=Path, nargs="+", help="JSON lines with doc_name and question")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="so many sentences that stayed")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    asked = questions_on_documents(options["questions"])
    random.Random(options["seed"]).shuffle(asked)
    writer, counts, shown = DeceivingWriter(options["seed"]), Counter[str](), list[str]()
    with deceiving_server(writer) as url:
        settings.COMPATIBLE_BASE_URL, settings.COMPATIBLE_MODEL = url, "deceiving"
        for question, document in asked[: options["count"]]:
            report = written(question, document)
            shown += measured(report, document, writer, counts)
            report.note.delete() if report.note else None
            report.delete()
    told = Counter(writer.told.values())
    command.stdout.write(f"reports {len(asked[: options['count']])}, written sentences {dict(told)}")
    command.stdout.write(f"what stays {dict(counts)}")
    stays = counts["verified"] + counts["marked"] + counts["neither"]
    share = (counts["verified"] + counts["marked"]) / max(1, stays)
    command.stdout.write(
        f"verified or marked {share:.3f} of {stays}; invented quotes {counts['invented quotes']}"
    )
    random.Random(options["seed"]).shuffle(shown)
    for line in shown[: options["show"]]:
        command.stdout.write(line)
    return 0 if share >= 0.95 and not counts["invented quotes"] else 1


def questions_on_documents(files: list[Path]) -> list[tuple[str, Document]]:
    """Return the questions on documents that are in the library, by their file name."""
    by_name = {Path(one.original_name).stem: one for one in Document.objects.searchable()}
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [
        (row["question"], by_name[name]) for row in rows if (name := Path(row["doc_name"]).stem) in by_name
    ]


def written(question: str, document: Document) -> Report:
    owner = document.owner or User.objects.filter(is_superuser=True)[0]
    title = " ".join(question.split())[:300]
    report = new_report(owner, question, [document], title, provider="compatible")
    Report.objects.filter(pk=report.pk).update(state=Report.State.RUNNING)
    write_next_section(report)
    report.refresh_from_db()
    return report


def measured(report: Report, document: Document, writer: DeceivingWriter, counts: Counter[str]) -> list[str]:
    """Count what stays of a report; return its sentences with their kinds."""
    note = report.note
    if note is None:
        return []
    content = INSIDE.sub(r" ‹\2›\1", note.content.partition("\n---\n")[0])
    outcomes = {str(one.pk): one.outcome for one in note.citations.all()}
    pages = letters("\n".join(Page.objects.filter(document=document).values_list("text", flat=True)))
    lines = []
    for start, end in statement_spans(content):
        text = content[start:end]
        mark = MARK.search(text)
        words = plain(MARK.sub("", text))
        if not claims_something(text, content[:start]):
            continue
        found = [outcomes.get(one.unit_id, "") for one in stored_marks(text)]
        state = "marked" if mark else "verified" if found and set(found) == {"verified"} else "neither"
        kind = writer.kind_of(words) or "unknown"
        counts[state] += 1
        counts[f"{state}: {'honest' if kind == HONEST else kind}"] += 1
        invented = kind == "misquoted" or any(letters(one) not in pages for one in quotations(words))
        counts["invented quotes"] += invented
        lines.append(f"[{state} · {kind}] {words}")
    return lines
