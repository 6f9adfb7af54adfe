"""The words above a unit: what statement it belongs to is read from them."""

from __future__ import annotations

from chat.citations.source_units import UnitPlace
from citing.claims import SourceUnit
from pdf.geometry import PageFrame, Rect

CASH, BALANCE = "Statements of Cash Flows", "Condensed Balance\nSheets (Unaudited)"
TOP = f"{CASH}\n" + "Net cash provided by operating activities\t1,261\n" * 12
PAGE = f"{TOP}{BALANCE}\nTotal assets\t17,003\n"


def below(text: str, section: str) -> str:
    place = UnitPlace("d1", "", "", (1, 1), (Rect(0, 0, 1, 1),), PageFrame(595, 842), PAGE)
    unit = SourceUnit("u1", "d1", 9, text, PAGE.index(text), (), "table", ("Results", section))
    assert place.heading.startswith(CASH)
    return place.heading_below(unit)


def test_a_heading_in_the_middle_of_the_page_is_told_beside_its_top() -> None:
    section = "Condensed Balance Sheets (Unaudited)"
    assert below("Total assets\t17,003", section) == section


def test_a_heading_of_an_earlier_page_or_further_down_does_not_count() -> None:
    assert below("Total assets\t17,003", "Statements of Income") == ""
    assert below("Net cash provided", "Condensed Balance Sheets (Unaudited)") == ""
