"""Files in an S3-compatible bucket: a real server of that protocol here, which checks signatures."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator

import httpx
import pytest
from botocore.exceptions import ClientError
from django.contrib.auth.models import User
from django.core.files.storage import default_storage, storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

import config.settings
from documents.files.page_pictures import thumbnail_of
from documents.ingestion import pipeline
from documents.library import delete_document
from documents.models import Document
from tests.conftest import Ingest
from tests.drawing import draw_pdf

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
    url = f"http://127.0.0.1:{port}"
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    anybody = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "endpoint_url": url}
    boto3.resource("s3", **anybody).create_bucket(Bucket=BUCKET)
    people = boto3.client("iam", **anybody)
    people.create_user(UserName="pincite")
    allow = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
    people.put_user_policy(UserName="pincite", PolicyName="all", PolicyDocument=json.dumps(allow))
    key = people.create_access_key(UserName="pincite")["AccessKey"]
    httpx.post(f"{url}/moto-api/reset-auth", content=b"0")  # from here on signatures are checked
    for name, value in {
        "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
        "PINCITE_S3_BUCKET": BUCKET,
        "PINCITE_S3_URL": url,
    }.items():
        monkeypatch.setenv(name, value)
    own = {"aws_access_key_id": key["AccessKeyId"], "aws_secret_access_key": key["SecretAccessKey"]}
    made = boto3.resource("s3", endpoint_url=url, **own).Bucket(BUCKET)
    made.server = server
    settings.STORAGES = importlib.reload(config.settings).STORAGES
    storages._storages.clear()
    yield made
    httpx.post(f"{url}/moto-api/reset-auth", content=b"inf")
    httpx.post(f"{url}/moto-api/reset")
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


@pytest.mark.slow
def test_a_bucket_that_is_away_refuses_with_503_and_fails_no_document(
    bucket, alice: User, ingested: Ingest, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = ingested(alice, "The bridge was closed in 2019.")
    monkeypatch.setattr(pipeline, "STORAGE_PAUSE", 0)
    client.force_login(alice)
    client.raise_request_exception = False
    bucket.server.stop()
    bucket.server._server.server_close()  # else connections wait in its backlog

    shown = client.get(f"/documents/{document.pk}/file", headers={"range": "bytes=5-9"})
    assert (shown.status_code, shown["Retry-After"]) == (503, "5")
    sent = client.post("/api/documents/", {"file": SimpleUploadedFile("b.pdf", draw_pdf("More."))})
    assert sent.status_code == 503 and "storage does not answer" in sent.json()["message"]
    Document.objects.update(status=Document.Status.UPLOADED)
    pipeline.ingest_document(document.pk)
    document.refresh_from_db()
    assert (document.status, document.attempts, document.lease) == (Document.Status.UPLOADED, 0, None)

    bucket.server._port = int(bucket.meta.client.meta.endpoint_url.rpartition(":")[2])
    bucket.server.start()
    pipeline.ingest_document(document.pk)
    document.refresh_from_db()
    assert document.status == Document.Status.READY


def test_ranges_are_signed_and_only_they_are_sent(
    bucket, alice: User, ingested: Ingest, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = ingested(alice, "The bridge was closed in 2019.")
    whole = bucket.Object(document.file.name).get()["Body"].read()
    sent: list[tuple[dict[str, bytes], str]] = []
    events = default_storage.connection.meta.client.meta.events
    events.register(
        "before-send.s3.GetObject", lambda request, **_: sent.append((dict(request.headers), request.url))
    )
    events.register("after-call.s3.GetObject", lambda http_response, **_: lengths.append(http_response))
    lengths: list = []
    client.force_login(alice)
    part = client.get(f"/documents/{document.pk}/file", headers={"range": "bytes=100-299"})
    assert (part.status_code, b"".join(part)) == (206, whole[100:300])
    ((headers, url),) = sent
    said = {name: value.decode() if isinstance(value, bytes) else value for name, value in headers.items()}
    assert said["Range"] == "bytes=100-299"
    assert "range" in said["Authorization"].partition("SignedHeaders=")[2].partition(",")[0]
    assert [answer.headers["Content-Length"] for answer in lengths] == ["200"]
    assert httpx.get(url, headers={"Range": "bytes=100-299"}).status_code == 403, "unsigned"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    storages._storages.clear()
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        storages["default"].open_part(document.file.name, 100, 200)
