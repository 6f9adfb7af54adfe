from __future__ import annotations

import pytest
from django.db import OperationalError, transaction

from documents.ingestion import leases
from documents.ingestion.leases import retry_until_available
from documents.models import Document

pytestmark = pytest.mark.django_db(transaction=True)


class DiskFull(Exception):
    sqlstate = "53100"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "PAUSE", 0)


def test_work_is_done_again_until_the_database_is_back() -> None:
    tries: list[int] = []

    def work() -> int:
        tries.append(1)
        if len(tries) < 3:
            raise OperationalError("server closed the connection unexpectedly")
        return Document.objects.count()

    assert retry_until_available(work) == 0
    assert len(tries) == 3


def test_a_database_that_stays_away_is_given_up_in_the_end() -> None:
    def work() -> None:
        raise OperationalError("connection refused")

    with pytest.raises(OperationalError):
        retry_until_available(work, patience=0)


def test_a_full_disk_and_a_lost_transaction_are_not_waited_for() -> None:
    tries: list[int] = []

    def full() -> None:
        tries.append(1)
        raise OperationalError("no space left on device") from DiskFull()

    def lost() -> None:
        tries.append(1)
        raise OperationalError("server closed the connection unexpectedly")

    with pytest.raises(OperationalError):
        retry_until_available(full)
    with pytest.raises(OperationalError), transaction.atomic():
        retry_until_available(lost)
    assert len(tries) == 2
