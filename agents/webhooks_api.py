"""`/api/webhooks/…`: addresses that are told of your documents and answers."""

from __future__ import annotations

from typing import Any

from django.db import models
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import MOST_WEBHOOKS, Webhook, WebhookDelivery
from agents.webhooks import CHOOSABLE, tested
from documents.api.common.errors import Unusable
from documents.api.common.fields import Strict
from documents.files.url_fetch import FetchRefused, parsed


class WebhookSerializer(Strict, serializers.ModelSerializer):
    """An address and what it wants to be told. ``secret`` is what the receiver verifies signatures with."""

    events = serializers.ListField(child=serializers.ChoiceField(CHOOSABLE), min_length=1, max_length=10)
    secret = serializers.CharField(read_only=True)

    class Meta:
        model = Webhook
        fields = ["id", "url", "events", "is_active", "secret", "created_at"]
        read_only_fields = ["id", "secret", "created_at"]

    def validate_events(self, events: list[str]) -> list[str]:
        return sorted(set(events))

    def validate_url(self, url: str) -> str:
        try:
            parsed(url)
        except FetchRefused as refused:
            raise serializers.ValidationError(refused.message) from None
        return url


class DeliverySerializer(serializers.ModelSerializer):
    """One message and the outcome of its last attempt; ``next_at`` is when it is tried again."""

    class Meta:
        model = WebhookDelivery
        fields = [
            "id",
            "event",
            "payload",
            "attempts",
            "next_at",
            "delivered_at",
            "status_code",
            "error",
            "created_at",
        ]


@extend_schema(tags=["webhooks"])
class WebhookViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.CreateModelMixin,
    mixins.UpdateModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet,
):
    """Your webhooks. What they are sent is signed as Standard Webhooks says."""

    serializer_class = WebhookSerializer
    http_method_names = ["get", "post", "patch", "delete", "head", "options"]
    ordering_fields = ["created_at"]

    def get_queryset(self) -> models.QuerySet:
        return Webhook.objects.visible_to(self.request.user)

    def perform_create(self, serializer: Any) -> None:
        if self.get_queryset().count() >= MOST_WEBHOOKS:
            raise Unusable(f"You have {MOST_WEBHOOKS} webhooks; remove one first.")
        serializer.save(owner=self.request.user)

    @extend_schema(summary="Send a test message now", request=None, responses={200: DeliverySerializer})
    @action(detail=True, methods=["post"])
    def test(self, request: Request, **kwargs: Any) -> Response:
        return Response(DeliverySerializer(tested(self.get_object())).data)

    @extend_schema(
        summary="What was sent to a webhook, the latest first", responses=DeliverySerializer(many=True)
    )
    @action(detail=True, filter_backends=[])
    def deliveries(self, request: Request, **kwargs: Any) -> Response:
        page = self.paginate_queryset(self.get_object().deliveries.all())
        return self.get_paginated_response(DeliverySerializer(page, many=True).data)
