"""Compare stored documents as versions, in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from uuid import UUID

import msgspec
from msgspec.structs import replace

from chat.models import Report
from citing.amendments import Step, consolidate
from citing.versions import Change, Comparison, VersionUnit, changes_between
from documents.labels import distinct_labels
from documents.models import CitationUnit, Document
from retrieval.provider_calls import ProviderError

MOST_VERSIONS = 20
MOST_UNITS = 60_000  # of one document
MOST_CHANGES = 5_000  # of one comparison that are stored
LONGEST_TEXT = 1_000  # characters of a change


class VersionPlace(msgspec.Struct, frozen=True):
    """A passage of a document; ``page`` is 0 where there is none."""

    document: str
    unit: str = ""
    page: int = 0
    text: str = ""


class ChangeFound(msgspec.Struct, frozen=True):
    """One change with its places; ``section``: the title of the old one, else the new one."""

    kind: str
    section: str
    old: VersionPlace
    new: VersionPlace

    @property
    def places(self) -> tuple[VersionPlace, VersionPlace]:
        return self.old, self.new


class SectionFound(msgspec.Struct, frozen=True):
    """Aligned sections, each the place of its heading."""

    kind: str
    is_moved: bool
    is_renumbered: bool
    old: list[VersionPlace]
    new: list[VersionPlace]


class ComparisonFound(msgspec.Struct, frozen=True):
    """A version and the next: ``shared``, 0..1, of their passages, None for an
    instrument that only says what changes; ``counts`` of all changes by kind."""

    old: str
    new: str
    shared: float | None
    counts: dict[str, int]
    sections: list[SectionFound]
    changes: list[ChangeFound]


class ChainStep(msgspec.Struct, frozen=True):
    """What a clause says in one document."""

    kind: str
    place: VersionPlace


class VersionsResult(msgspec.Struct, frozen=True):
    """``documents``: (id, title) in order; ``chains``: the clauses that a later document changes."""

    documents: list[tuple[str, str]]
    comparisons: list[ComparisonFound]
    chains: list[list[ChainStep]]


def compare_documents(report: Report) -> VersionsResult:
    """Return the comparison of the report's documents, with its owner's rights. Raises ProviderError."""
    found = Document.objects.visible_to(report.owner).in_bulk(report.documents)
    documents = [found[pk] for pk in report.documents if pk in found]
    if len(documents) < len(report.documents):
        raise ProviderError("A document was deleted, or you can no longer see it. Choose the versions again.")
    versions = [units_of(document.pk, document.language or "en") for document in documents]
    if empty := [one for one, units in zip(documents, versions, strict=True) if not units]:
        raise ProviderError(f"This document has no text that could be compared: {empty[0].title}")
    whole = consolidate(versions)
    pairs = [
        found_in(compared, (documents[base], documents[at]), (versions[base], versions[at]))
        if compared
        else amended(at, whole.chains, documents, versions)
        for at, (base, compared) in enumerate(whole.comparisons, start=1)
    ]
    chains = [[chain_step(step, documents, versions) for step in steps] for steps in whole.chains]
    labels = distinct_labels(documents)
    titles = [(str(document.pk), labels[document.pk]) for document in documents]
    return VersionsResult(titles, pairs, chains[:MOST_CHANGES])


def units_of(document: UUID, language: str) -> list[VersionUnit]:
    units = CitationUnit.objects.filter(document=document).order_by("position")
    return [
        VersionUnit(str(pk), page, content, kind == CitationUnit.Type.HEADING, language)
        for pk, page, content, kind in units.values_list("pk", "page_number", "content", "unit_type")[
            :MOST_UNITS
        ]
        if content.strip()
    ]


def found_in(
    comparison: Comparison,
    documents: tuple[Document, Document],
    units: tuple[Sequence[VersionUnit], Sequence[VersionUnit]],
) -> ComparisonFound:
    def place(side: int, unit: int, text: str = "") -> VersionPlace:
        document = str(documents[side].pk)
        if unit < 0:
            return VersionPlace(document)
        one = units[side][unit]
        return VersionPlace(document, one.id, one.page, text[:LONGEST_TEXT])

    sections = [
        SectionFound(
            pair.kind,
            pair.is_moved,
            pair.is_renumbered,
            *(
                [place(side, listed[at].start, listed[at].title) for at in ids]
                for side, listed, ids in (
                    (0, comparison.old_sections, pair.old),
                    (1, comparison.new_sections, pair.new),
                )
            ),
        )
        for pair in comparison.sections
    ]
    changes = [
        ChangeFound(
            change.kind,
            section_of(comparison, change),
            place(0, change.old_unit, change.old),
            place(1, change.new_unit, change.new),
        )
        for change in comparison.changes[:MOST_CHANGES]
    ]
    counts: dict[str, int] = dict(Counter(change.kind for change in comparison.changes))
    old, new = documents
    shared = round(comparison.shared, 3)
    return ComparisonFound(str(old.pk), str(new.pk), shared, counts, sections, changes)


def amended(
    version: int,
    chains: Sequence[Sequence[Step]],
    documents: Sequence[Document],
    versions: Sequence[Sequence[VersionUnit]],
) -> ComparisonFound:
    """Return what an instrument changes: each from the clause as it was to the words that change it."""
    changes: list[ChangeFound] = []
    for steps in chains:
        for before, after in pairwise(steps):
            if after.version != version:
                continue
            places = [chain_step(step, documents, versions).place for step in (before, after)]
            units = [[(0, VersionUnit("", 0, step.text))] for step in (before, after)]
            section = next(
                (one.text for one in reversed(versions[0][: steps[0].unit + 1]) if one.is_heading), ""
            )
            if after.kind == "deleted":
                changes.append(ChangeFound("removed", section, places[0], places[1]))
                continue
            for change in changes_between(*units):
                texts = (change.old, change.new)
                old, new = (replace(place, text=text) for place, text in zip(places, texts, strict=True))
                changes.append(ChangeFound(change.kind, section, old, new))
    counts = dict(Counter(change.kind for change in changes))
    return ComparisonFound(str(documents[0].pk), str(documents[version].pk), None, counts, [], changes)


def section_of(comparison: Comparison, change: Change) -> str:
    """Return the title of the section with the change."""
    sections = comparison.old_sections if change.old_unit >= 0 else comparison.new_sections
    unit = change.old_unit if change.old_unit >= 0 else change.new_unit
    return next((one.title for one in reversed(sections) if one.start <= unit), "")


def chain_step(
    step: Step, documents: Sequence[Document], versions: Sequence[Sequence[VersionUnit]]
) -> ChainStep:
    document = str(documents[step.version].pk)
    if step.unit < 0:
        return ChainStep(step.kind, VersionPlace(document))
    unit = versions[step.version][step.unit]
    return ChainStep(step.kind, VersionPlace(document, unit.id, unit.page, step.text[:LONGEST_TEXT]))
