"""`manage.py mcp`: the MCP server on standard input and output, for an agent on this machine."""

from __future__ import annotations

from argparse import ArgumentParser

from agents.evidence import Agent
from agents.mcp_server import called_by, make_server
from agents.results import Addresses
from documents.management import LibraryCommand, owner_named
from documents.models import TokenScope


class Command(LibraryCommand):
    help = "Serves MCP on standard input and output: search, read, locate, verify, ask."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", default="", help="owner of the library (default: the first superuser)")
        parser.add_argument(
            "--scope",
            action="append",
            choices=TokenScope.values,
            help="what the agent may do; may be repeated (default: read and ask)",
        )
        parser.add_argument("--address", default="http://localhost:8000", help="of the pages, for links")

    def handle(self, user: str, scope: list[str] | None, address: str, **options: object) -> None:
        scopes = frozenset(scope or [TokenScope.READ, TokenScope.ASK])
        with called_by(Agent(owner_named(user), scopes, Addresses(address.rstrip("/"), resources=True))):
            make_server().run("stdio")
