"""Webhooks and their deliveries in the admin. Secrets are not shown."""

from __future__ import annotations

from django.contrib import admin

from agents.models import Webhook, WebhookDelivery
from documents.admin.accounts import EndingAdmin


@admin.register(Webhook)
class WebhookAdmin(EndingAdmin):
    """Webhooks; deleting one ends its deliveries at once."""

    list_display = ["url", "owner", "events", "is_active", "created_at"]
    list_filter = ["is_active"]
    search_fields = ["url", "owner__username"]
    list_select_related = ["owner"]


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(EndingAdmin):
    list_display = ["event", "webhook", "attempts", "status_code", "error", "delivered_at", "created_at"]
    list_filter = ["event"]
    search_fields = ["webhook__url"]
    list_select_related = ["webhook"]
