"""Commands on a database of another version: the embedded one is migrated, another is not."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def without_sessions() -> None:
    """As if the last version had no table of sessions."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE django_session; DELETE FROM django_migrations WHERE app = 'sessions'")


def test_the_embedded_database_is_migrated_first(settings: Any, alice: Any) -> None:
    settings.DATABASE_URL = ""
    call_command("scheduler", "--once")
    assert "django_session" in connection.introspection.table_names()


def test_the_owner_of_another_database_is_told(settings: Any) -> None:
    settings.DATABASE_URL = "postgresql://somewhere/pincite"
    with pytest.raises(CommandError, match="not of this version"):
        call_command("scheduler", "--once", skip_checks=False)
    assert "django_session" not in connection.introspection.table_names()
