"""Second factors: authenticator apps and recovery codes; off by default, required on every sign-in path."""

from __future__ import annotations

import base64
import hmac
import re
import struct
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client, TestCase

from documents.models import ApiToken, SecurityEvent
from tests.operations.accounts.test_sign_in_sessions import is_in, signed_in

pytestmark = pytest.mark.usefixtures("one_moment")


@pytest.fixture(autouse=True)
def switched_on(settings: Any) -> None:
    cache.clear()  # codes are used once, and wrong ones are counted
    settings.SECOND_FACTOR = "optional"


def code_of(secret: str) -> str:
    """RFC 6238: six digits of an HMAC-SHA1 over the number of half minutes since 1970."""
    counter = struct.pack(">Q", int(auth.time.time() // 30))  # by the clock it is checked by
    digest = hmac.digest(base64.b32decode(secret), counter, "sha1")
    start = digest[-1] & 15
    number = struct.unpack(">I", digest[start : start + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def with_factor(page: Client, password: str = "correct horse") -> str:
    """Sets up an app on the account's pages; its secret."""
    url = "/account/second-factor/totp/activate/"
    if (asked := page.get(url)).status_code == 302:
        assert "confirm" in asked.headers["Location"]
        page.post(asked.headers["Location"], {"password": password})
    shown = page.get(url).content.decode()
    found = re.search(r'id="authenticator_secret"\s+value="([A-Z2-7]+)"', shown)
    assert found, shown
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert page.post(url, {"code": code_of(found[1])}).status_code == 302
    return found[1]


def password_sent(name: str = "alice") -> Client:
    page = Client()
    answer = page.post("/account/sign-in/", {"username": name, "password": "correct horse"})
    assert answer.headers["Location"] == "/account/second-factor/authenticate/"
    return page


def test_a_password_alone_no_longer_signs_in(alice: User) -> None:
    secret = with_factor(signed_in())
    page = password_sent()
    asked = page.get("/account/second-factor/authenticate/").content.decode()
    assert not is_in(page) and "authenticator code" in asked
    assert page.post("/account/second-factor/authenticate/", {"code": "000000"}).status_code == 200
    assert not is_in(page)
    cache.clear()
    assert page.post("/account/second-factor/authenticate/", {"code": code_of(secret)}).status_code == 302
    assert is_in(page)


def test_a_code_works_once(alice: User) -> None:
    secret = with_factor(signed_in())
    cache.clear()
    first, second = password_sent(), password_sent()
    code = {"code": code_of(secret)}
    first.post("/account/second-factor/authenticate/", code)
    second.post("/account/second-factor/authenticate/", code)
    assert is_in(first) and not is_in(second)


def test_a_recovery_code_signs_in_once(alice: User) -> None:
    page = signed_in()
    with_factor(page)
    shown = page.get("/account/second-factor/recovery-codes/").content.decode()
    codes = re.findall(r"\b\d{8}\b", shown)
    assert len(codes) == 10
    for number, expected in ((0, True), (0, False), (1, True)):
        other = password_sent()
        other.post("/account/second-factor/authenticate/", {"code": codes[number]})
        assert is_in(other) == expected


def test_wrong_codes_are_bounded(alice: User) -> None:
    secret = with_factor(signed_in())
    cache.clear()
    page = password_sent()
    for _attempt in range(12):
        page.post("/account/second-factor/authenticate/", {"code": "000000"})
    page.post("/account/second-factor/authenticate/", {"code": code_of(secret)})
    assert not is_in(page)


def test_the_secret_is_not_readable_in_the_database(alice: User) -> None:
    secret = with_factor(signed_in())
    kept = Authenticator.objects.get(user=alice, type="totp").data["secret"]
    assert secret not in kept and kept.startswith("gAAAA")


def test_the_admin_has_no_other_door(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    with_factor(signed_in())
    page = Client()
    form = {"username": "alice", "password": "correct horse", "next": "/admin/"}
    answer = page.post("/admin/login/?next=/admin/", form)
    assert answer.headers["Location"] == "/account/sign-in/?next=/admin/"
    assert page.get("/admin/").status_code == 302


def test_who_must_have_a_factor_sets_one_up_first(alice: User, settings: Any) -> None:
    settings.SECOND_FACTOR = "required"
    page = signed_in()
    assert page.get("/").headers["Location"] == "/account/second-factor/"
    assert page.get("/api/documents/").status_code == 403
    assert page.get("/account/second-factor/").status_code == 200
    with_factor(page)
    assert is_in(page)


def test_changing_a_factor_asks_for_the_password_again(alice: User) -> None:
    page = signed_in()
    with_factor(page)
    session = page.session
    session["account_authentication_methods"] = []
    session.save()
    answer = page.post("/account/second-factor/totp/deactivate/")
    assert answer.status_code == 302 and "confirm" in answer.headers["Location"]
    assert Authenticator.objects.filter(type="totp").exists()


def test_it_is_off_unless_it_is_switched_on(alice: User, settings: Any) -> None:
    with_factor(signed_in())
    settings.SECOND_FACTOR = "off"
    page = signed_in()
    assert is_in(page)
    assert "Second factor" not in page.get("/account/").content.decode()
    for path in (
        "",
        "totp/activate/",
        "webauthn/add/",
        "webauthn/login/",
        "recovery-codes/",
        "authenticate/",
    ):
        assert page.get(f"/account/second-factor/{path}").status_code == 404, path
    assert "passkey" not in Client().get("/account/sign-in/").content.decode()


def test_tokens_are_made_in_a_session_and_need_no_factor(alice: User) -> None:
    _token, key = ApiToken.objects.issue(alice, "script", ["read"])
    with_factor(signed_in())
    assert Client().get("/api/documents/", headers={"Authorization": f"Bearer {key}"}).status_code == 200


def test_an_administrator_lets_in_who_has_lost_their_phone(alice: User) -> None:
    secret = with_factor(signed_in())
    staff = Client()
    staff.force_login(User.objects.create_superuser("root"))
    shown = staff.get("/admin/mfa/authenticator/").content.decode()
    assert "alice" in shown and secret not in shown
    for key in Authenticator.objects.filter(user=alice):
        page = staff.get(f"/admin/mfa/authenticator/{key.pk}/change/").content.decode()
        assert "secret" not in page and "seed" not in page
        staff.post(f"/admin/mfa/authenticator/{key.pk}/delete/", {"post": "yes"})
    assert is_in(signed_in())


def test_nobody_reaches_the_keys_of_others(alice: User, bob: User) -> None:
    key = Authenticator.objects.create(user=alice, type="webauthn", data={"name": "Hers"})
    his = signed_in("bob", "battery staple")
    for action in ("remove", "edit"):
        for answer in (
            his.get(f"/account/second-factor/webauthn/keys/{key.pk}/{action}/"),
            his.post(f"/account/second-factor/webauthn/keys/{key.pk}/{action}/", {"name": "His"}),
        ):
            assert answer.status_code in (302, 404) and "Hers" not in answer.content.decode()
    key.refresh_from_db()
    assert key.data["name"] == "Hers"


def test_what_happens_to_factors_is_in_the_log(alice: User) -> None:
    page = signed_in()
    with_factor(page)
    password_sent().post("/account/second-factor/authenticate/", {"code": "000000"})
    page.post("/account/second-factor/totp/deactivate/")
    kinds = set(SecurityEvent.objects.filter(user=alice).values_list("kind", flat=True))
    assert {"factor_added", "factor_failed", "factor_removed"} <= kinds
