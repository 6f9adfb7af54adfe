"""The measure of `bench highlights` itself."""

from bench.highlights import found_in


def test_a_word_parted_at_the_end_of_a_line_is_covered_and_one_that_is_not_lit_is_not() -> None:
    passage = ["pre-processing", "of", "scientific", "text"]
    assert found_in(passage, ["pre-", "pro-", "cessing", "of", "scien-", "tific"]) == 3
    assert found_in(passage, ["tific", "scien-"]) == 0
