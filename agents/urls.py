"""Paths of what programs use beside the API."""

from __future__ import annotations

from django.urls import URLPattern, path

from agents import views
from agents.mcp_server import McpView
from agents.openai_api import ChatCompletions, Models
from agents.openai_responses import ResponseDetail, Responses

urlpatterns: list[URLPattern] = [
    path("v1/models", Models.as_view(), name="openai-models"),
    path("v1/chat/completions", ChatCompletions.as_view(), name="openai-chat-completions"),
    path("v1/responses", Responses.as_view(), name="openai-responses"),
    path("v1/responses/<str:response_id>", ResponseDetail.as_view(), name="openai-response"),
    path("account/webhooks/", views.webhooks, name="webhooks"),
    path("account/webhooks/add/", views.add, name="webhook-add"),
    path("account/webhooks/<uuid:pk>/test/", views.test, name="webhook-test"),
    path("account/webhooks/<uuid:pk>/remove/", views.remove, name="webhook-remove"),
    path("embed/<str:token>/", views.embedded_reader, name="embedded-reader"),
    path("embed/<str:token>/file", views.embedded_file, name="embedded-file"),
    path("mcp", McpView.as_view(), name="mcp"),
]
