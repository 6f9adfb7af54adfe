from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.files.storage import Storage, default_storage
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from chat.answers.question_commands import ask, start_conversation
from chat.answers.write_answer import AnswerContext, write_answer
from chat.models import Conversation, ProviderConnection
from documents.library import delete_document
from documents.models import Document
from operations import backup
from operations.backup import FORMAT, BackupError, Manifest, back_up, check, file_entry, restore, stored_names
from tests.conftest import Ingest

pytestmark = pytest.mark.django_db(transaction=True)
FACTS = (
    "The bridge over the Wye was closed in 2019.",
    "Repairs cost 2,400,000 pounds and took two years.",
    "The keeper of the lighthouse retired in March.",
    "Otters returned to the estuary after the dam was removed.",
    "The committee rejected the proposal by nine votes to four.",
)


def counts() -> dict[str, int]:
    return {model._meta.label: model.objects.count() for model in apps.get_models() if model._meta.managed}


QUESTIONS = (
    "When was the bridge over the Wye closed?",
    "What did repairs cost?",
    "Who retired in March?",
    "What returned to the estuary?",
    "By how many votes was the proposal rejected?",
)


def golden(user: User) -> list[tuple[str, list]]:
    """Return five answers with the words they cite; they are deleted again, so counts stay the same."""
    conversation = start_conversation(user)
    found = [answered(conversation, question) for question in QUESTIONS]
    conversation.delete()
    return found


def answered(conversation: Conversation, question: str) -> tuple[str, list]:
    answer = ask(conversation, question).answer
    write_answer(answer, AnswerContext(lambda event: None, threading.Event()))
    answer.refresh_from_db()
    cited = answer.citations.order_by("position")
    return answer.content, list(cited.values_list("unit", "page_number", "quote", "rects", "verdict"))


@pytest.fixture
def library(alice: User, ingested: Ingest) -> User:
    for number, fact in enumerate(FACTS):
        ingested(alice, f"# Report {number}\n\n{fact}", name=f"report {number}.pdf")
    return alice


def test_a_backup_brings_back_rows_files_and_answers(library: User, tmp_path: Path) -> None:
    answers = golden(library)  # its questions are kept in the history of searches
    before = counts()
    assert all(cited for _content, cited in answers), "each of the five rests on words"
    files = {name: default_storage.open(name).read() for name in stored_names(default_storage)}
    manifest = back_up(tmp_path / "backup")
    assert len(manifest.files) == len(files) >= len(FACTS)
    for document in Document.objects.all():
        document.file.delete(save=False)
        document.delete()
    User.objects.create_user("mallory")

    restore(tmp_path / "backup")
    assert counts() == before
    assert {name: default_storage.open(name).read() for name in stored_names(default_storage)} == files
    assert golden(library) == answers
    assert User.objects.create_user("after").pk > library.pk, "keys go on where they were"


@pytest.mark.slow
def test_a_damaged_backup_restores_nothing(library: User, tmp_path: Path) -> None:
    back_up(tmp_path / "backup")
    table = tmp_path / "backup/tables/documents_document"
    table.write_bytes(table.read_bytes().replace(b"report", b"rep0rt"))
    with pytest.raises(BackupError, match="damaged"):
        restore(tmp_path / "backup", overwrite=True)
    assert Document.objects.count() == len(FACTS)


@pytest.mark.parametrize("name", ["/etc/hosts", "../../hosts", "../tables/auth_user", "a/../b"])
def test_a_name_that_leaves_its_folder_is_refused_before_a_row_is_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "files/a").mkdir(parents=True)
    for path in ("tables/auth_user", "files/b"):
        (tmp_path / path).write_bytes(b"")
    files = {name: file_entry(tmp_path / "files/b")}
    with pytest.raises(BackupError, match="outside"):
        check(tmp_path, Manifest(FORMAT, timezone.now(), (), {}, files))


def test_a_library_is_not_overwritten_unasked(library: User, tmp_path: Path) -> None:
    back_up(tmp_path / "backup")
    with pytest.raises(BackupError, match="--overwrite"):
        restore(tmp_path / "backup")


def test_a_backup_needs_a_folder_of_its_own(db: None, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(BackupError, match="not empty"):
        back_up(tmp_path)


@pytest.mark.parametrize("with_keys", [False, True])
def test_a_backup_has_the_keys_of_providers_only_where_that_is_chosen(
    db: None, tmp_path: Path, with_keys: bool
) -> None:
    ProviderConnection.connect("openai", api_key="sk-secret", model="gpt-4.1-mini")
    back_up(tmp_path / "backup", with_keys)
    assert not any(b"sk-secret" in path.read_bytes() for path in (tmp_path / "backup/tables").iterdir())
    restore(tmp_path / "backup", overwrite=True)
    assert [row.api_key for row in ProviderConnection.objects.all()] == ["sk-secret"] * with_keys


def test_a_backup_is_for_our_own_user_and_signs_nobody_in(library: User, tmp_path: Path) -> None:
    client = Client()
    client.force_login(library)
    assert Session.objects.exists()
    back_up(tmp_path / "backup")
    modes = {path.stat().st_mode & 0o077 for path in [tmp_path / "backup", *(tmp_path / "backup").rglob("*")]}
    assert modes == {0}
    assert (tmp_path / "backup/tables/django_session").read_bytes() == b""
    restore(tmp_path / "backup", overwrite=True)
    assert not Session.objects.exists()


def test_uploads_are_for_our_own_user(library: User) -> None:
    path = Path(Document.objects.first().file.path)
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_files_that_are_deleted_during_a_backup_are_named_and_it_fails(
    library: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On 9a9b452 the backup held rows without files and said nothing."""
    gone = Document.objects.order_by("title").first()
    name = gone.file.name

    def names(storage: Storage, folder: str = "") -> Iterator[str]:
        listed = list(stored_names(storage, folder))
        for document in Document.objects.filter(pk=gone.pk):  # between the tables and the files
            delete_document(document)
        yield from listed

    monkeypatch.setattr(backup, "stored_names", names)
    with pytest.raises(CommandError, match="not complete") as raised:
        call_command("backup", str(tmp_path / "backup"))
    assert name in str(raised.value)
    restore(tmp_path / "backup", overwrite=True)
    assert Document.objects.count() == len(FACTS), "what there is comes back all the same"
