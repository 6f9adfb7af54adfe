"""Paths of what programs use beside the API."""

from __future__ import annotations

from django.urls import URLPattern, path

from agents.mcp_http import McpView

urlpatterns: list[URLPattern] = [
    path("mcp", McpView.as_view(), name="mcp"),
]
