"""A new password ends sessions and API tokens; a temporary one is replaced at first use."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from documents.models import ApiToken, TemporaryPassword
from operations.management.commands.runapp import first_user
from tests.operations.accounts.test_sign_in_sessions import is_in, signed_in

NEW = "a longer sentence 41"
FORM = {"old_password": "correct horse", "new_password1": NEW, "new_password2": NEW}


@pytest.fixture
def key(alice: User) -> str:
    return ApiToken.objects.issue(alice, "script", ["read"])[1]


def works(key: str) -> bool:
    return Client().get("/api/documents/", headers={"Authorization": f"Bearer {key}"}).status_code == 200


def test_a_new_password_ends_tokens_and_other_sessions(alice: User, key: str) -> None:
    """S10."""
    here, there = signed_in(), signed_in()
    assert works(key)
    assert here.post("/account/password/", FORM | {"offered": "on", "end_tokens": "on"}).status_code == 302
    assert not works(key) and is_in(here) and not is_in(there)


def test_tokens_stay_when_that_is_chosen(alice: User, key: str) -> None:
    signed_in().post("/account/password/", FORM | {"offered": "True"})
    assert works(key)


def test_a_form_without_the_choice_ends_them(alice: User, key: str) -> None:
    signed_in().post("/account/password/", FORM)
    assert not works(key)


def test_the_box_is_ticked_at_first(alice: User) -> None:
    shown = signed_in().get("/account/").content.decode()
    box = shown[shown.index('name="end_tokens"') :]
    assert "checked" in box[: box.index(">")]


def test_a_password_that_an_administrator_or_the_command_line_sets_ends_tokens_too(
    alice: User, key: str
) -> None:
    root = User.objects.create_superuser("root", password="a root sentence 7")
    page = Client()
    page.force_login(root)
    form = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    assert page.post(f"/admin/auth/user/{alice.pk}/password/", form).status_code == 302
    assert not works(key)
    assert TemporaryPassword.objects.filter(user=alice).exists()


def test_signing_in_with_an_upgraded_hash_ends_nothing(alice: User, key: str) -> None:
    """Django hashes the password anew when its own settings have changed: that is no new password."""
    hashed = alice.password.replace("$1000000$", "$1000$")
    User.objects.filter(pk=alice.pk).update(password=hashed)
    alice.refresh_from_db()
    alice.set_password("correct horse")
    alice._password = None
    alice.save(update_fields=["password"])
    signed_in()
    assert works(key)


def test_the_first_users_password_is_replaced_at_first_use(db: None) -> None:
    first = first_user()
    page = signed_in(first.user.username, first.password)
    for path in ("/", "/account/", "/search/", "/admin/"):
        assert page.get(path).headers["Location"] == "/account/first-password/", path
    assert page.get("/api/documents/").json()["code"] == "sign_in_incomplete"
    assert "Choose your password" in page.get("/account/first-password/").content.decode()
    same = {"new_password1": first.password, "new_password2": first.password}
    assert page.post("/account/first-password/", same).status_code == 422
    own = {"new_password1": NEW, "new_password2": NEW}
    assert page.get("/notes/?q=terms").status_code == 302
    assert page.post("/account/first-password/", own).headers["Location"] == "/notes/?q=terms"
    assert is_in(page)
    assert is_in(signed_in(first.user.username, NEW))
    assert not TemporaryPassword.objects.exists()


def test_a_user_whom_an_administrator_made_chooses_their_own_password(db: None) -> None:
    page = Client()
    page.force_login(User.objects.create_superuser("root"))
    form = {"username": "dora", "password1": NEW, "password2": NEW, "usable_password": "true"}
    assert page.post("/admin/auth/user/add/", form).status_code == 302
    assert not is_in(signed_in("dora", NEW))


def test_the_page_of_the_first_password_is_for_those_who_need_it(alice: User) -> None:
    assert signed_in().get("/account/first-password/").headers["Location"] == "/account/"
    assert Client().get("/account/first-password/").headers["Location"].startswith("/account/sign-in/")


def test_who_makes_a_user_by_command_may_go_on(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", NEW)
    call_command("createsuperuser", "--noinput", "--username=eve", "--email=e@example.com", verbosity=0)
    assert is_in(signed_in("eve", NEW))
