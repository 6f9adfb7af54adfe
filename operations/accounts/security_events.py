"""Record security events from the signals of Django, Pincite and its libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.mfa.signals import authentication_failed, authenticator_added, authenticator_removed
from axes.signals import user_locked_out
from django.contrib.auth.models import Group, Permission, User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Model, QuerySet
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from chat.models import AnswerShare
from documents.models import ApiToken, EventKind, Placement, Share
from documents.models.security import current_request, record

FLAGS = ("is_active", "is_staff", "is_superuser")
CHANGES = {"post_add": "added", "post_remove": "removed", "post_clear": "removed all"}


def bind_request(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: make the current request's user and address available to events."""

    def answered(request: HttpRequest) -> HttpResponseBase:
        token = current_request.set(request)
        try:
            return get_response(request)
        finally:
            current_request.reset(token)

    return answered


@receiver(user_logged_in)
def signed_in(sender: Any, user: User, **more: Any) -> None:
    record(EventKind.SIGNED_IN, user=user)


@receiver(user_logged_out)
def signed_out(sender: Any, user: User | None, **more: Any) -> None:
    if user is not None:
        record(EventKind.SIGNED_OUT, user=user)


@receiver(user_login_failed)
def sign_in_failed(sender: Any, credentials: dict[str, Any], **more: Any) -> None:
    record(EventKind.SIGN_IN_FAILED, username=str(credentials.get("username", "")))


@receiver(user_locked_out)
def locked_out(sender: Any, username: str = "", **more: Any) -> None:
    record(EventKind.LOCKED_OUT, username=username or "")


@receiver(authenticator_added)
def factor_added(sender: Any, user: User, authenticator: Any, **more: Any) -> None:
    record(EventKind.FACTOR_ADDED, authenticator.get_type_display(), user=user)


@receiver(authenticator_removed)
def factor_removed(sender: Any, user: User, authenticator: Any, **more: Any) -> None:
    record(EventKind.FACTOR_REMOVED, authenticator.get_type_display(), user=user)


@receiver(authentication_failed)
def factor_failed(sender: Any, user: User, **more: Any) -> None:
    record(EventKind.FACTOR_FAILED, user=user)


@receiver(post_save, sender=ApiToken)
def token_made(sender: Any, instance: ApiToken, created: bool, **more: Any) -> None:
    if created:
        record(EventKind.TOKEN_MADE, f"{instance.name}: {', '.join(instance.scopes)}", user=instance.owner)


@receiver(post_delete, sender=ApiToken)
def token_ended(sender: Any, instance: ApiToken, origin: Any, **more: Any) -> None:
    if is_deleted_itself(origin, ApiToken):
        record(EventKind.TOKEN_ENDED, f"{instance.name} of {instance.owner}")


@receiver(post_save, sender=Share)
def shared(sender: Any, instance: Share, **more: Any) -> None:
    record(EventKind.SHARED, f"{instance}, to {'edit' if instance.can_write else 'read'}")


@receiver(post_delete, sender=Share)
def share_ended(sender: Any, instance: Share, origin: Any, **more: Any) -> None:
    if is_deleted_itself(origin, Share):
        record(EventKind.SHARE_ENDED, str(instance))


@receiver(post_save, sender=Placement)
def added_to_collection(sender: Any, instance: Placement, created: bool, **more: Any) -> None:
    if created and instance.collection.shares.exists():
        record(EventKind.SHARED, str(instance))


@receiver(post_delete, sender=Placement)
def removed_from_collection(sender: Any, instance: Placement, origin: Any, **more: Any) -> None:
    if is_deleted_itself(origin, Placement):
        record(EventKind.SHARE_ENDED, str(instance))


@receiver(post_save, sender=AnswerShare)
def link_made(sender: Any, instance: AnswerShare, created: bool, **more: Any) -> None:
    ends = instance.expires_at.date() if instance.expires_at else "never"
    record(EventKind.LINK_MADE, f"{instance}, ends {ends}")


@receiver(post_save, sender=User)
def user_made(sender: Any, instance: User, created: bool, **more: Any) -> None:
    if created:
        record(EventKind.USER_MADE, instance.get_username())


@receiver(post_delete, sender=User)
def user_deleted(sender: Any, instance: User, **more: Any) -> None:
    record(EventKind.USER_DELETED, instance.get_username())


@receiver(pre_save, sender=User)
def flags_changed(sender: Any, instance: User, update_fields: Any = None, **more: Any) -> None:
    """Record changes of the flags that grant sign-in, admin access or all rights."""
    if instance._state.adding or (update_fields and not set(FLAGS) & set(update_fields)):
        return
    before = User.objects.filter(pk=instance.pk).values(*FLAGS).first() or {}
    changed = [
        f"{flag}={getattr(instance, flag)}" for flag in before if before[flag] != getattr(instance, flag)
    ]
    if changed:
        record(EventKind.RIGHTS_CHANGED, f"{instance.get_username()}: {', '.join(changed)}")


@receiver(m2m_changed, sender=User.groups.through)
@receiver(m2m_changed, sender=User.user_permissions.through)
@receiver(m2m_changed, sender=Group.permissions.through)
def rights_changed(
    sender: Any, instance: Model, action: str, model: type[Model], pk_set: set[Any] | None, **more: Any
) -> None:
    if action in CHANGES and (pk_set or action == "post_clear"):
        rows = model._default_manager.filter(pk__in=pk_set or ())
        names = ", ".join(row.codename if isinstance(row, Permission) else str(row) for row in rows)
        record(EventKind.RIGHTS_CHANGED, f"{instance}: {CHANGES[action]} {names}".rstrip())


def is_deleted_itself(origin: Any, model: type[Model]) -> bool:
    """Return whether the row itself was deleted, rather than by a cascade."""
    return isinstance(origin, model) or (isinstance(origin, QuerySet) and origin.model is model)
