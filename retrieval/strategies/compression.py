"""Contextual compression: of a passage, the rows and sentences that matter for the question."""

from __future__ import annotations

from collections.abc import Mapping

from retrieval.analysis import terms_of
from retrieval.candidates import Candidate
from retrieval.evidence import Evidence
from text.sentences import sentences

LONG_UNIT = 300  # characters, from which a unit is cut into sentences
KEEP_SHARE = 0.4
"""A unit or sentence stays when it says at least this share of what the best one says."""
LIMIT = 1200  # characters


def compress(candidate: Candidate, evidence: Evidence, weights: Mapping[str, float]) -> str:
    """What matters, in its order; gaps become ' … '."""
    least = KEEP_SHARE * evidence.best_unit
    kept: list[str] = []
    last = -1
    for at, (content, score) in enumerate(zip(candidate.contents, evidence.unit_scores, strict=True)):
        if score <= 0 or score < least or sum(map(len, kept)) > LIMIT:
            continue
        if kept:
            kept.append("\n" if at == last + 1 else " … ")
        kept.append(
            content if len(content) < LONG_UNIT else telling_sentences(content, weights, candidate.language)
        )
        last = at
    return "".join(kept) or candidate.text[:LIMIT]


def telling_sentences(text: str, weights: Mapping[str, float], language: str = "en") -> str:
    """The sentences that say at least ``KEEP_SHARE`` of what the best one says."""
    parts = sentences(text, language)
    worth = [sum(weights[term] for term in weights.keys() & terms_of(part, language)) for part in parts]
    least = KEEP_SHARE * max(worth, default=0.0)
    kept = ""
    for at, (sentence, value) in enumerate(zip(parts, worth, strict=True)):
        if value >= least:
            joint = "" if not kept else " " if worth[at - 1] >= least else " … "
            kept += joint + sentence
    return kept
