from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from documents.models import ApiToken


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def test_a_new_token_is_shown_once_and_works(browser: Client, alice: User) -> None:
    page = browser.post(reverse("token-new"), {"name": "report", "scope": ["read"], "days": "90"})
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
