"""Values that two documents state differently: what one says is verified as a claim on the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import uuid4

from chat.answers.answer_builder import AnswerBuilder
from chat.citations.source_units import Sources
from chat.models import Citation
from citing.claims import CONTRADICTED, Claim, SourceUnit
from citing.comparison.values.support import shared_terms
from citing.differences import OF_VALUES
from citing.marker_decoder import defused_line, format_marker
from citing.verdict import verify_cited
from documents.labels import distinct_labels
from documents.models import Document
from text.sentences import sentence_spans

LEAST_SHARED = 0.75  # of the content words of a sentence, in the sentence of another document
MOST_COMPARED = 200  # sentences of a section, which the verifier reads
MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class SourceDifference:
    """A sentence with its citation, and a sentence of another document that states another value."""

    words: str
    citation: Citation
    unit: SourceUnit
    other: str


def differences_between(
    said: Sequence[tuple[str, Citation]], units: Sequence[SourceUnit], sources: Sources
) -> list[SourceDifference]:
    """Return what units of other documents state differently, one for each pair of documents and sentence."""
    found: dict[tuple[str, frozenset[str]], SourceDifference] = {}
    for words, citation, unit, sentence in islice(alike(said, units), MOST_COMPARED):
        checked = verify_cited(Claim(words), unit, sources.neighbours(unit))
        is_value = any(one.kind in OF_VALUES and one.claim and one.source for one in checked.conflicts)
        if checked.verdict in CONTRADICTED and is_value and checked.difference:
            key = min(words, sentence), frozenset({str(citation.document_id), unit.document})
            found.setdefault(key, SourceDifference(words, citation, unit, sentence))
    return list(found.values())[:MOST_SHOWN]


def alike(
    said: Sequence[tuple[str, Citation]], units: Sequence[SourceUnit]
) -> Iterator[tuple[str, Citation, SourceUnit, str]]:
    """Yield each sentence with the sentences of other documents that have most of its words."""
    for words, citation in said:
        for unit in units:
            if unit.document == str(citation.document_id) or unit.table is not None:
                continue
            for span in sentence_spans(unit.text, unit.language or "en"):
                sentence = unit.text[span.start : span.end]
                if sentence != words and shared_terms(words, [sentence]) >= LEAST_SHARED:
                    yield words, citation, unit, sentence


def written_differences(
    found: Sequence[SourceDifference], sources: Sources, heading: str
) -> tuple[str, list[Citation]]:
    """Return the differences as Markdown, each with the words of both documents, and their new citations."""
    documents = {place.document for place in sources.places.values()} if found else ()
    labels = distinct_labels(Document.objects.filter(pk__in=documents))
    lines: list[str] = []
    citations: list[Citation] = []
    for one in found:
        builder = AnswerBuilder(uuid4(), sources, {})
        for unit, words in ((sources.units[str(one.citation.unit_id)], one.words), (one.unit, one.other)):
            builder.content += f"{unit.title}: {defused_line(words)}"
            for _ in builder.cite_passage(unit, words):
                pass
            builder.content += "\n"
        first, second = (
            f"{defused_line(labels[cited])}: “{defused_line(words)}”"
            f"{format_marker(citation.pk, citation.page_number)}"
            for citation, words in zip(builder.citations, (one.words, one.other), strict=True)
            if (cited := citation.document_id)
        )
        lines.append(f"- {first} · {second}")
        citations += builder.citations
    return (f"**{heading}**\n\n" + "\n".join(lines), citations) if lines else ("", [])
