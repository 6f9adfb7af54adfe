"""A library, a server and tokens for agents."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from documents.models import ApiToken
from tests.chat.conftest import asgi_server, conversation, report  # noqa: F401

NewKey = Callable[..., str]


@pytest.fixture
def new_key() -> NewKey:
    """``new_key(alice, "read", "ask")``: the key of a new token with these scopes."""

    def issue(owner: User, *scopes: str) -> str:
        return ApiToken.objects.issue(owner, "agent", list(scopes))[1]

    return issue
