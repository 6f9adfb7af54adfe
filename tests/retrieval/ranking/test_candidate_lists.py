"""Fusion of ranked lists."""

from __future__ import annotations

import pytest

from retrieval.ranking.candidate_lists import RRF_K, RankedList, fuse, interleave


def test_fusion_adds_one_over_k_plus_rank() -> None:
    fused = dict(fuse([RankedList("a", [("x", 9.0), ("y", 1.0)]), RankedList("b", [("y", 0.5)])]))
    assert fused["x"] == 1 / (RRF_K + 1)
    assert fused["y"] == pytest.approx(1 / (RRF_K + 2) + 1 / (RRF_K + 1))


def test_what_two_lists_have_comes_before_what_one_has() -> None:
    order = [
        item
        for item, _ in fuse([RankedList("a", [("x", 1), ("y", 1)]), RankedList("b", [("z", 1), ("y", 1)])])
    ]
    assert order == ["y", "x", "z"]


def test_a_list_that_is_trusted_less_moves_less() -> None:
    fused = dict(fuse([RankedList("a", [("x", 1.0)]), RankedList("b", [("y", 1.0)], weight=0.5)]))
    assert fused["y"] == fused["x"] / 2


def test_parts_take_turns_and_scores_fall() -> None:
    merged = interleave([[("a", 3.0), ("b", 2.0)], [("b", 9.0), ("c", 1.0)], []])
    assert [item for item, _ in merged] == ["a", "b", "c"]
    assert [score for _, score in merged] == [9.0, 3.0, 1.0]
