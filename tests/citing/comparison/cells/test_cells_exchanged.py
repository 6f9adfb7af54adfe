"""No claim that exchanges two numbers, rows or columns of a drawn table is verified; true ones are."""

from __future__ import annotations

import random

import pytest

from citing import verify
from citing.batch import Case, check
from citing.claims import VERIFIED
from tests.pdf.layout_drawing import Drawing

HEADS = (("2023", "2022", "2021"), ("North", "South", "West"), ("Women", "Men", "All"))
LABELS = ("Net sales", "Gross margin", "Rent", "Travel", "Interest", "Cash")
TRUE = (
    "{label}: {a} ({A}), {b} ({B}).",
    "{label} was {a} in {A} versus {b} in {B}.",
    "{label} and {other} were {a} and {p} in {A}.",
    "For {A}, {label} was {a}, {other} {p}.",
    "{A}: {label} {a}; {other} {p}.",
    "In {A}, {B} and {C}, {label} was {a}, {b} and {c}, respectively.",
)
FALSE = (
    "{label} was {b} in {A}.",
    "{label}: {b} ({A}), {a} ({B}).",
    "{label} was {b} in {A} versus {a} in {B}.",
    "{label} and {other} were {p} and {a} in {A}.",
    "{label} and {other} were {a} and {q} in {A}.",
    "For {A}, {label} was {a}, {other} {q}.",
    "In {A}, {label} was {a} and {other} {q}.",
    "{A}: {label} {a}; {other} {q}.",
    "In {A} and {B}, {label} was {a}.",
    "In {A}, {B} and {C}, {label} was {b}, {a} and {c}, respectively.",
    "In {A}, {B} and {C}, {label} was {a}, {c} and {b}, respectively.",
    "{label} {turned} from {least} to {most}.",
)


@pytest.mark.parametrize("seed", range(6))
def test_no_exchange_of_cells_is_verified(seed: int) -> None:
    generator = random.Random(seed)
    heads = HEADS[seed % len(HEADS)]
    numbers = iter(generator.sample(range(100, 9999), 12))
    rows = [
        (label, *(f"{next(numbers):,}" for _ in heads))
        for label in generator.sample(LABELS, 12 // len(heads))
    ]
    drawing = Drawing()
    for line, row in enumerate((("Item", *heads), *rows)):
        for x, text in zip((72, 250, 350, 450), row, strict=True):
            drawing.text(x, 120 + 14 * line, text)
    (page,) = drawing.read()
    (label, a, b, c), (other, p, q, _) = generator.sample(rows, 2)
    least, most = sorted((a, b), key=lambda number: int(number.replace(",", "")))
    words = dict(zip("ABC", heads, strict=True)) | {"label": label, "other": other.lower(), "turned": "fell"}
    words |= {"a": a, "b": b, "c": c, "p": p, "q": q, "least": least, "most": most}
    true = {claim: verify(claim, page).verdict for claim in (form.format(**words) for form in TRUE)}
    false = {claim: verify(claim, page).verdict for claim in (form.format(**words) for form in FALSE)}
    assert not [claim for claim, verdict in true.items() if verdict not in VERIFIED]
    assert not [claim for claim, verdict in false.items() if verdict in VERIFIED]


def test_a_number_in_the_name_of_a_column_is_no_statement() -> None:
    passage = (
        "| Models | Zero-shot 2-class | In-Context 2-class | In-Context 3-class |\n"
        "| Vicuna-7B | 63.62 | 50.35 | 34.26 |\n| Llama-7B | 53.97 | 44.39 | 32.66 |"
    )
    right = check(Case("In Zero-shot 2-class, Vicuna-7B was 63.62.", passage=passage, lang="en"))
    wrong = check(Case("In Zero-shot 2-class, Vicuna-7B was 34.26.", passage=passage, lang="en"))
    assert right.verified and not wrong.verified
