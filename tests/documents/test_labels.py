"""Labels of documents among others: no two are the same, and only what is needed is added."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib.auth.models import User

from documents.labels import distinct_labels, labels_in_library
from documents.models import Document

MAY = datetime(2024, 5, 2, 8, 0, tzinfo=UTC)


def labels(*rows: tuple[str, str, datetime]) -> list[str]:
    named = [Document(title=title, original_name=name, created_at=at) for title, name, at in rows]
    return list(distinct_labels(named).values())


def test_the_name_of_the_file_tells_documents_with_one_title_apart() -> None:
    assert labels(
        ("Lease", "old.pdf", MAY), ("LEASE", "new.pdf", MAY), ("Atlas of Owls", "atlas.pdf", MAY)
    ) == ["Lease (old.pdf)", "LEASE (new.pdf)", "Atlas of Owls"]


def test_the_day_of_the_upload_is_added_where_the_files_have_one_name() -> None:
    june = MAY.replace(month=6)
    assert labels(("Lease", "a.pdf", MAY), ("Lease", "a.pdf", june), ("Lease", "b.pdf", MAY)) == [
        "Lease (a.pdf) (2024-05-02)",
        "Lease (a.pdf) (2024-06-02)",
        "Lease (b.pdf)",
    ]


def test_nothing_is_added_that_both_have() -> None:
    noon = MAY.replace(hour=12)
    assert labels(("Lease", "a.pdf", MAY), ("Lease", "a.pdf", noon)) == [
        "Lease (2024-05-02 08:00:00)",
        "Lease (2024-05-02 12:00:00)",
    ]


def test_documents_that_agree_in_everything_still_differ() -> None:
    assert len(set(labels(*[("Lease", "", MAY)] * 3))) == 3


def test_a_document_is_told_apart_from_others_of_its_owners_library(alice: User, bob: User) -> None:
    named = [("Lease", "a.pdf", alice), ("Lease", "b.pdf", alice), ("Lease", "c.pdf", bob)]
    first, _, other = (
        Document.objects.create(title=title, original_name=name, owner=owner) for title, name, owner in named
    )
    assert labels_in_library([first]) == {first.pk: "Lease (a.pdf)"}
    assert labels_in_library([other]) == {other.pk: "Lease"}
    Document.objects.create(title="Lease", owner=bob, kind=Document.Kind.NOTE)  # bob's note on it
    assert labels_in_library([other]) == {other.pk: "Lease"}
