from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.views.files import ByteRange, RangeNotSatisfiable, requested_range


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-9", (0, 9)),
        ("bytes=90-", (90, 99)),
        ("bytes=-10", (90, 99)),
        ("bytes=-500", (0, 99)),
        ("bytes=50-500", (50, 99)),
    ],
)
def test_a_range_is_cut_to_the_file(header: str, expected: tuple[int, int]) -> None:
    assert requested_range(header, 100) == ByteRange(*expected, 100)


@pytest.mark.parametrize(
    "header", ["", "bytes=", "bytes=-", "bytes=5-2", "bytes=0-1,4-5", "lines=1-2", "bytes=a-b"]
)
def test_a_header_that_asks_for_no_single_range_is_ignored(header: str) -> None:
    assert requested_range(header, 100) is None


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=100-200", "bytes=-0"])
def test_a_range_outside_the_file_cannot_be_satisfied(header: str) -> None:
    with pytest.raises(RangeNotSatisfiable):
        requested_range(header, 100)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(1, 200))
def test_what_is_given_always_lies_in_the_file(start: int, end: int, size: int) -> None:
    try:
        span = requested_range(f"bytes={start}-{end}", size)
    except RangeNotSatisfiable:
        return
    assert span is None or 0 <= span.start <= span.end < size
