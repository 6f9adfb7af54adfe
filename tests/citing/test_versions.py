"""Aligned sections and changes of two versions, drawn as units."""

from __future__ import annotations

import time

import pytest

from citing.versions import VersionUnit, changes_between, compare

BODY = {
    "Term": "The term begins on 1 May 2024 and ends on 30 April 2029.",
    "Rent": "The tenant shall pay a rent of £4,200 each month, within 30 days of the invoice.",
    "Deposit": "A deposit of £12,600 is returned to the tenant after the keys were handed over.",
    "Repairs": "The landlord shall repair the roof, the outer walls and the heating of the building.",
    "Notice": "Either party may end this lease for cause with sixty days of notice in writing.",
}


def units(*sections: tuple[str, str]) -> list[VersionUnit]:
    texts = [(text, at == 0) for section in sections for at, text in enumerate(section)]
    return [VersionUnit(str(at), 1, text, is_heading) for at, (text, is_heading) in enumerate(texts)]


OLD = units(*((f"{at}. {title}", text) for at, (title, text) in enumerate(BODY.items(), 1)))


def test_a_moved_and_renumbered_section_is_the_same_section() -> None:
    order = ["Notice", "Term", "Rent", "Deposit", "Repairs"]
    found = compare(OLD, units(*((f"{at}. {title}", BODY[title]) for at, title in enumerate(order, 1))))
    pairs = {
        (found.old_sections[one.old[0]].title, found.new_sections[one.new[0]].title) for one in found.sections
    }
    assert pairs == {
        (f"{at}. {title}", f"{order.index(title) + 1}. {title}") for at, title in enumerate(BODY, 1)
    }
    assert [one.old[0] for one in found.sections if one.is_moved] == [4]
    assert all(one.kind == "same" and one.is_renumbered for one in found.sections)
    assert not found.changes


def test_a_split_a_removed_and_an_added_section_are_told_apart() -> None:
    halves = ("The tenant shall pay a rent of £4,200 each month,", "within 30 days of the invoice.")
    new = units(
        ("1. Term", BODY["Term"]),
        ("2. Rent", halves[0]),
        ("3. Payment", halves[1]),
        ("4. Deposit", BODY["Deposit"]),
        ("5. Repairs", BODY["Repairs"]),
        ("6. Parking", "Two spaces behind the house belong to the flat."),
    )
    found = compare(OLD, new)
    kinds = {(one.kind, one.old, one.new) for one in found.sections}
    assert ("split", (1,), (1, 2)) in kinds
    assert ("removed", (4,), ()) in kinds and ("added", (), (5,)) in kinds


@pytest.mark.parametrize(
    ("old", "new", "kind", "values"),
    [
        ("It ends on 3 May 2029.", "It ends on 3 May 2031.", "date", ("3 May 2029", "3 May 2031")),
        ("The rent is £4,200.", "The rent is £4,650.", "number", ("£4,200", "£4,650")),
        ("He may smoke here.", "He shall not smoke here.", "modal", ("may", "shall not")),
        ("See section 4 for more.", "See section 5 for more.", "reference", ("4", "5")),
        ("Rule 7.1.2 applies.", "Rule 7.1.3 applies.", "number", ("7.1.2", "7.1.3")),
        ("The agent is Alder Ltd today.", "The agent is Birch Ltd today.", "name", ("Alder", "Birch")),
        ("A green door is fine.", "A blue door is fine.", "words", ("green", "blue")),
    ],
)  # fmt: skip
def test_a_change_has_its_kind_and_both_values(
    old: str, new: str, kind: str, values: tuple[str, str]
) -> None:
    (change,) = changes_between(*([(0, VersionUnit("1", 1, text))] for text in (old, new)))
    assert (change.kind, (change.old, change.new)) == (kind, values)


def test_the_same_value_printed_otherwise_is_no_change() -> None:
    old, new = "Pay  £4,200 within 60 days.", "Pay £4,200 within sixty days."
    assert not list(changes_between(*([(0, VersionUnit("1", 1, text))] for text in (old, new))))


def test_numbers_that_cannot_be_told_apart_are_shown_with_their_words() -> None:
    old, new = "Pay within twenty-four (24) months.", "Pay within twenty-four (74) months."
    (change,) = changes_between(*([(0, VersionUnit("1", 1, text))] for text in (old, new)))
    assert (change.kind, "24" in change.old, "74" in change.new) == ("number", True, True)


def test_lone_numbers_of_a_moved_chart_are_paired_by_their_place() -> None:
    chart = [("Sales by year", "2,310", "415"), ("Costs by year", "980", "77")]
    others = list(BODY.items())
    changed = [("Sales by year", "2,310", "495"), ("Costs by year", "980", "72")]
    found = compare(units(*chart, *others), units(*others, *changed))
    assert {(one.old, one.new) for one in found.changes} == {("415", "495"), ("77", "72")}


def test_documents_with_nothing_in_common_share_nothing() -> None:
    other = units(
        ("Whales", "Whales sleep upright in the sea."), ("Krill", "Krill drift in swarms below ice.")
    )
    found = compare(OLD, other)
    assert found.shared == 0 and {one.kind for one in found.sections} == {"added", "removed"}
    assert compare([], []).shared == 0


def test_clauses_that_are_counted_through_a_document_are_sections() -> None:
    clauses = [f"{at}. {text}" for at, text in enumerate(BODY.values(), 1)]
    old = units(("Lease", *clauses), ("Schedule", "The fittings of the kitchen are listed below."))
    new = units(
        ("Lease", clauses[0], f"9. {BODY['Deposit']}", *clauses[1:2], *clauses[3:]),
        ("Schedule", "The fittings of the kitchen are listed below."),
    )
    found = compare(old, new)
    pairs = {
        (found.old_sections[one.old[0]].number, found.new_sections[one.new[0]].number)
        for one in found.sections
    }
    assert pairs == {("", ""), ("1", "1"), ("2", "2"), ("3", "9"), ("4", "4"), ("5", "5")}


def test_sub_clauses_are_sections_whatever_else_is_printed_as_a_heading() -> None:
    terms = [
        f"{mark} {text}" for mark, text in zip(("1.1", "1.2", "(a)", "(b)", "2."), BODY.values(), strict=True)
    ]
    plain = units(("Lease", "1. Terms", *terms))
    bold = units(("Lease",), ("1. Terms", f"9.9 {BODY['Repairs']}", *terms[:3], terms[4]))
    found = compare(plain, bold)
    pairs = {
        (found.old_sections[one.old[0]].number, found.new_sections[one.new[0]].number)
        for one in found.sections
    }
    assert pairs == {
        ("", ""),
        ("1", "1"),
        ("1.1", "1.1"),
        ("1.2", "1.2"),
        ("a", "a"),
        ("b", "9.9"),
        ("2", "2"),
    }


def test_a_change_is_in_the_part_of_a_split_paragraph_that_has_it() -> None:
    old = units(("Rent", f"{BODY['Rent']} {BODY['Deposit']}"))
    found = compare(old, units(("Rent", BODY["Rent"], BODY["Deposit"].replace("12", "14"))))
    assert [(one.old, one.new, one.new_unit) for one in found.changes] == [("£12,600", "£14,600", 2)]


def paged(*texts: tuple[int, str]) -> list[VersionUnit]:
    return [VersionUnit(str(at), page, text) for at, (page, text) in enumerate(texts)]


RENT = "The tenant shall pay a rent of £4,200"


@pytest.mark.parametrize(
    "texts",
    [
        ((1, BODY["Term"]), (1, f"{RENT} each month, within"), (2, "45 days of the invoice.")),
        ((1, f"{BODY['Term']} {RENT}"), (1, "each month, within 45 days of the invoice.")),
        ((1, BODY["Term"]), (1, f"{RENT} each month, within 45 days of the invoice.")),
    ],
)
def test_a_paragraph_that_ends_elsewhere_has_only_its_own_change(texts: tuple[tuple[int, str], ...]) -> None:
    found = compare(paged((1, BODY["Term"]), (2, BODY["Rent"])), paged(*texts))
    assert [(one.old, one.new) for one in found.changes] == [("30 days", "45 days")]


def test_a_number_that_begins_a_paragraph_is_no_label() -> None:
    old, new = (paged((1, f"{days} days after the audit the report is printed.")) for days in (30, 45))
    assert [(one.old, one.new) for one in compare(old, new).changes] == [("30 days", "45 days")]


def test_paragraphs_of_ten_digits_repeated_cost_seconds() -> None:
    """On 7fd0d56e 22 s, for each paragraph of a page that repeats them."""
    old, new = (units(("", " ".join(str(n * n * step % 10) for n in range(9_000)))) for step in (3, 7))
    begun = time.process_time()
    compare(old, new)
    assert time.process_time() - begun < 8
