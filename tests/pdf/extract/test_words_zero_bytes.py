"""A zero byte after each letter is no letter; a letter that cannot be read stays a sign that it is there."""

from __future__ import annotations

from pdf.extract.words import UNDECODABLE, RawWord, Style, _without_zeros


def line_of(*texts: str) -> list[RawWord]:
    return [RawWord(n, 0, n + 1, 1, text, Style(10.0), 1.0, 0) for n, text in enumerate(texts)]


def test_zero_bytes_between_letters_are_left_out() -> None:
    zero = UNDECODABLE
    line = line_of(f"D{zero}i{zero}e{zero}", f"{zero}s{zero}a{zero}a{zero}t{zero}", zero)
    assert [word.text for word in _without_zeros(line)] == ["Die", "saat"]


def test_letters_that_cannot_be_read_stay() -> None:
    for line in (
        line_of(f"Gr{UNDECODABLE}ße", "aus"),
        line_of(UNDECODABLE * 4),
        line_of(f"a{UNDECODABLE * 2}b"),
    ):
        assert _without_zeros(line) == line
