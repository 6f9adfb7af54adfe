"""Printed page numbers, read from headers and footers."""

from __future__ import annotations

from documents.page_labels import printed_labels
from pdf.geometry import PageFrame
from pdf.structure import Furniture, ParsedPage


def pages(*footers: str) -> list[ParsedPage]:
    return [
        ParsedPage(number, "", PageFrame(612, 792), text, (), (), (Furniture(text, 0, len(text), ()),))
        for number, text in enumerate(footers, start=1)
    ]


def test_a_cover_shifts_the_printed_numbers() -> None:
    found = printed_labels(pages("", "", "Annual report 2018 | 1", "Annual report 2018 | 2", "3", "4"))
    assert found == {3: "1", 4: "2", 5: "3", 6: "4"}


def test_a_page_without_a_number_between_numbered_ones_has_one_too() -> None:
    assert printed_labels(pages("7", "8", "", "10"))[3] == "9"


def test_each_sequence_of_a_file_counts_for_itself() -> None:
    found = printed_labels(pages("1", "2", "3", "F-1", "F-2", "F-3"))
    assert list(found.values()) == ["1", "2", "3", "F-1", "F-2", "F-3"]


def test_the_number_of_all_pages_and_a_year_are_no_page_numbers() -> None:
    found = printed_labels(pages("", *(f"Page {n} of 45, 2018" for n in (1, 2, 3))))
    assert found == {2: "1", 3: "2", 4: "3"}


def test_numbers_that_do_not_count_on_label_nothing() -> None:
    assert printed_labels(pages("Form 10", "Form 10", "Form 10", "v 3.1", "v 3.2", "v 3.3")) == {}
