"""The sentences of a passage as lines of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chat.claim_spans import sentences
from chat.extractive.asked import Asked, TermWeights
from chat.extractive.candidate import FEWEST_WORDS, Candidate, fits, nearness
from chat.extractive.orders import gives_orders
from chat.prompting import Passage
from retrieval.analysis import terms_of

LONGEST_SENTENCE = 700  # characters; what is longer is a list that lost its line ends
BULLET = re.compile(r"^[^\w\s$€£¥(]\s+")


def sentence_candidates(
    asked: Asked, passage: Passage, own: frozenset[str], weights: TermWeights
) -> Iterator[Candidate]:
    """The sentences of a paragraph, list item, caption or footnote."""
    context = asked.heard_in(terms_of(" ".join([*passage.unit.section_path[-2:], passage.heading[:120]])))
    for span in sentences(passage.unit.text):
        text = BULLET.sub("", " ".join(passage.unit.text[span.start : span.end].split()))
        if gives_orders(text):
            return  # what follows an order belongs to it
        if len(text.split()) < FEWEST_WORDS or len(text) > LONGEST_SENTENCE:
            continue
        said = asked.heard_in(terms_of(text))
        covered = weights.coverage(asked.terms, (said, 1.0), (own, 0.5), (context, 0.3))
        score = covered * nearness(passage) * fits(asked, text)
        yield Candidate(
            passage, text, text, score, weights.coverage(asked.terms, (said, 1.0), (context, 0.4))
        )
