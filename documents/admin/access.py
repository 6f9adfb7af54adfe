"""Who was given what: shares and API tokens. No key is ever shown; only its hash is stored."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from documents.admin.reading import ReadOnlyAdmin
from documents.models import ApiToken, Job, SecurityEvent, Share


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """Deleting a token ends it at once."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

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


# The log of security events, which nobody changes.


@admin.register(SecurityEvent)
class SecurityEventAdmin(ReadOnlyAdmin):
    list_display = ["at", "kind", "username", "address", "detail"]
    list_filter = ["kind", "at"]
    search_fields = ["username", "detail", "address"]
    date_hierarchy = "at"
    actions = None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
