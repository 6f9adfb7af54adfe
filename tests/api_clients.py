"""API clients with a token of their own."""

from __future__ import annotations

from django.contrib.auth.models import User
from rest_framework.test import APIClient

from documents.models import ApiToken


def client_of(user: User, *scopes: str) -> APIClient:
    """Calls with a token of these scopes; of all when none is named."""
    _, key = ApiToken.objects.issue(user, "test", list(scopes or ("read", "write", "ask")))
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    return client
