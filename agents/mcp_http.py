"""`/mcp`: MCP over HTTP, one view with the API's tokens, scopes and rate limits.

There are no sessions, so any web process can answer a request; answers are JSON, never a stream.
"""

from __future__ import annotations

import asyncio
from typing import Any

from asgiref.sync import async_to_sync
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from agents.evidence import agent_of
from documents.models import TokenScope


class McpStreamRenderer(JSONRenderer):
    """Accept the media type of streams, which MCP clients send, and render JSON."""

    media_type = "text/event-stream"
    format = "events"


@extend_schema(exclude=True)
class McpView(APIView):
    """The MCP endpoint. It requires the scope to read; a tool that needs another scope checks it itself."""

    scope = TokenScope.READ
    renderer_classes = [JSONRenderer, McpStreamRenderer]

    def post(self, request: Request) -> HttpResponse:
        from agents.mcp_server import called_by  # imported by config.asgi: half a second

        with called_by(agent_of(request)):
            return async_to_sync(answered)(request)


async def answered(request: Request) -> HttpResponse:
    """Run the request through the MCP package's ASGI application, and return its response as Django's."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from agents.mcp_server import make_server

    body = request._request.body
    response = HttpResponse(content_type="application/json")

    unread = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not unread:
            # The package polls for a disconnect in a loop. If it were answered at once, that loop would never
            # yield to the event loop, and would block the whole process.
            await asyncio.Event().wait()
        return unread.pop()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            response.status_code = message["status"]
            for name, value in message["headers"]:
                if name.lower() != b"content-length":
                    response[name.decode("latin-1")] = value.decode("latin-1")
        else:
            response.content += message.get("body", b"")

    # Django has already checked the host, and browsers do not send a token by themselves.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    manager = StreamableHTTPSessionManager(
        make_server()._lowlevel_server, json_response=True, stateless=True, security_settings=security
    )
    async with manager.run():
        await manager.handle_request(asgi_scope(request), receive, send)
    return response


def asgi_scope(request: Request) -> dict[str, Any]:
    """Return the ASGI connection scope of a Django request."""
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
