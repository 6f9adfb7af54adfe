"""Questions on a whole document (summary, findings, risks, obligations, steps), from its structure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

import numpy as np
from django.db.models import Q, QuerySet

from chat.answers.without_model.lines import Line
from chat.answers.without_model.question import Topic, words_of
from documents.models import CitationUnit, Document
from retrieval.providers.wordllama import WordLlamaEmbedder

MOST_UNITS = 120
FIRST_UNITS = 60  # read of a document that has hardly any sections
FEWEST_SECTIONS = 5
MOST_LINES = 5
LEAST_CHARACTERS = 30  # of a line that can stand for others; half of it in scripts without spaces
SIMILAR = 0.35  # cosine from which two sentences are joined in the graph
DAMPING = 0.85  # Erkan and Radev, LexRank (2004); Page and others (1998)


def topic_units(topic: Topic, documents: Sequence[UUID], language: str) -> list[UUID]:
    """Units of the sections on the topic; where there is no such section, the beginnings of all."""
    return [pk for document in documents for pk in _units_of(topic, document, language)]


def _units_of(topic: Topic, document: UUID, language: str) -> list[UUID]:
    units = CitationUnit.objects.filter(
        document=document, unit_type__in=("prose", "list", "abstract")
    ).order_by("position")
    own = Document.objects.values_list("language", flat=True).get(pk=document) or "en"
    key = "summary" if topic == "about" else topic
    words = [
        word for code in dict.fromkeys((own, language, "en")) for word in words_of(code, "headings")[key]
    ]
    heads = re.compile(rf"^[\W\d]*(?:\w+\s+\d+\W*)?(?:{'|'.join(map(re.escape, words))})\b.{{0,30}}$", re.I)
    paths = {tuple(path) for path in units.values_list("section_path", flat=True) if path}
    wanted = [path for path in paths if any(heads.match(" ".join(part.split())) for part in path)]
    if wanted:
        found = Q()
        for path in wanted:
            found |= Q(section_path=list(path))
        return list(units.filter(found).values_list("pk", flat=True)[:MOST_UNITS])
    if topic in ("summary", "about"):
        return first_of_sections(units)
    return []


def first_of_sections(units: QuerySet[CitationUnit]) -> list[UUID]:
    """The first unit of each section, in reading order; the first units where there are few sections."""
    firsts: dict[tuple[str, ...], UUID] = {}
    rows = list(units.values_list("pk", "section_path"))
    for pk, path in rows:
        firsts.setdefault(tuple(path), pk)
    chosen = list(firsts.values())[:MOST_UNITS]
    return chosen if len(chosen) >= FEWEST_SECTIONS else [pk for pk, _ in rows[:FIRST_UNITS]]


def central_lines(lines: Sequence[Line], most: int = MOST_LINES) -> list[Line]:
    """The most central lines by LexRank over their embeddings, in the order of the document."""
    told = list({line.text: line for line in lines if is_long(line.text)}.values())
    if len(told) <= most:
        return told
    scores = lexrank(WordLlamaEmbedder().embed([line.text for line in told]))
    chosen = sorted(sorted(range(len(told)), key=lambda at: -scores[at])[:most])
    return [told[at] for at in chosen]


def is_long(text: str) -> bool:
    unspaced = sum("\u3040" <= character <= "\u9fff" for character in text)
    return len(text) + unspaced >= LEAST_CHARACTERS


def lexrank(vectors: np.typing.NDArray[np.float32], rounds: int = 30) -> list[float]:
    """PageRank over the graph of similar sentences; the first sentences gain a little, as leads do."""
    similar = np.clip(vectors @ vectors.T, 0, 1)
    similar[similar < SIMILAR] = 0
    np.fill_diagonal(similar, 0)
    degree = similar.sum(axis=1, keepdims=True)
    moves = np.divide(similar, degree, out=np.full_like(similar, 1 / len(similar)), where=degree > 0)
    rank = np.full(len(similar), 1 / len(similar))
    for _ in range(rounds):
        rank = (1 - DAMPING) / len(similar) + DAMPING * rank @ moves
    lead = 1 + 0.5 / (1 + np.arange(len(similar)))
    return [float(score) for score in rank * lead]
