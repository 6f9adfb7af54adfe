"""Secrets and cookies written by an older version remain readable."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet
from django.conf import settings

from operations.accounts import sign_in
from operations.accounts.sign_in import SecondFactor


def test_the_seed_of_a_second_factor_that_an_older_version_stored_is_read() -> None:
    digest = hashlib.sha256(b"config.sign_in.second_factor" + settings.SECRET_KEY.encode()).digest()
    stored = Fernet(base64.urlsafe_b64encode(digest)).encrypt(b"JBSWY3DPEHPK3PXP").decode()
    assert SecondFactor().decrypt(stored) == "JBSWY3DPEHPK3PXP"


def test_the_cookie_of_a_known_browser_keeps_its_salt() -> None:
    assert sign_in.SALT == "config.known_browsers"
