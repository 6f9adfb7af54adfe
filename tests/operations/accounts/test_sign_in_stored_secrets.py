"""Secrets and cookies written by an older version remain readable."""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from cryptography.fernet import Fernet
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.core.signing import Signer

from chat.models.provider import ProviderConnection
from documents.tokens import WEBHOOK
from operations.accounts import sign_in
from operations.accounts.sign_in import SecondFactor


def test_the_seed_of_a_second_factor_that_an_older_version_stored_is_read() -> None:
    digest = hashlib.sha256(b"config.sign_in.second_factor" + settings.SECRET_KEY.encode()).digest()
    stored = Fernet(base64.urlsafe_b64encode(digest)).encrypt(b"JBSWY3DPEHPK3PXP").decode()
    assert SecondFactor().decrypt(stored) == "JBSWY3DPEHPK3PXP"


def test_the_cookie_of_a_known_browser_keeps_its_salt() -> None:
    assert sign_in.SALT == "config.known_browsers"


def code_of(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))


def test_a_replaced_secret_key_ends_nothing_while_it_is_named_and_secrets_move_to_the_new_one(
    alice: User, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new key made every second factor fail with a traceback, and forgot the providers' keys."""
    seed, webhook = "JBSWY3DPEHPK3PXP", uuid4()
    TOTP.activate(alice, seed)
    ProviderConnection.connect("openai", api_key="sk-kept")
    link, secret = Signer(salt="chat.share").sign("x"), WEBHOOK.of(webhook)
    before, settings.SECRET_KEY = settings.SECRET_KEY, "another" * 10
    with pytest.raises(ValidationError, match="secret key has changed"):
        TOTP(Authenticator.objects.get()).validate_code(code_of(seed))
    with pytest.raises(CommandError, match="2 of 2 stored secrets"):
        call_command("rotate")
    settings.SECRET_KEY_FALLBACKS = [before]
    assert Signer(salt="chat.share").unsign(link) == "x"
    assert WEBHOOK.of(webhook) != secret and WEBHOOK.all_of(webhook)[1] == secret
    call_command("rotate")
    assert "2 stored secrets are encrypted" in capsys.readouterr().out
    settings.SECRET_KEY_FALLBACKS = []
    assert TOTP(Authenticator.objects.get()).validate_code(code_of(seed))
    assert ProviderConnection.objects.get().api_key == "sk-kept"
