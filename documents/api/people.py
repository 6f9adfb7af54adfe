"""Who is calling, for the types: permissions let nobody else through."""

from __future__ import annotations

from django.contrib.auth.models import User
from rest_framework.request import Request


def caller(request: Request) -> User:
    user = request.user
    assert isinstance(user, User)
    return user
