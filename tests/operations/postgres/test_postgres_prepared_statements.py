"""Statements of every search are planned once per connection, and still logged with their parameters."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from operations.postgres.base import PREPARED_AFTER
from retrieval.index.postgres import read_rows
from retrieval.query.scope import Scope
from retrieval.search import search
from tests.conftest import Ingest

pytestmark = pytest.mark.django_db

ASKED = "SELECT id, %s::bytea FROM auth_user WHERE username = %s"


def prepared() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements ORDER BY prepare_time")
        return [statement for (statement,) in cursor.fetchall()]


def test_what_is_asked_again_is_prepared_and_answers_the_same(alice: User) -> None:
    before = set(prepared())
    answers = [read_rows(ASKED, [b"\x00\xff", alice.username]) for _ in range(PREPARED_AFTER + 1)]
    assert answers == [[(alice.pk, b"\x00\xff")]] * len(answers)
    (statement,) = set(prepared()) - before
    assert statement == "SELECT id, $1::bytea FROM auth_user WHERE username = $2"


def test_the_log_shows_the_parameters(alice: User) -> None:
    with CaptureQueriesContext(connection) as captured:
        read_rows(ASKED, [b"", alice.username])
    assert f"username = '{alice.username}'" in captured[0]["sql"]


def test_other_users_share_the_plans_of_a_search(alice: User, bob: User, ingested: Ingest) -> None:
    """The user is a parameter, so a statement is not planned again for each user."""
    for reader in (alice, bob):
        ingested(reader, "Dividends paid in 2019 were 12 million.")
    for _ in range(PREPARED_AFTER + 1):
        search("dividends paid", Scope(alice))
    after = prepared()
    assert any("retrieval_indexedchunk" in statement for statement in after)
    search("dividends paid", Scope(bob))
    assert prepared() == after
