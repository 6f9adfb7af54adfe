"""Passkeys, in Chromium with a virtual authenticator: added on the account's pages, then used to sign in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PASSWORD, WAIT_MS
from tests.browser.site import Site, running_site

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def guarded(
    site: Site,
    django_db_blocker,  # type: ignore[no-untyped-def]
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    """A site with second factors, for Grace. Passkeys are bound to a name, so it is called by one."""
    with django_db_blocker.unblock():
        User.objects.create_user("grace", password=PASSWORD)
        with running_site(tmp_path_factory.mktemp("guarded"), PINCITE_SECOND_FACTOR="optional") as running:
            yield Site(running.address.replace("127.0.0.1", "localhost"), running.var)


@pytest.fixture
def page(chromium: Browser, guarded: Site) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    devices = context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True}
    verifying = {"hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True}
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": options | verifying})
    yield page
    context.close()


def test_a_passkey_is_added_and_signs_in_without_a_password(page: Page, guarded: Site) -> None:
    page.goto(guarded.url("/account/sign-in/"))
    page.get_by_label("User name").fill("grace")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("heading", level=1, name="Library").wait_for()
    page.goto(guarded.url("/account/second-factor/webauthn/add/"))
    page.get_by_label("Password").fill(PASSWORD)  # asked for again
    page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Name").fill("Laptop")
    page.get_by_label("Passwordless").check()
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("recovery codes available")).to_be_visible()
    page.goto(guarded.url("/account/second-factor/webauthn/"))
    expect(page.get_by_role("cell", name="Laptop")).to_be_visible()
    page.goto(guarded.url("/account/"))
    page.get_by_role("button", name="Sign out everywhere").click()
    page.get_by_role("heading", level=1, name="Sign in").wait_for()
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("heading", level=1, name="Library").wait_for()


def test_a_password_alone_is_asked_for_the_key(page: Page, guarded: Site) -> None:
    """The key is another browser's: this one can only cancel."""
    page.goto(guarded.url("/account/sign-in/"))
    page.get_by_label("User name").fill("grace")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("button", name="Use a security key")).to_be_visible()
    page.goto(guarded.url("/"))
    page.get_by_role("heading", level=1, name="Sign in").wait_for()
