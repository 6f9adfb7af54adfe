"""Accounts, shares, jobs, API tokens and security events in the admin."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import AnonymousUser, Group, User
from django.http import HttpRequest
from django_q.models import Failure, OrmQ, Schedule, Success

from documents.admin.base import ReadOnlyAdmin
from documents.models import ApiToken, Job, SecurityEvent, Share

admin.site.unregister([User, Group])
admin.site.unregister([Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken, UserSession])
admin.site.unregister([Schedule, Success, Failure])
if admin.site.is_registered(OrmQ):  # not where the queue is in Redis
    admin.site.unregister(OrmQ)
admin.site.unregister([AccessAttempt, AccessFailureLog, AccessLog])


def outranks(actor: User | AnonymousUser, other: User) -> bool:
    """Return whether the actor has every right of the other user, so may act on their account."""
    if actor.is_superuser or actor.pk == other.pk:
        return True
    return not other.is_superuser and other.get_all_permissions() <= actor.get_all_permissions()


class EndingAdmin(ReadOnlyAdmin):
    """Read-only rows that an administrator may delete, unless their user has more rights.

    A row's own page shows only what the list shows, unless ``fields`` says otherwise: never secrets.
    """

    user_field = "user"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields or self.list_display

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may = admin.ModelAdmin.has_delete_permission(self, request, obj)
        whose = getattr(obj, self.user_field, None)
        return may and (whose is None or outranks(request.user, whose))


@admin.register(Authenticator)
class SecondFactorAdmin(EndingAdmin):
    """Delete a user's second factors when they have lost their phone. Secrets are not shown."""

    list_display = ["user", "type", "created_at", "last_used_at"]
    list_filter = ["type"]
    search_fields = ["user__username"]
    list_select_related = ["user"]


@admin.register(SocialAccount)
class ConnectedAccountAdmin(EndingAdmin):
    """Accounts at the single sign-on provider."""

    list_display = ["user", "provider", "uid", "date_joined", "last_login"]
    search_fields = ["user__username", "uid"]
    list_select_related = ["user"]


@admin.register(Schedule)
class ScheduleAdmin(EndingAdmin):
    """Schedules, read-only: a new one could make the workers call any function."""

    list_display = ["name", "func", "schedule_type", "next_run"]
    list_display_links = ["name", "func"]


PRIVILEGES = ("is_staff", "is_superuser", "groups", "user_permissions")


@admin.register(User)
class PlainUserAdmin(UserAdmin):
    """Only superusers change privileges. Others change accounts that have no right they lack themselves."""

    filter_horizontal = ()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        dates = ("last_login", "date_joined")  # set by Django
        return dates if request.user.is_superuser else (*dates, *PRIVILEGES)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or outranks(request.user, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or outranks(request.user, obj))


@admin.register(Group)
class PlainGroupAdmin(GroupAdmin):
    """Groups carry privileges: only superusers change them."""

    filter_horizontal = ()

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

    has_add_permission = has_delete_permission = has_change_permission


@admin.register(ApiToken)
class ApiTokenAdmin(EndingAdmin):
    """Deleting a token ends it at once."""

    user_field = "owner"
    list_display = ["name", "owner", "prefix", "scopes", "created_at", "expires_at", "last_used_at"]
    search_fields = ["name", "owner__username", "prefix"]
    list_select_related = ["owner"]


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ["title", "kind", "owner", "state", "attempts", "seconds", "created_at", "finished_at"]
    list_filter = ["kind", "outcome"]
    search_fields = ["title", "owner__username"]
    list_select_related = ["owner", "document"]
    fields = [
        *("title", "kind", "owner", "document", "state", "stage", "progress", "attempts", "seconds"),
        *("stage_seconds", "failure_code", "failure_message", "created_at", "started_at", "finished_at"),
    ]


@admin.register(Share)
class ShareAdmin(EndingAdmin):
    """Shares are made by who may pass the document on; administrators end them."""

    list_display = ["__str__", "can_write", "created_at"]
    list_filter = ["can_write"]
    search_fields = ["document__title", "collection__name", "user__username", "group__name"]
    list_select_related = ["document", "collection", "user", "group"]


@admin.register(Success, Failure)
class TicketAdmin(EndingAdmin):
    """Finished tasks of django-q2, without its action that runs them again."""

    list_display = ["name", "func", "started", "stopped", "attempt_count"]
    search_fields = ["name", "func"]
    fields = ["name", "func", "group", "cluster", "started", "stopped", "attempt_count", "result"]
    ordering = ["-stopped"]


@admin.register(OrmQ)
class WaitingTicketAdmin(EndingAdmin):
    """Tickets that wait. Their payload is a signed pickle, so it is neither shown nor changed."""

    list_display = ["key", "lock"]


@admin.register(AccessAttempt)
class LockOutAdmin(EndingAdmin):
    """Failed sign-ins of an account from an address. Deleting the row ends its lock-out."""

    list_display = ["attempt_time", "username", "ip_address", "failures_since_start"]
    search_fields = ["username", "ip_address"]


# --- The log of security events: read-only ---


@admin.register(SecurityEvent)
class SecurityEventAdmin(ReadOnlyAdmin):
    list_display = ["at", "kind", "username", "address", "detail"]
    list_filter = ["kind", "at"]
    search_fields = ["username", "detail", "address"]
    date_hierarchy = "at"
    actions = None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
