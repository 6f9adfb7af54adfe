"""Gives others the right to a document or a collection, and takes it back."""

from __future__ import annotations

from django.contrib.auth.models import Group, User

from documents.models import Collection, Document, Share


class Nobody(Exception):
    """There is no user of this name, and no group that the giver is in."""


def give(giver: User, shared: Document | Collection, name: str, *, can_write: bool) -> Share:
    """Gives the user or group of that name the right to read, or to write. Raises Nobody.

    Only the giver's own groups are found: nobody learns of others.
    """
    user = User.objects.filter(username=name, is_active=True).exclude(pk=giver.pk).first()
    group = None if user else Group.objects.filter(name=name, user=giver).first()
    if not user and not group:
        raise Nobody(name)
    share, _made = shared.shares.update_or_create(user=user, group=group, defaults={"can_write": can_write})
    return share
