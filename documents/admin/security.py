"""The log of security events, which nobody changes."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from documents.admin.reading import ReadOnlyAdmin
from documents.models import SecurityEvent


@admin.register(SecurityEvent)
class SecurityEventAdmin(ReadOnlyAdmin):
    list_display = ["at", "kind", "username", "address", "detail"]
    list_filter = ["kind", "at"]
    search_fields = ["username", "detail", "address"]
    date_hierarchy = "at"
    actions = None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
