"""Scores questions to every document, whole, over collections whose cells are known.

    PINCITE_VAR=… python tests/reviews/truths/every_document.py CELLS.jsonl … [--each] [--least 2]

Known cells (as of `manage.py evaluate review`) with the same question are one question to their documents. It
becomes the columns that the product proposes, a review is filled without a model, and its answer is compared:
its denominator with the number of documents, the documents that state a value, and the value itself (sum,
range, counts by value) with the one computed from the known cells. *right*: all equal; *open*: some documents
came out unclear or not found, all values counted are right; *wrong*: a value counted is not.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


def main() -> None:
    import django

    django.setup()
    from bench.evaluations.retrieval import evaluation_user
    from documents.models import Document

    parser = ArgumentParser()
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--least", type=int, default=2, help="documents of a question")
    options = parser.parse_args()
    user = evaluation_user()
    by_stem = {Path(one.original_name).stem: one for one in Document.objects.visible_to(user)}
    asked: dict[str, dict[str, Any]] = defaultdict(dict)
    for file in options.files:
        for line in file.read_text().splitlines():
            known = json.loads(line)
            if known["document"] in by_stem:
                asked[known["column"]["question"]][known["document"]] = known
    totals: Counter[str] = Counter()
    for question, cells in asked.items():
        if len(cells) < options.least:
            continue
        counts, said = judged(question, cells, by_stem, user)
        totals += counts
        if options.each:
            print(f"{'✓' if counts['right'] else '–' if counts['open'] else '✗'} {question} | {said}")
    share = {name: f"{totals[name]} of {totals['questions']}" for name in ("denominator", "stated", "right")}
    whole = f"cells right {totals['cells right']} of {totals['cells']}"
    print(share, f"open {totals['open']}, wrong {totals['wrong']};", whole)


def judged(
    question: str, cells: dict[str, Any], by_stem: dict[str, Any], user: Any
) -> tuple[Counter[str], str]:
    """Ask the question of its documents; return what is right, and the answer in one line."""
    import msgspec

    from bench.evaluations.review import KnownCell, same_value
    from reviews.fill_queue import fill_row
    from reviews.models import Review, ReviewCell
    from reviews.question_answer import column_answers
    from reviews.question_columns import columns_for
    from reviews.review_commands import start_review
    from reviews.review_presenters import grid
    from reviews.typed_values import FilledCell

    columns = columns_for(question)[:1]
    bound = next(iter(cells.values())).get("condition", "")
    documents = [by_stem[stem] for stem in cells]
    known = {by_stem[stem].pk: msgspec.convert(drop(cell), KnownCell) for stem, cell in cells.items()}
    if any(one.column.choices for one in known.values()):
        columns[0].choices = next(one.column.choices for one in known.values())
        columns[0].kind = "choice"
    review = start_review(user, "every", documents, columns=columns, question=question)
    try:
        ReviewCell.objects.filter(row__review=review).update(state=ReviewCell.State.RUNNING)
        for row in review.rows.all():
            fill_row(
                list(
                    row.cells.select_related("row__review__owner", "row__document", "row__added_by", "column")
                )
            )
        (answer,) = column_answers(grid(review, user))[:1]
        filled = {
            cell.row.document_id: FilledCell(ReviewCell.State(cell.state), cell.value, cell.text)
            for cell in ReviewCell.objects.filter(row__review=review).select_related("row")
        }
    finally:
        Review.objects.filter(pk=review.pk).delete()
    found = {pk for pk, one in filled.items() if one.state == ReviewCell.State.FOUND}
    true = {pk for pk, one in known.items() if one.value is not None}
    right = {pk for pk in found if pk in true and same_value(known[pk], filled[pk])}
    nothing = {pk for pk, one in filled.items() if one.state == ReviewCell.State.NOT_STATED} - true
    is_whole = answer.documents == len(cells) == sum(answer.states.values())
    counts = Counter(questions=1, cells=len(cells))
    counts["denominator"] = is_whole and answer.stated == len(found)
    counts["stated"] = found == true
    counts["right"] = right == true == found and within(bound, answer, known)
    counts["wrong"] = right != found
    counts["open"] = not counts["right"] and not counts["wrong"]
    counts["cells right"] = len(right) + len(nothing)
    numbers = [(one.unit, one.count, one.least, one.most, one.total) for one in answer.numbers]
    groups = [(one.value[:40], one.count) for one in answer.groups][:4]
    return (
        counts,
        f"{answer.stated} of {answer.documents} {dict(answer.states)} {answer.within} {numbers or groups}",
    )


def drop(cell: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in cell.items() if name != "condition"}


def within(bound: str, answer: Any, known: dict[Any, Any]) -> bool:
    """Return whether as many values are counted within the bound as the known values are."""
    from reviews.question_answer import is_within

    values = [
        one.value if isinstance(one.value, dict) else {"number": one.value}
        for one in known.values()
        if one.value is not None
    ]
    return not bound or answer.within == sum(is_within(bound, value) for value in values)


if __name__ == "__main__":
    main()
