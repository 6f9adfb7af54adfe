from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from documents.models import ApiToken


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def test_a_new_token_is_shown_once_and_works_after_the_password_was_confirmed(
    browser: Client, alice: User
) -> None:
    form = {"name": "report", "scope": ["read"], "days": "90"}
    asked = browser.post(reverse("token-new"), form)
    assert asked.status_code == 302 and asked["Location"].startswith(reverse("account_reauthenticate"))
    assert browser.get(asked["Location"]).status_code == 200
    assert browser.post(asked["Location"], {"password": "guess"}).status_code == 200
    assert not ApiToken.objects.exists()
    page = browser.post(asked["Location"], {"password": "correct horse", "next": reverse("token-new")})
    key = re.search(r"pin_[\w-]+", page.content.decode())
    assert key
    assert key[0] not in browser.get(reverse("account")).content.decode()
    answer = Client().get("/api/documents/", headers={"Authorization": f"Bearer {key[0]}"})
    assert answer.status_code == 200


def test_a_token_without_a_name_or_a_right_is_not_made(browser: Client) -> None:
    for form in ({"name": "", "scope": ["read"]}, {"name": "x"}, {"name": "x", "scope": ["everything"]}):
        browser.post(reverse("token-new"), form)
    assert not ApiToken.objects.exists()


def test_nobody_revokes_the_tokens_of_others(client: Client, alice: User, bob: User) -> None:
    token, _key = ApiToken.objects.issue(alice, "mine", ["read"])
    client.force_login(bob)
    assert client.post(reverse("token-revoke", args=[token.pk])).status_code == 404


def test_the_password_changes_and_the_session_goes_on(browser: Client, alice: User) -> None:
    new = "a longer sentence 41"
    form = {"old_password": "correct horse", "new_password1": new, "new_password2": new}
    assert browser.post(reverse("password"), form).status_code == 302
    alice.refresh_from_db()
    assert alice.check_password(new)
    assert browser.get(reverse("account")).status_code == 200


def test_a_wrong_old_password_changes_nothing(browser: Client, alice: User) -> None:
    form = {"old_password": "guess", "new_password1": "a longer one 41", "new_password2": "a longer one 41"}
    assert browser.post(reverse("password"), form).status_code == 422


def test_a_password_is_not_made_of_words_that_anybody_would_try_here(settings: Any) -> None:
    settings.ALLOWED_HOSTS, settings.PASSWORD_WORDS = ["library.example.org"], ["Greenfield"]
    for refused in ("Pincite2026!", "greenfield-99", "Library.Example1", "pincitepincite"):
        with pytest.raises(ValidationError, match="name of this site"):
            validate_password(refused)
    for accepted in ("greenfield by the old mill", "83719402657193", "pin the cited words"):
        validate_password(accepted)


def test_over_https_no_other_host_can_set_our_cookies_or_send_our_forms() -> None:
    names = "s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.SESSION_COOKIE_SECURE, *s.CSRF_TRUSTED_ORIGINS"
    code = f"from config import settings as s; print({names})"
    for https, told in (
        ("1", "__Host-sessionid __Host-csrftoken True https://a.example https://*.b.example"),
        ("0", "sessionid csrftoken False"),
    ):
        environment = os.environ | {"PINCITE_HTTPS": https, "PINCITE_ALLOWED_HOSTS": "a.example,.b.example"}
        ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert ended.stdout.strip() == told
