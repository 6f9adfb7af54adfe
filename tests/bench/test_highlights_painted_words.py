from __future__ import annotations

from bench.highlights import REACH, Ink, Painted


def test_letters_are_joined_to_words_at_the_gaps_between_them() -> None:
    ink = Ink([(10, 14), (15, 19), (23, 30)], gap=2)
    assert ink.words() == [(10, 19), (23, 30)]


def test_an_end_is_looked_for_near_the_text_layers() -> None:
    ink = Ink([(10, 19), (23, 30)], gap=2)
    assert ink.end_near(12.5, side=0) == 10
    assert ink.end_near(27, side=1) == 30
    assert ink.end_near(30 + REACH + 1, side=1) is None


def test_the_ink_decides_where_the_text_layer_has_the_end_elsewhere() -> None:
    """The last word of the text layer is 4 px short; one rectangle ends with the ink, the other does not."""
    words = [("Left", (10.0, 0.0, 40.0, 10.0)), ("short", (44.0, 0.0, 86.0, 10.0))]
    runs = [(10.0, 40.0), (44.0, 90.0)]
    right, wrong = (10.0, 0.0, 90.0, 10.0), (10.0, 0.0, 88.0, 10.0)
    assert Painted([right], words, [(runs, [])]).errors() == [0]
    assert Painted([wrong], words, [(runs, [])]).errors() == [2]
