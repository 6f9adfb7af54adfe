"""`/api/providers/…`: what writes answers here, and whether it does."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from chat.providers.registry import cards, check_health
from documents.models.security import Scope


class ProviderSerializer(serializers.Serializer):
    """A provider of answers. No key is ever shown."""

    name = serializers.CharField()
    label = serializers.CharField()
    model = serializers.CharField()
    setting = serializers.CharField(help_text="the setting that switches it on")
    configured = serializers.BooleanField()
    default = serializers.BooleanField(help_text="conversations use it unless they choose another")
    explanation = serializers.CharField()


class HealthSerializer(serializers.Serializer):
    """What a provider said when it was asked for one word."""

    working = serializers.BooleanField()
    message = serializers.CharField()
    milliseconds = serializers.FloatField()


class Providers(generics.GenericAPIView):
    pagination_class = None
    filter_backends: list[Any] = []
    serializer_class = ProviderSerializer

    @extend_schema(tags=["providers"], operation_id="providers_list", responses=ProviderSerializer(many=True))
    def get(self, request: Request) -> Response:
        """What writes answers here."""
        return Response(ProviderSerializer(cards(), many=True).data)


class ProviderHealth(generics.GenericAPIView):
    """Costs a request to the provider, so that it is limited like a question."""

    pagination_class = None
    filter_backends: list[Any] = []
    serializer_class = HealthSerializer
    scope = Scope.ASK
    rate = "ask"

    @extend_schema(
        tags=["providers"], operation_id="providers_health", request=None, responses=HealthSerializer
    )
    def post(self, request: Request, name: str) -> Response:
        """Asks a provider for one word."""
        if name not in {card.name for card in cards()}:
            raise Http404
        return Response(HealthSerializer(check_health(name)).data)
