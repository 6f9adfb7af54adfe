"""Paths of what programs use beside the API."""

from __future__ import annotations

from django.urls import URLPattern, path

from agents.mcp_http import McpView
from agents.openai_api import ChatCompletions, Models

urlpatterns: list[URLPattern] = [
    path("v1/models", Models.as_view(), name="openai-models"),
    path("v1/chat/completions", ChatCompletions.as_view(), name="openai-chat-completions"),
    path("mcp", McpView.as_view(), name="mcp"),
]
