"""Fixtures for tests of accounts."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest


@pytest.fixture
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the clock within one half minute, so that a code of a second factor stays valid."""
    now = time.time()
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.time", SimpleNamespace(time=lambda: now))
