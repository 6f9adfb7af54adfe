"""Builds cells for `manage.py evaluate review` from FinanceBench's metric questions.

    python tests/reviews/truths/financebench_cells.py QUESTIONS.jsonl > CELLS.jsonl

The questions are CC BY-NC 4.0 and stay where they are. Three kinds of cells are read out of them: each metric
question with its answer; line items of the statements in their evidence, by fiscal year; the same items
without a year, whose value is that of the last. Questions no filing answers are cells that are not stated.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ITEMS = {
    "Total assets": ("What were the total assets", r"totalassets"),
    "Current assets": ("What were the total current assets", r"totalcurrentassets"),
    "Current liabilities": ("What were the total current liabilities", r"totalcurrentliabilities"),
    "Net sales": (
        "What were the total net sales or revenue",
        r"(total|consolidated)?(net)?(operating)?(sales|revenues?)|totalrevenues?,?net",
    ),
    "Cost of sales": ("What was the cost of sales", r"(total)?costof(sales|goodssold)"),
    "Gross profit": ("What was the gross profit", r"gross(profit|margin)"),
    "Operating income": (
        "What was the operating income",
        r"(consolidated)?operating(income|profit)(\(loss\))?|incomefromoperations",
    ),
    "Net income": ("What was the net income", r"net(income|earnings)"),
    "Inventories": ("How large were the inventories", r"(merchandise)?inventories(,net)?"),
    "Capital expenditure": (
        "How much were capital expenditures",
        r"(purchases?of|additionsto|paymentsforpurchaseof)property.*|capitalexpenditures.*",
    ),
}
NEVER = {
    "Sample size": ("How many patients were randomized?", "number"),
    "Orbit": ("At what altitude does the satellite orbit?", "number"),
    "Rent": ("What is the monthly rent of the apartment?", "money"),
}
NUMBER = re.compile(r"\(?\$?\s*\(?(\d[\d,]*(?:\.\d+)?)\s*\)?")
SCALES = {"thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}


def cells(questions: Path) -> Iterator[dict[str, Any]]:
    known = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    metric = [question for question in known if question["question_type"] == "metrics-generated"]
    for question in metric:
        yield from metric_cell(question)
    seen: set[tuple[str, str]] = set()
    for question in metric:
        for evidence in question["evidence"]:
            for cell in statement_cells(question["doc_name"], evidence):
                if (key := (cell["document"], cell["column"]["title"])) not in seen:
                    seen.add(key)
                    yield cell
    for document in dict.fromkeys(question["doc_name"] for question in metric):
        for title, (text, kind) in NEVER.items():
            yield cell_of(document, title, text, kind, None, [])


def cell_of(
    document: str, title: str, question: str, kind: str, value: Any, pages: list[int], within: float = 0
) -> dict[str, Any]:
    column = {"title": title, "question": question, "kind": kind}
    cell = {"document": document, "column": column, "value": value, "pages": pages}
    return cell | ({"within": within} if within else {})


def metric_cell(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The question itself; its value may differ by half of the answer's last digit."""
    found = NUMBER.search(question["answer"])
    if found is None:
        return
    number = float(found[1].replace(",", ""))
    places = len(found[1].rstrip("0").partition(".")[2])
    scale = next((by for word, by in SCALES.items() if f"usd {word}" in question["question"].lower()), 1)
    is_money = "usd" in question["question"].lower()
    value = {"number": number * scale, "currency": "USD"} if is_money else number
    pages = [evidence["evidence_page_num"] + 1 for evidence in question["evidence"]]
    within = 0.5 * scale / 10**places
    kind = "money" if is_money else "number"
    yield cell_of(question["doc_name"], "Metric", question["question"], kind, value, pages, within)


def statement_cells(document: str, evidence: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Line items of one statement: under each of its years, and without a year."""
    lines = [line.strip() for line in evidence["evidence_text"].splitlines() if line.strip()]
    years, scale = years_of(lines), scale_of(evidence["evidence_text"])
    if not years or not scale:
        return
    page = [evidence["evidence_page_num"] + 1]
    rows = sorted(rows_of(lines), key=lambda row: not row[0].startswith("total"))  # totals before their parts
    is_balance = any(label == "totalassets" for label, _ in rows)
    for label, numbers in rows:
        for title, (text, pattern) in ITEMS.items():
            if len(numbers) != len(years) or not re.fullmatch(pattern, label):
                continue
            if title == "Inventories" and not is_balance:  # a change of them, in the statement of cash flows
                continue
            for year, number in zip(years, numbers, strict=True):
                value = {"number": number * scale, "currency": "USD"}
                asked = f"{text} in fiscal {year}?"
                yield cell_of(document, f"{title} {year}", asked, "money", value, page)
            latest = {"number": numbers[years.index(max(years))] * scale, "currency": "USD"}
            yield cell_of(document, title, f"{text}?", "money", latest, page)


def years_of(lines: list[str]) -> list[int]:
    """The years over the columns: in the first lines, before any of them comes again."""
    found: list[int] = []
    for line in lines[:16]:
        for year in map(int, re.findall(r"\b20\d\d\b", line)):
            if year in found:
                return found
            found.append(year)
    return found


def scale_of(text: str) -> int:
    head = text[:800].lower()
    return next((by for word, by in SCALES.items() if word in head), 0)


def rows_of(lines: list[str]) -> Iterator[tuple[str, list[float]]]:
    """Each label, in small letters without blanks, with the numbers after it."""
    label, numbers = "", list[float]()
    for line in [*lines, "end"]:
        if re.search(r"[A-Za-z]", line):
            yield label, numbers
            label, numbers = re.sub(r"\s+", "", line).lower().rstrip(":"), []
        else:
            numbers += [float(number.replace(",", "")) for number in NUMBER.findall(line)]


if __name__ == "__main__":
    for cell in cells(Path(sys.argv[1])):
        sys.stdout.write(json.dumps(cell) + "\n")
