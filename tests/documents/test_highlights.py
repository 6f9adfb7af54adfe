from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from documents.highlights import highlight_quote, highlight_unit, lines_of
from documents.models import Document
from documents.pdf.geometry import Rect
from tests.conftest import Ingest


@pytest.fixture
def page_and_unit(alice: User, ingested: Ingest):  # type: ignore[no-untyped-def]
    document: Document = ingested(alice, "The quick brown fox jumps over the lazy dog.")
    return document.pages.get(), document.units.get()


def test_the_unit_is_pale_and_the_quoted_words_are_strong(page_and_unit) -> None:  # type: ignore[no-untyped-def]
    page, unit = page_and_unit
    lit = highlight_unit(unit, page, "BROWN  fox")
    (passage,), (words,) = lit.unit, lit.anchor
    assert passage[0] < words[0] < words[2] < passage[2]
    assert min(passage) >= 0 and max(passage) <= 1


def test_words_that_are_not_on_the_page_light_nothing(page_and_unit) -> None:  # type: ignore[no-untyped-def]
    page, unit = page_and_unit
    assert highlight_unit(unit, page, "purple fox").anchor == ()
    assert highlight_quote(page, "").anchor == ()
    assert highlight_quote(page, "(.*)").anchor == ()


def test_words_are_joined_to_one_rectangle_per_line_and_column() -> None:
    words = [Rect(0, 0, 10, 10), Rect(13, 1, 20, 10), Rect(0, 14, 10, 24), Rect(100, 14, 110, 24)]
    assert lines_of(words) == [Rect(0, 0, 20, 10), Rect(0, 14, 10, 24), Rect(100, 14, 110, 24)]
