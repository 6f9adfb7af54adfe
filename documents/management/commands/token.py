"""`manage.py token [USER] [--scopes read,write,ask] [--days N]`: create an API token and print its key."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from documents.management import LibraryCommand, owner_named
from documents.models import ApiToken, TokenScope


class Command(LibraryCommand):
    help = "Creates an API token and prints its key once; only the hash is stored."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", nargs="?", default="", help="the first superuser by default")
        parser.add_argument("--name", default="made on the command line")
        parser.add_argument("--scopes", default="read,write,ask")
        parser.add_argument("--days", type=int, default=0, help="lifetime; 0 is unlimited")

    def handle(self, *args: Any, **options: Any) -> None:
        scopes = [scope.strip() for scope in options["scopes"].split(",") if scope.strip()]
        if unknown := set(scopes) - set(TokenScope.values):
            raise CommandError(f"There is no scope {', '.join(sorted(unknown))}: use read, write, ask.")
        ends = timezone.now() + timedelta(days=options["days"]) if options["days"] else None
        _, key = ApiToken.objects.issue(owner_named(options["user"]), options["name"], scopes, ends)
        self.stdout.write(key)
