"""Postings: BM25F's arithmetic, packed."""

from __future__ import annotations

from retrieval.analysis import term_number
from retrieval.postings import (
    COVER,
    K1,
    MAX_IMPACT,
    NAMES,
    Field,
    idf,
    impacts,
    pack_postings,
    unpack_postings,
)


def test_a_second_mention_adds_less_than_the_first() -> None:
    once, twice, often = (impacts([Field("goodwill " * count)])["goodwil"] for count in (1, 2, 50))
    assert 0 < once < twice < often < MAX_IMPACT
    assert twice - once < once


def test_a_long_passage_must_say_it_more_often() -> None:
    short = impacts([Field("goodwill")])["goodwil"]
    long = impacts([Field("goodwill " + "filler " * 500)])["goodwil"]
    assert long < short


def test_what_every_passage_shares_does_not_make_it_longer() -> None:
    alone = impacts([Field("goodwill")])
    headed = impacts([Field("goodwill"), Field("a very long heading " * 50, measured=False)])
    assert headed["goodwil"] == alone["goodwil"]


def test_a_field_of_more_weight_counts_more() -> None:
    assert impacts([Field("goodwill", 3)])["goodwil"] > impacts([Field("goodwill")])["goodwil"]


def test_postings_come_back_as_they_were_packed() -> None:
    packed = pack_postings(
        [[Field("net income")], [Field("goodwill")], [Field("net sales")]],
        names=[Field("Nike net")],
        cover=[Field("net")],
    )
    ordinals, found = unpack_postings(packed[term_number("net")])
    assert ordinals.tolist() == [0, 2, COVER, NAMES]
    expected = impacts([Field("net income")])["net"]
    assert abs(float(found[0]) - expected) < (K1 + 1) / 255


def test_rare_terms_tell_more() -> None:
    assert idf(1, 1000) > idf(100, 1000) > idf(999, 1000) > 0
