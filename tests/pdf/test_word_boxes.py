"""Packed word boxes are unpacked within a hundredth of a point."""

from hypothesis import given
from hypothesis import strategies as st

from pdf.geometry import normalized
from pdf.structure import Word
from pdf.word_boxes import pack, unpack

WIDTH, HEIGHT = 595.0, 842.0
boxes_on_the_page = st.tuples(*[st.floats(0, WIDTH), st.floats(0, HEIGHT)] * 2).map(
    lambda corners: normalized(*corners)
)
starts, ends = st.integers(0, 10**6), st.integers(10**6, 2 * 10**6)
words = st.lists(st.builds(lambda start, end, box: Word(start, end, *box), starts, ends, boxes_on_the_page))


@given(words)
def test_words_survive_packing(page_words: list[Word]) -> None:
    back = unpack(pack(page_words, WIDTH, HEIGHT), WIDTH, HEIGHT)
    assert back.spans.tolist() == [[word.char_start, word.char_end] for word in page_words]
    for word, box in zip(page_words, back.boxes.tolist(), strict=True):
        assert all(abs(a - b) < 0.01 for a, b in zip(word.rect, box, strict=True))


def test_a_range_finds_the_words_it_touches() -> None:
    boxes = unpack(
        pack([Word(0, 4, 10, 10, 40, 20), Word(5, 9, 50, 10, 80, 20)], WIDTH, HEIGHT),
        WIDTH,
        HEIGHT,
    )
    assert len(boxes.between(4, 5)) == 0
    assert len(boxes.between(3, 6)) == 2
