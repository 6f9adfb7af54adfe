"""What the passages offer as an answer: sentences and table rows, each weighed against the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chat.extractive.asked import Asked, TermWeights
from chat.extractive.candidate import Candidate
from chat.extractive.meaning import nearness_of_meaning
from chat.extractive.row_lines import row_candidates
from chat.extractive.sentence_lines import sentence_candidates
from chat.prompting import Passage
from retrieval.analysis import terms_of

READ_FOR_MEANING = 150  # candidates
MEANING = 0.2  # what meaning weighs beside words; more of it cites fewer right pages


def candidates(asked: Asked, passages: Sequence[Passage]) -> list[Candidate]:
    """All sentences and rows, best first."""
    own = {passage.alias: asked.heard_in(terms_of(passage.unit.text)) for passage in passages}
    weights = TermWeights(list(own.values()))
    found: list[Candidate] = []
    for passage in passages:
        if passage.unit.table is not None:
            found += row_candidates(asked, passage, passage.unit.table, weights)
        elif passage.unit.type not in ("heading",):
            found += sentence_candidates(asked, passage, own[passage.alias], weights)
    return by_meaning(asked, sorted(found, key=lambda candidate: -candidate.score))


def by_meaning(asked: Asked, ranked: Sequence[Candidate]) -> list[Candidate]:
    """The best candidates, those nearer to the question in meaning lifted; line items are sure without."""
    head, rest = ranked[:READ_FOR_MEANING], ranked[READ_FOR_MEANING:]
    near = nearness_of_meaning(asked.text, [candidate.text for candidate in head])
    lifted = [
        candidate
        if candidate.item
        else replace(candidate, score=candidate.score * (1 - MEANING + 2 * MEANING * cosine))
        for candidate, cosine in zip(head, near, strict=True)
    ]
    return [*sorted(lifted, key=lambda candidate: -candidate.score), *rest]
