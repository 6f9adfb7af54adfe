"""A small library with known contents, imported as blocks, since no files are needed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from documents.models import Document
from tests.conftest import imported, new_alice

Lines = tuple[str, ...]

NIKE: tuple[Lines, ...] = (
    ("# Nike annual report", "Nike designs athletic footwear.", "The company is based in Oregon."),
    (
        "# Consolidated statements of cash flows",
        "Purchases of property, plant and equipment 1,119",
        "Dividends paid 1,332",
        "Net cash provided by operating activities 5,903",
    ),
    ("# Risk factors", "Currency moves may hurt our results.", "We filed Form 10-K with the commission."),
)
AMCOR: tuple[Lines, ...] = (
    ("# Amcor annual report", "Amcor makes flexible packaging.", "The company is based in Zurich."),
    (
        "# Consolidated statements of cash flows",
        "Purchases of property, plant and equipment 526",
        "Dividends paid 723",
        "Net cash provided by operating activities 1,261",
    ),
)
TRIAL: tuple[Lines, ...] = (
    (
        "# Pembrolizumab in lung cancer",
        "The KEYNOTE-189 trial enrolled 616 patients.",
        "Survival was longer (p < 0.001) with the drug.",
    ),
)


BAD = [
    "",
    "   ",
    "\x00",
    "?!…—",
    "the of and",
    "'; DROP TABLE documents_document; --",
    "a & b | !c <-> (d:*)",
    "100% %s %(x)s {documents}",
    "👩‍👩‍👧 🚀",
    "ما هي الأرباح",
    "مرحبا \u202e reversed",
    "word " * 10_000,
    "x" * 100_000,
    "different-" + "-".join(f"{number}th" for number in range(20_000)),
    "\ud800",
    "<script>alert(1)</script>",
    '"' * 500,
    "a",
    "ب",
    "'quoted' & ('a' <-> 'b':*C) | !''",
    "-",
    "*",
    "-word",
    '"-a" -"b c" d*',
    "author: year: page: type:",
    "[" * 2_000 + '"x"' + "]" * 2_000,
]
"""What people and programs type that is no question."""


@dataclass(frozen=True)
class Library:
    nike: Document
    amcor: Document
    trial: Document


def written(owner: User, title: str, *pages: Lines) -> Document:
    """A document of these lines; one that begins with '# ' is a heading."""
    blocks = [
        {
            "type": "heading" if line.startswith("# ") else "text",
            "text": line.removeprefix("# "),
            "page": page,
        }
        for page, lines in enumerate(pages, 1)
        for line in lines
    ]
    return imported(owner, blocks, title)


def library_of(owner: User) -> Library:
    """Two annual reports in the same words, and a trial."""
    return Library(
        nike=written(owner, "NIKE_2019_10K", *NIKE),
        amcor=written(owner, "AMCOR_2023_10K", *AMCOR),
        trial=written(owner, "trial", *TRIAL),
    )


@pytest.fixture(scope="module")
def one_library(module_rows: Path) -> Library:
    """For modules most of whose tests want the library: made once for all of them."""
    return library_of(new_alice())


@pytest.fixture
def alice(request: pytest.FixtureRequest, db: None) -> User:
    """The library's owner; in modules that share a library, a user without documents."""
    if "one_library" not in request.fixturenames:
        return new_alice()
    if "library" in request.fixturenames:
        return User.objects.get(username="alice")
    return User.objects.create_user("alice2", "alice2@example.com", "correct horse")


@pytest.fixture
def library(request: pytest.FixtureRequest, alice: User) -> Library:
    """Alice's."""
    if "one_library" not in request.fixturenames:
        return library_of(alice)
    shared = request.getfixturevalue("one_library")
    rows = Document.objects.in_bulk([shared.nike.pk, shared.amcor.pk, shared.trial.pk])
    return Library(*(rows[row.pk] for row in (shared.nike, shared.amcor, shared.trial)))
