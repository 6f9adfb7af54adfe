"""Packed word boxes come back within a hundredth of a point, whatever went in."""

from hypothesis import given
from hypothesis import strategies as st

from documents.pdf.geometry import Rect
from documents.pdf.structure import Word
from documents.pdf.wordboxes import pack, unpack

WIDTH, HEIGHT = 595.0, 842.0
fractions = st.tuples(*[st.floats(0, 1)] * 4).map(
    lambda f: Rect(
        min(f[0], f[2]) * WIDTH, min(f[1], f[3]) * HEIGHT, max(f[0], f[2]) * WIDTH, max(f[1], f[3]) * HEIGHT
    )
)
words = st.lists(st.builds(Word, st.integers(0, 10**6), st.integers(10**6, 2 * 10**6), fractions))


@given(words)
def test_words_survive_packing(page_words: list[Word]) -> None:
    back = unpack(pack(page_words, WIDTH, HEIGHT), WIDTH, HEIGHT)
    assert back.spans.tolist() == [[word.char_start, word.char_end] for word in page_words]
    for word, box in zip(page_words, back.boxes.tolist(), strict=True):
        assert all(abs(a - b) < 0.01 for a, b in zip(word.rect, box, strict=True))


def test_a_range_finds_the_words_it_touches() -> None:
    boxes = unpack(
        pack([Word(0, 4, Rect(10, 10, 40, 20)), Word(5, 9, Rect(50, 10, 80, 20))], WIDTH, HEIGHT),
        WIDTH,
        HEIGHT,
    )
    assert len(boxes.between(4, 5)) == 0
    assert len(boxes.between(3, 6)) == 2
