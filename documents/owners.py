"""Whose documents a command works on."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.management.base import CommandError


def owner_named(username: str) -> User:
    """The user of that name; with '' the first superuser. Raises CommandError."""
    if username:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no user “{username}”.")
        return user
    first = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if first is None:
        raise CommandError("There is no superuser yet: run `make run` or `manage.py createsuperuser` first.")
    return first
