"""Sessions are listed, ended one by one or all at once, and expire."""

from __future__ import annotations

import time
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.http import HttpResponse
from django.test import Client

from operations.accounts.sign_in import BEGUN, SEEN

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def signed_in(name: str = "alice", password: str = "correct horse") -> Client:
    page = Client(headers={"User-Agent": FIREFOX})
    answer = page.post("/account/sign-in/", {"username": name, "password": password})
    assert answer.status_code == 302, answer.status_code
    return page


def is_in(page: Client) -> bool:
    return page.get("/").status_code == 200


def confirmed(page: Client, path: str, password: str = "correct horse") -> HttpResponse:
    """The answer to a POST that wants the password first."""
    asked = page.post(path)
    assert asked.headers["Location"].startswith("/account/confirm/")
    return page.post(asked.headers["Location"], {"password": password, "next": path})  # type: ignore[return-value]


def test_scripts_of_a_page_are_told_that_the_session_has_ended() -> None:
    """A fragment is not replaced by the sign-in page, nor a question lost."""
    for script in ({"HX-Request": "true"}, {"Sec-Fetch-Mode": "cors"}):
        answer = Client().post("/chat/ask/", {"question": "Why?"}, headers=script)
        assert (answer.status_code, answer["Content-Type"][:10]) == (403, "text/plain")
        assert answer.content.decode().startswith("You are signed out.")
    assert Client().get("/", headers={"Sec-Fetch-Mode": "navigate"}).status_code == 302


def test_ones_sessions_are_listed_and_ended_one_by_one(alice: User) -> None:
    here, there = signed_in(), signed_in()
    shown = here.get("/account/").content.decode()
    assert shown.count("Firefox on Linux") >= 2 and "this session" in shown
    other = UserSession.objects.exclude(session_key=here.session.session_key).get()
    assert confirmed(here, f"/account/sessions/{other.pk}/end/").status_code == 302
    assert is_in(here) and not is_in(there)


def test_sessions_are_ended_only_after_the_password_was_confirmed(alice: User) -> None:
    """ASVS 7.5.2."""
    here, there = signed_in(), signed_in()
    confirmed(here, "/account/sessions/end/", "guess")
    assert is_in(here) and is_in(there)


def test_signing_out_everywhere_ends_all_also_those_that_are_not_listed(alice: User, bob: User) -> None:
    here, there, old = signed_in(), signed_in(), signed_in()
    bobs = signed_in("bob", "battery staple")
    UserSession.objects.filter(session_key=old.session.session_key).delete()  # as if begun long ago
    assert confirmed(here, "/account/sessions/end/").status_code == 302
    assert not any(map(is_in, (here, there, old))) and is_in(bobs)
    assert Session.objects.filter(session_key=bobs.session.session_key).exists()


def test_nobody_ends_the_sessions_of_others(alice: User, bob: User) -> None:
    hers, his = signed_in(), signed_in("bob", "battery staple")
    found = UserSession.objects.get(session_key=hers.session.session_key)
    assert his.post(f"/account/sessions/{found.pk}/end/").status_code == 404
    assert is_in(hers)


@pytest.mark.parametrize(("since", "limit"), [(SEEN, "SESSION_IDLE_SECONDS"), (BEGUN, "SESSION_COOKIE_AGE")])
def test_a_session_ends_when_it_is_idle_or_old(since: str, limit: str, alice: User, settings: Any) -> None:
    setattr(settings, limit, 600)
    page = signed_in()
    for seconds, still_in in ((590, True), (610, False)):
        session = page.session
        session[since] = int(time.time()) - seconds
        session.save()
        assert is_in(page) == still_in
    assert "signed out because" in page.get("/account/sign-in/").content.decode()


def test_a_session_in_use_goes_on_and_its_use_is_written_once_a_minute(
    alice: User, django_assert_num_queries: Any
) -> None:
    page = signed_in()
    page.get("/account/")
    seen = UserSession.objects.get().last_seen_at
    page.get("/account/")
    assert UserSession.objects.get().last_seen_at == seen
    session = page.session
    session[SEEN] -= 120
    session.save()
    page.get("/account/")
    assert UserSession.objects.get().last_seen_at > seen


def test_signing_out_takes_the_session_off_the_list(alice: User) -> None:
    page = signed_in()
    assert UserSession.objects.count() == 1
    assert page.post("/account/sign-out/").headers["Clear-Site-Data"] == '"storage"', "drafts of notes"
    assert not UserSession.objects.exists()


def test_a_session_of_before_is_listed_once_it_is_used(alice: User) -> None:
    page = signed_in()
    UserSession.objects.all().delete()
    session = page.session
    del session[SEEN], session[BEGUN]
    session.save()
    assert is_in(page) and UserSession.objects.get().user == alice
