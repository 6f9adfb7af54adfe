"""Accounts, shares, jobs, API tokens and security events in the admin."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django_q.models import Schedule

from documents.admin.base import ReadOnlyAdmin
from documents.models import ApiToken, Job, SecurityEvent, Share

admin.site.unregister([User, Group])
admin.site.unregister([Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken, UserSession])
admin.site.unregister(Schedule)


class EndingAdmin(ReadOnlyAdmin):
    """Read-only rows that an administrator may delete."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)


@admin.register(Authenticator)
class SecondFactorAdmin(EndingAdmin):
    """Delete a user's second factors when they have lost their phone. Secrets are not shown."""

    list_display = ["user", "type", "created_at", "last_used_at"]
    fields = ["user", "type", "created_at", "last_used_at"]
    list_filter = ["type"]
    search_fields = ["user__username"]
    list_select_related = ["user"]


@admin.register(SocialAccount)
class ConnectedAccountAdmin(EndingAdmin):
    """Accounts at the single sign-on provider."""

    list_display = ["user", "provider", "uid", "date_joined", "last_login"]
    fields = ["user", "provider", "uid", "date_joined", "last_login"]
    search_fields = ["user__username", "uid"]
    list_select_related = ["user"]


@admin.register(Schedule)
class ScheduleAdmin(EndingAdmin):
    """Schedules, read-only: a new one could make the workers call any function."""

    list_display = ["name", "func", "schedule_type", "next_run"]
    list_display_links = ["name", "func"]


@admin.register(User)
class PlainUserAdmin(UserAdmin):
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")  # set by Django


@admin.register(Group)
class PlainGroupAdmin(GroupAdmin):
    filter_horizontal = ()


@admin.register(ApiToken)
class ApiTokenAdmin(EndingAdmin):
    """Deleting a token ends it at once."""

    list_display = ["name", "owner", "prefix", "scopes", "created_at", "expires_at", "last_used_at"]
    search_fields = ["name", "owner__username", "prefix"]
    list_select_related = ["owner"]
    fields = ["name", "owner", "prefix", "scopes", "created_at", "expires_at", "last_used_at"]


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
class ShareAdmin(admin.ModelAdmin):
    list_display = ["__str__", "can_write", "created_at"]
    list_filter = ["can_write"]
    search_fields = ["document__title", "collection__name", "user__username", "group__name"]
    list_select_related = ["document", "collection", "user", "group"]
    raw_id_fields = ["document", "collection", "user", "group"]


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
