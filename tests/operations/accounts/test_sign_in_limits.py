"""Password guessing: from one address, from many, and from the address of the account's owner."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import NoReverseMatch, reverse

from operations.accounts.sign_in import LOGIN_VIEWS, OWN_PASSWORD_VIEWS

pytestmark = pytest.mark.django_db
SIGN_IN = "/account/sign-in/"


@pytest.fixture(autouse=True)
def few_attempts(settings: Any) -> None:
    settings.RATES = settings.RATES | {"login": "1000/h", "account": "3/h"}


def sign_in(browser: Client, address: str, password: str = "wrong", name: str = "alice") -> HttpResponse:
    form = {"username": name, "password": password}
    return browser.post(SIGN_IN, form, REMOTE_ADDR=address)


def test_an_address_has_so_many_attempts_whatever_it_claims_to_be(settings: Any) -> None:
    settings.RATES = settings.RATES | {"login": "3/h", "account": "1000/h"}
    answers = [
        Client().post(
            SIGN_IN,
            {"username": f"user {n}", "password": "wrong"},
            REMOTE_ADDR="203.0.113.9",
            headers={"X-Forwarded-For": f"198.51.100.{n}"},
        )
        for n in range(5)
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert 1 <= int(answers[-1]["Retry-After"]) <= 3600


def test_many_addresses_guess_no_more_than_one(alice: User) -> None:
    answers = [sign_in(Client(), f"203.0.113.{n}").status_code for n in range(5)]
    assert answers == [200, 200, 200, 429, 429]
    assert sign_in(Client(), "203.0.113.99", "correct horse").status_code == 429, "even with the right one"


def test_the_right_password_is_not_counted(alice: User) -> None:
    answers = {sign_in(Client(), "203.0.113.1", "correct horse").status_code for _ in range(8)}
    assert answers == {302}


def test_a_stranger_cannot_shut_out_who_has_signed_in_before(alice: User, settings: Any) -> None:
    """Neither by the account's count, nor by the lock on the address they share."""
    settings.AXES_FAILURE_LIMIT = 3
    hers = Client()
    assert sign_in(hers, "203.0.113.1", "correct horse").status_code == 302
    hers.post("/account/sign-out/")
    for _ in range(6):
        last = sign_in(Client(), "203.0.113.1")
    assert last.status_code == 429
    assert sign_in(hers, "203.0.113.1", "correct horse").status_code == 302


def test_a_known_browser_has_few_guesses_too_and_none_for_others(alice: User, bob: User) -> None:
    hers = Client()
    sign_in(hers, "203.0.113.1", "correct horse")
    hers.post("/account/sign-out/")
    answers = [sign_in(hers, "203.0.113.1").status_code for _ in range(5)]
    assert answers == [200, 200, 200, 429, 429]
    others = [sign_in(hers, f"203.0.113.{n}", name="bob").status_code for n in range(5)]
    assert others == [200, 200, 200, 429, 429]


def test_who_is_signed_in_becomes_known_to_no_other_account(alice: User, bob: User) -> None:
    hers = Client()
    sign_in(hers, "203.0.113.1", "correct horse")
    assert sign_in(hers, "203.0.113.1", name="bob").status_code == 302, "she is signed in already"
    assert unsigned(hers.cookies["known_browser"].value).endswith(" alice")


def unsigned(value: str) -> str:
    return value.rsplit(":", 2)[0]


def test_a_cookie_that_was_made_up_makes_nobody_known(alice: User) -> None:
    for number in range(5):
        forger = Client()
        forger.cookies["known_browser"] = f"name{number} alice:made:up"
        last = sign_in(forger, f"203.0.113.{number}")
    assert last.status_code == 429


def test_every_spelling_that_signs_in_to_an_account_is_counted_as_one(db: None) -> None:
    """The form normalises names to NFKC; F2: full-width letters had a counter of their own each."""
    User.objects.create_user("dave", password="correct horse")
    spellings = ["dave", "\uff44ave", "d\uff41ve", " da\uff56e", "dav\uff45\u3000"]
    answers = [sign_in(Client(), f"203.0.113.{n}", name=name) for n, name in enumerate(spellings)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/account/password/", {"old_password": "guess", "new_password1": "x", "new_password2": "x"}),
        ("/account/confirm/", {"password": "guess"}),
        ("/admin/password_change/", {"old_password": "guess", "new_password1": "x", "new_password2": "x"}),
    ],
)
def test_wrong_passwords_of_who_is_signed_in_are_counted_with_those_at_sign_in(
    alice: User, path: str, form: dict[str, str]
) -> None:
    """F9: a stolen session could try any number of old passwords."""
    alice.is_staff = True
    alice.save()
    browser = Client()
    browser.force_login(alice)
    answers = [browser.post(path, form, REMOTE_ADDR="203.0.113.1").status_code for _ in range(4)]
    assert answers[:3] != [429] * 3 and answers[3] == 429
    assert sign_in(Client(), "203.0.113.9").status_code == 429, "one counter for all of them"


def test_right_passwords_of_who_is_signed_in_are_not_counted(alice: User) -> None:
    browser = Client()
    browser.force_login(alice)
    answers = {browser.post("/account/confirm/", {"password": "correct horse"}).status_code for _ in range(6)}
    assert answers == {302}


def test_a_signed_in_user_guesses_others_passwords_no_better_at_the_admin(alice: User, bob: User) -> None:
    browser = Client()
    browser.force_login(bob)
    form = {"username": "alice", "password": "wrong"}
    answers = [browser.post("/admin/login/", form, REMOTE_ADDR="203.0.113.1").status_code for _ in range(4)]
    assert answers[3] == 429


def test_every_view_that_checks_a_password_is_counted() -> None:
    """Views of the URL map with a name of Django or allauth that checks one, and our own."""
    checking = {
        *("login", "account_login", "account_reauthenticate", "account_change_password"),
        *("account_set_password", "admin:login", "admin:password_change", "password", "first-password"),
    }
    assert {name for name in checking if is_mapped(name)} == LOGIN_VIEWS | OWN_PASSWORD_VIEWS


def is_mapped(name: str) -> bool:
    try:
        return bool(reverse(name))
    except NoReverseMatch:
        return False
