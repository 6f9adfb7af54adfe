"""Base of commands that use the database: check migrations, find the owner."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor


class LibraryCommand(BaseCommand):
    """Migrate the embedded database; for another database raise CommandError when it is outdated."""

    requires_migrations_checks = True

    def check_migrations(self) -> None:
        try:
            executor = MigrationExecutor(connection)
        except OperationalError as error:
            raise CommandError(f"The database cannot be reached: {error}") from error
        if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return
        if settings.DATABASE_URL:
            raise CommandError("The database is not of this version. Run `manage.py migrate` first.")
        call_command("migrate", verbosity=0, interactive=False)


def owner_named(username: str) -> User:
    """Return the user; with '' the first superuser. Raises CommandError."""
    if username:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no user “{username}”.")
        return user
    first = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if first is None:
        raise CommandError("There is no superuser yet: run `make run` or `manage.py createsuperuser` first.")
    return first
