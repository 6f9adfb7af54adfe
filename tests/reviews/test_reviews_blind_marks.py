"""Marks of two reviewers: each sees only their own while they are blind; then how far they agree."""

from __future__ import annotations

import math
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from documents.models import Share
from reviews.exports import review_table
from reviews.models import Review, ReviewCell, ReviewMark
from reviews.review_commands import (
    InvalidReview,
    agreement,
    agreements,
    change_cell,
    fill_cells,
    set_blind,
)
from reviews.review_presenters import grid
from tests.api_clients import client_of
from tests.reviews.conftest import cell


@pytest.fixture
def blind(filled: Review, alice: User, bob: User) -> Review:
    """A filled review that Bob may edit, with its documents, and whose marks are blind."""
    filled.shares.create(user=bob, can_write=True)
    for row in filled.rows.all():
        Share.objects.create(document=row.document, user=bob)
    set_blind(filled, True)
    return filled


def mark(
    review: Review, user: User, title: str, said: str, name: str = "north.pdf", comment: str = ""
) -> None:
    found = cell(review, title, name)
    change_cell(found.pk, user, found.revision, {"mark": said, "comment": comment})


def test_each_sees_only_their_own_marks_while_blind(blind: Review, alice: User, bob: User) -> None:
    mark(blind, alice, "Fuel", "accepted", comment="As on deck.")
    mark(blind, bob, "Fuel", "wrong")
    fuel = cell(blind, "Fuel")
    for user, said in ((alice, ("accepted", "As on deck.")), (bob, ("wrong", ""))):
        (shown,) = [one for one in grid(blind, user).cells if one.id == fuel.pk]
        assert (shown.mark, shown.comment) == said
        read = client_of(user).get(f"/api/reviews/{blind.pk}/cells/{fuel.pk}/").json()
        assert (read["mark"], read["comment"]) == said
        listed = client_of(user).get(f"/api/reviews/{blind.pk}/cells/").json()["results"]
        assert [one["mark"] for one in listed if one["id"] == str(fuel.pk)] == [said[0]]
        table = review_table(blind, user, "http://testserver/")
        assert {one.mark for one in table.cells.values() if one.pk == fuel.pk} == {said[0]}
        assert agreements(blind, user) == []
    browser = Client()
    browser.force_login(bob)
    panel = browser.get(f"/reviews/cell/{fuel.pk}/").content.decode()
    assert "As on deck." not in panel and 'name="text"' not in panel
    assert "Cohen" not in browser.get(f"/reviews/{blind.pk}/agreement/").content.decode()


def test_the_grid_tells_a_reviewer_of_their_own_marks_alone(blind: Review, alice: User, bob: User) -> None:
    now = grid(blind, alice).now
    mark(blind, bob, "Fuel", "wrong")
    assert {one.mark for one in grid(blind, alice, now).cells} <= {""}
    mark(blind, alice, "Revenue", "accepted")
    changed = {one.id: one.mark for one in grid(blind, alice, now).cells}
    assert changed[cell(blind, "Revenue").pk] == "accepted"


def test_at_the_end_cells_take_the_mark_that_both_gave(blind: Review, alice: User, bob: User) -> None:
    for title, one, other in (
        ("Fuel", "accepted", "accepted"),
        ("Revenue", "accepted", "wrong"),
        ("Effect", "wrong", "wrong"),
        ("Dividend", "accepted", "accepted"),
    ):
        mark(blind, alice, title, one)
        mark(blind, bob, title, other)
    mark(blind, alice, "Passengers", "wrong", comment="A page too early.")
    api = client_of(alice)
    assert (
        client_of(bob).patch(f"/api/reviews/{blind.pk}/", {"blind": False}, format="json").status_code == 403
    )
    assert api.get(f"/api/reviews/{blind.pk}/agreement/").json() == {"blind": True, "pairs": []}
    assert api.patch(f"/api/reviews/{blind.pk}/", {"blind": False}, format="json").status_code == 200
    marks = {title: cell(blind, title).mark for title in ("Fuel", "Revenue", "Effect", "Passengers")}
    assert marks == {"Fuel": "accepted", "Revenue": "", "Effect": "wrong", "Passengers": "wrong"}
    assert cell(blind, "Passengers").comment == "alice: A page too early."
    (pair,) = api.get(f"/api/reviews/{blind.pk}/agreement/").json()["pairs"]
    assert (pair["first"], pair["second"], pair["cells"], pair["agreed"]) == ("alice", "bob", 4, 3)
    # observed 3/4; chance (3 * 2 + 1 * 2) / 16 = 1/2
    assert pair["kappa"] == 0.5 and pair["disputed"] == [str(cell(blind, "Revenue").pk)]
    browser = Client()
    browser.force_login(bob)
    page = browser.get(f"/reviews/{blind.pk}/agreement/").content.decode()
    assert "0.50" in page and "3 of 4 cells" in page and "Revenue" in page


def test_marks_that_were_shown_are_not_given_again_blindly(blind: Review, alice: User, bob: User) -> None:
    mark(blind, alice, "Fuel", "accepted")
    set_blind(blind, False)
    set_blind(blind, True)
    with pytest.raises(InvalidReview, match="already shown"):
        mark(blind, bob, "Fuel", "accepted")
    mark(blind, bob, "Revenue", "accepted")
    assert ReviewMark.objects.filter(revealed=True).count() == 1


def test_while_blind_nobody_writes_a_value_or_asks_a_marked_cell_again(
    blind: Review, alice: User, bob: User
) -> None:
    fuel = cell(blind, "Fuel")
    with pytest.raises(InvalidReview, match="cannot be edited while marks are blind"):
        change_cell(fuel.pk, alice, fuel.revision, {"text": "Diesel"})
    mark(blind, bob, "Fuel", "wrong")
    assert fill_cells(ReviewCell.objects.filter(pk=fuel.pk), again=True) == 0
    assert fill_cells(ReviewCell.objects.filter(pk=cell(blind, "Revenue").pk), again=True) == 1


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_kappa_is_cohen_s(pairs: list[tuple[bool, bool]]) -> None:
    one: dict[Any, bool] = {at: first for at, (first, _) in enumerate(pairs)}
    other: dict[Any, bool] = {at: second for at, (_, second) in enumerate(pairs)}
    found = agreement("a", "b", one, other)
    count = len(pairs)
    assert found.cells == count and found.agreed + len(found.disputed) == count
    if not count:
        assert found.kappa is None
        return
    share_one, share_other = sum(one.values()) / count, sum(other.values()) / count
    chance = share_one * share_other + (1 - share_one) * (1 - share_other)
    if math.isclose(chance, 1):
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx((found.agreed / count - chance) / (1 - chance), abs=1e-4)
