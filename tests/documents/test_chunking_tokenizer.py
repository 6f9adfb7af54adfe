"""Tokenizing word by word gives the same tokens as tokenizing whole texts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from documents import chunking
from documents.chunking import token_counts, tokens_of_each

PIECES = [
    "a",
    "word",
    " ",
    "  ",
    "\n\n",
    "<s>",
    "<",
    "▁",
    "合同金额。",
    ".",
    "1,234",
    "|",
    "é",
    "🙂",
    "\t",
    "شركة",
]

texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def tokens_of_whole(found: list[str]) -> list[list[int]]:
    encodings = chunking._tokenizer().encode_batch_fast(found, add_special_tokens=False)
    return [encoding.ids for encoding in encodings]


@settings(max_examples=settings.default.max_examples * 2, deadline=None)
@given(st.lists(texts, max_size=5))
def test_words_read_one_by_one_give_the_tokens_of_the_text(found: list[str]) -> None:
    whole = tokens_of_whole(found)
    assert list(tokens_of_each(found)) == whole
    assert token_counts(found) == list(map(len, whole))


def test_words_that_are_remembered_stay_within_their_bound() -> None:
    most = chunking._MOST_KEPT
    for start in (0, most // 2, most):
        numbers = [str(number) for number in range(start, start + most // 2 + 10)]
        (count,) = token_counts([" ".join(numbers)])
        assert count > len(numbers)
        assert len(chunking._kept) <= most
    assert token_counts(["x" * 5000]) == list(map(len, tokens_of_whole(["x" * 5000])))
    assert max(map(len, chunking._kept)) <= chunking._LONGEST_KEPT
