"""Files in an S3-compatible bucket: a real server of that protocol on this machine."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage, storages
from django.test import Client

import config.settings
from documents.files.page_pictures import thumbnail_of
from documents.library.trash import delete_document
from documents.models import Document
from tests.conftest import Ingest

pytestmark = pytest.mark.django_db(transaction=True)
BUCKET = "pincite"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, settings) -> Iterator[object]:
    """The bucket; our settings as an environment that names it makes them."""
    moto = pytest.importorskip("moto.server", reason="needs moto[s3,server]")
    boto3 = pytest.importorskip("boto3")
    server = moto.ThreadedMotoServer(port=0, verbose=False)
    server.start()
    _host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "PINCITE_S3_BUCKET": BUCKET,
        "PINCITE_S3_URL": f"http://127.0.0.1:{port}",
    }.items():
        monkeypatch.setenv(name, value)
    made = boto3.resource("s3", endpoint_url=f"http://127.0.0.1:{port}").create_bucket(Bucket=BUCKET)
    settings.STORAGES = importlib.reload(config.settings).STORAGES
    storages._storages.clear()
    yield made
    server.stop()
    monkeypatch.undo()
    importlib.reload(config.settings)


def test_a_document_lives_in_a_bucket_from_upload_to_deletion(
    bucket, alice: User, ingested: Ingest, client: Client
) -> None:
    document = ingested(alice, "# Findings\n\nThe bridge was closed in 2019.", "A second page.")
    assert (document.status, document.page_count) == (Document.Status.READY, 2)
    assert document.file.name in {entry.key for entry in bucket.objects.all()}

    client.force_login(alice)
    whole = b"".join(client.get(f"/documents/{document.pk}/file"))
    assert whole.startswith(b"%PDF-")
    part = client.get(f"/documents/{document.pk}/file", headers={"range": "bytes=5-9"})
    assert (part.status_code, b"".join(part)) == (206, whole[5:10])
    assert thumbnail_of(document)

    delete_document(document)
    assert not list(bucket.objects.all())
    assert default_storage.bucket_name == BUCKET
