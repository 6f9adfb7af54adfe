"""Uploads are scanned by ClamAV if configured: its protocol, against a scripted socket."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from config import environment
from documents.files.uploads import UploadRefused, store_upload
from documents.ingestion.source_files import replace_file
from documents.models import Document
from documents.papers.acquisition import add_paper, fetch_failure, fetch_pdf
from documents.papers.bibliography import PaperRecord
from tests.api_clients import client_of
from tests.documents.files.conftest import fetched_document
from tests.drawing import draw_pdf
from tests.scripted_server import Answer, ScriptedServer

EICAR = b"X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"


class Clamd:
    """Reads INSTREAM as clamd does; knows EICAR; keeps what it was sent."""

    def __init__(self, listener: socket.socket, most: int = 1 << 24) -> None:
        self.listener, self.most = listener, most
        self.received: list[bytes] = []
        self.answer: bytes | None = None
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as stream:
                assert stream.read(10) == b"zINSTREAM\0"
                connection.sendall(self.verdict(stream) + b"\0")

    def verdict(self, stream: Any) -> bytes:
        sent = b""
        while length := struct.unpack("!I", stream.read(4))[0]:
            sent += stream.read(length)
            if len(sent) > self.most:
                return b"INSTREAM size limit exceeded. ERROR"
        self.received.append(sent)
        if self.answer is not None:
            return self.answer
        return b"stream: Win.Test.EICAR_HDB-1 FOUND" if EICAR in sent else b"stream: OK"


@pytest.fixture(params=["tcp", "unix"])
def clamd(request: Any, settings: Any, tmp_path: Path) -> Iterator[Clamd]:
    if request.param == "tcp":
        listener = socket.create_server(("127.0.0.1", 0))
        settings.CLAMD = f"127.0.0.1:{listener.getsockname()[1]}"
    else:
        listener = socket.socket(socket.AF_UNIX)
        settings.CLAMD = str(tmp_path / "clamd.sock")
        listener.bind(settings.CLAMD)
        listener.listen()
    yield Clamd(listener)
    listener.shutdown(socket.SHUT_RDWR)  # `close` alone would leave `accept` waiting
    listener.close()


def pdf_with(words: bytes) -> bytes:
    return draw_pdf("Harmless words.") + b"\n% " + words


def upload(user: User, content: bytes) -> Any:
    file = SimpleUploadedFile("invoice.pdf", content, "application/pdf")
    return client_of(user).post("/api/documents/", {"file": file}, format="multipart")


def test_a_clean_file_is_stored_whole(clamd: Clamd, alice: User) -> None:
    content = pdf_with(b"x" * 200_000)
    assert upload(alice, content).status_code == 201
    assert clamd.received == [content]
    assert Document.objects.get().file.read() == content


def test_an_infected_file_is_refused_by_name(clamd: Clamd, alice: User) -> None:
    answer = upload(alice, pdf_with(EICAR))
    assert answer.status_code == 422 and answer.json()["code"] == "infected"
    assert "Win.Test.EICAR_HDB-1" in answer.json()["message"]
    assert not Document.objects.exists()
    page = Client()
    page.force_login(alice)
    sent = page.post("/documents/upload/", {"file": SimpleUploadedFile("a.pdf", pdf_with(EICAR))})
    assert "virus scanner found" in sent.content.decode() and not Document.objects.exists()


def test_a_new_version_is_scanned_too(clamd: Clamd, alice: User) -> None:
    upload(alice, pdf_with(b"one"))
    with pytest.raises(UploadRefused, match="EICAR"):
        replace_file(Document.objects.get(), SimpleUploadedFile("b.pdf", pdf_with(EICAR)), "b.pdf")


def test_a_file_that_a_worker_fetches_is_scanned_before_it_is_stored(
    clamd: Clamd, alice: User, server: ScriptedServer
) -> None:
    clean, infected = pdf_with(b"clean"), pdf_with(EICAR)
    server.script["/clean.pdf"], server.script["/infected.pdf"] = Answer(body=clean), Answer(body=infected)
    assert fetched_document(alice, server.url + "/clean.pdf").status == Document.Status.READY
    refused = fetched_document(alice, server.url + "/infected.pdf")
    assert clamd.received == [clean, infected]
    assert refused.status == Document.Status.FAILED and not refused.file
    assert "Win.Test.EICAR_HDB-1" in refused.failure_message


def test_a_file_is_not_fetched_past_a_scanner_that_is_away(
    alice: User, server: ScriptedServer, settings: Any
) -> None:
    settings.CLAMD = "127.0.0.1:1"
    server.script["/a.pdf"] = Answer(body=pdf_with(b"clean"))
    refused = fetched_document(alice, server.url + "/a.pdf")
    assert refused.status == Document.Status.FAILED and not refused.file
    assert "cannot be reached" in refused.failure_message


@pytest.mark.parametrize("content", [b"clean", EICAR])
def test_the_full_text_of_a_paper_is_scanned_before_it_is_stored(
    content: bytes, clamd: Clamd, alice: User, server: ScriptedServer
) -> None:
    pdf, address = pdf_with(content), server.url + "/paper.pdf"
    server.script["/paper.pdf"] = Answer(body=pdf)
    paper = add_paper(alice, PaperRecord(title="Tides of the estuary", abstract="It rises.", pdf_url=address))
    fetch_pdf(str(paper.pk))
    paper.refresh_from_db()
    assert clamd.received[1:] == [pdf]  # after the sheet that is made of the record
    assert (paper.kind == Document.Kind.PDF) == (content == b"clean")
    assert ("EICAR" in fetch_failure(paper)) == (content == EICAR)


@pytest.mark.parametrize(
    "answer", [b"", b"stream: something else ERROR", b"INSTREAM size limit exceeded. ERROR"]
)
def test_no_verdict_is_no_yes(answer: bytes, clamd: Clamd, alice: User) -> None:
    clamd.answer = answer
    refused = upload(alice, pdf_with(b"one"))
    assert refused.status_code == 503 and refused.json()["code"] == "not_scanned"
    assert not Document.objects.exists()


def test_a_file_that_is_too_large_for_the_scanner_is_told_so(clamd: Clamd, alice: User) -> None:
    clamd.most = 100_000
    refused = upload(alice, pdf_with(b"x" * 3_000_000))
    assert refused.status_code == 503 and "virus scanner" in refused.json()["message"]


def test_a_scanner_that_is_away_lets_nothing_in(alice: User, settings: Any) -> None:
    settings.CLAMD = "127.0.0.1:1"
    with pytest.raises(UploadRefused, match="cannot be reached"):
        store_upload(alice, SimpleUploadedFile("a.pdf", pdf_with(b"one")), "a.pdf")


def test_without_a_scanner_files_are_taken_as_they_are(alice: User) -> None:
    assert upload(alice, pdf_with(EICAR)).status_code == 201


@pytest.mark.parametrize(("value", "sound"), [
    ("", True), ("localhost:3310", True), ("[::1]:3310", True), ("/run/clamav/clamd.ctl", True),
    ("localhost", False), ("localhost:x", False), (":3310", False),
])  # fmt: skip
def test_the_address_of_the_scanner_is_checked_at_the_start(
    value: str, sound: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_CLAMD", value)
    if sound:
        assert environment.clamd("PINCITE_CLAMD") == value
    else:
        with pytest.raises(ImproperlyConfigured):
            environment.clamd("PINCITE_CLAMD")
