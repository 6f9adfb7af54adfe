"""`/mcp`: MCP's streamable HTTP transport as one view, behind the API's tokens, scopes and rates.

Each request stands alone (no session is kept), so any web process can answer it, and the
answer is JSON, never a stream. The official package reads and writes the messages.
"""

from __future__ import annotations

from typing import Any, cast

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from agents.evidence import Agent
from agents.mcp_server import called_by, make_server
from agents.places import Addresses
from documents.models import ApiToken, Scope

ALL_SCOPES = frozenset(Scope.values)
# Django has checked the host already, and a token is not sent by a browser on its own.
SECURITY = TransportSecuritySettings(enable_dns_rebinding_protection=False)


class EventStreamRenderer(BaseRenderer):
    """MCP clients say that they would take a stream, too."""

    media_type = "text/event-stream"
    format = "events"

    def render(self, data: Any, media_type: Any = None, context: Any = None) -> bytes:
        return JSONRenderer().render(data)


@extend_schema(exclude=True)
class McpView(APIView):
    """Speaks MCP. What a tool needs beyond reading is asked of the token by the tool."""

    scope = Scope.READ
    renderer_classes = [JSONRenderer, EventStreamRenderer]

    def post(self, request: Request) -> HttpResponse:
        with called_by(agent_of(request)):
            return async_to_sync(answered)(request)


def agent_of(request: Request, resources: bool = True) -> Agent:
    """Who asks: a token with its scopes; a browser's session has all of them."""
    token = request.auth
    scopes = frozenset(token.scopes) if isinstance(token, ApiToken) else ALL_SCOPES
    base = request.build_absolute_uri("/").rstrip("/")
    return Agent(cast(User, request.user), scopes, Addresses(base, resources))


async def answered(request: Request) -> HttpResponse:
    """The package's answer to the request, as Django's."""
    body = request._request.body
    response = HttpResponse(content_type="application/json")

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            response.status_code = message["status"]
            for name, value in message["headers"]:
                if name.lower() != b"content-length":
                    response[name.decode("latin-1")] = value.decode("latin-1")
        else:
            response.content += message.get("body", b"")

    manager = StreamableHTTPSessionManager(
        make_server()._lowlevel_server, json_response=True, stateless=True, security_settings=SECURITY
    )
    async with manager.run():
        await manager.handle_request(asgi_scope(request), receive, send)
    return response


def asgi_scope(request: Request) -> dict[str, Any]:
    headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in request.headers.items()]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": None,
        "server": None,
    }
