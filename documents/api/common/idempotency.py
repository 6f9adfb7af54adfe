"""``Idempotency-Key``: a repeated request gets the stored response and is not executed again.

After the IETF draft "The Idempotency-Key HTTP Header Field": the same key with
the same content returns the first response, with other content 422, and while
the first is in progress 409. Keys belong to a caller and a path, and are kept
for 24 hours. Responses of 500 and above are not kept, so such a request can be
retried under the same key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from drf_spectacular.utils import OpenApiParameter
from rest_framework import exceptions, status
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from documents.api.common.callers import caller
from documents.api.common.errors import StateConflict, error_body
from documents.models import IdempotencyKey

LONGEST_KEY = 200
HEADER = "Idempotency-Key"
IDEMPOTENCY_KEY = OpenApiParameter(
    HEADER,
    {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": r"^[\x21-\x7e]+$"},
    OpenApiParameter.HEADER,
    description="A key of your choice. A repeat within 24 hours returns the first response, without effect.",
)


class KeyReused(exceptions.APIException):
    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_detail = "This Idempotency-Key was used for another request."
    default_code = "key_reused"


class UnderWay(StateConflict):
    default_detail = "A request with this Idempotency-Key is in progress."
    default_code = "under_way"
    wait = 1


def once(request: Request, act: Callable[[], Response]) -> Response:
    """Return ``act()``, or its stored response when the caller repeats a request."""
    key = request.headers.get(HEADER)
    if key is None:
        return act()
    if not key or len(key) > LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise exceptions.ValidationError({HEADER: [f"1 to {LONGEST_KEY} visible ASCII characters."]})
    return _first_or_again(request, key, act)


def _first_or_again(request: Request, key: str, act: Callable[[], Response]) -> Response:
    """Lock the key's row, act, and store the response, all in one transaction.

    If the process, its connection or the database dies, the transaction is rolled back and the request can
    be repeated at once.
    """
    IdempotencyKey.objects.outdated().filter(owner=caller(request)).delete()
    sent = fingerprint(request)
    claim, _ = IdempotencyKey.objects.get_or_create(
        owner=caller(request), path=request.path[:200], key=key, defaults={"fingerprint": sent}
    )
    if claim.fingerprint != sent:
        raise KeyReused
    with transaction.atomic():
        row = IdempotencyKey.objects.select_for_update(skip_locked=True).filter(pk=claim.pk).first()
        if row is None:
            raise UnderWay
        if row.status is not None:
            return Response(row.body, status=row.status, headers={"Idempotency-Replayed": "true"})
        try:
            response = act()
        except exceptions.APIException as error:
            if error.status_code >= 500 or isinstance(error, exceptions.Throttled):
                raise
            _keep(row, error.status_code, error_body(error))
            refusal = error
        else:
            _keep(row, response.status_code, response.data)
            return response
    raise refusal


def _keep(row: IdempotencyKey, status_code: int, data: Any) -> None:
    row.status, row.body = status_code, json.loads(JSONRenderer().render(data))
    row.save(update_fields=["status", "body"])


def fingerprint(request: Request) -> str:
    """Return the SHA-256 of the request: fields by name, files by content."""
    digest = hashlib.sha256(request.path.encode())
    if not isinstance(request.data, Mapping):
        digest.update(_content(request.data))
        return digest.hexdigest()
    for name in sorted(request.data):
        values = request.data.getlist(name) if hasattr(request.data, "getlist") else [request.data[name]]
        digest.update(name.encode())
        for value in values:
            digest.update(_content(value))
    return digest.hexdigest()


def _content(value: Any) -> bytes:
    if not isinstance(value, UploadedFile):
        return json.dumps(value, sort_keys=True, default=str).encode()
    digest = hashlib.sha256()
    for part in value.chunks():
        digest.update(part)
    value.seek(0)
    return digest.digest()
