"""Single sign-on against an OpenID Connect provider on the loopback address, over real HTTP."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from tests.browser.site import ROOT
from tests.operations.accounts.test_sign_in_second_factor import with_factor
from tests.operations.accounts.test_sign_in_sessions import is_in, signed_in
from tests.scripted_server import POLL_SECONDS

LOGIN = "/account/single-sign-on/oidc/login/"
SECRET = "the client's secret"


class Provider:
    """Issues codes to whoever asks, for ``subject``; checks the secret and the PKCE verifier."""

    def __init__(self) -> None:
        self.subject, self.name = "sub-1", "dora"
        self.challenges: dict[str, str] = {}
        self.key = self.published = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.sends_id_token = True
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *arguments: object) -> None:
                return None

            def do_GET(self) -> None:
                provider.get(self)

            def do_POST(self) -> None:
                provider.post(self)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=[POLL_SECONDS], daemon=True).start()

    def get(self, request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/.well-known/openid-configuration":
            self.answer(request, {
                "issuer": self.url, "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token", "userinfo_endpoint": f"{self.url}/userinfo",
                "jwks_uri": f"{self.url}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            })  # fmt: skip
        elif parts.path == "/authorize":
            code = f"code-{len(self.challenges)}"
            self.challenges[code] = asked["code_challenge"]
            request.send_response(302)
            back = urlencode({"code": code, "state": asked["state"]})
            request.send_header("Location", f"{asked['redirect_uri']}?{back}")
            request.end_headers()
        elif parts.path == "/keys":
            public = jwt.algorithms.RSAAlgorithm.to_jwk(self.published.public_key(), as_dict=True)
            self.answer(request, {"keys": [public | {"kid": "one", "use": "sig", "alg": "RS256"}]})
        else:
            assert request.headers["Authorization"] == "Bearer granted"
            self.answer(request, {"sub": self.subject, "preferred_username": self.name})

    def post(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"])).decode()
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if sent.get("client_secret") != SECRET or self.challenges.pop(sent["code"], "") != challenge:
            self.answer(request, {"error": "invalid_grant"}, 400)
            return
        now = int(time.time())
        claims = {"iss": self.url, "aud": "pincite", "sub": self.subject, "iat": now, "exp": now + 60}
        token = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "one"})
        signed = {"id_token": token} if self.sends_id_token else {}
        self.answer(request, {"access_token": "granted", "token_type": "Bearer", **signed})

    def answer(self, request: BaseHTTPRequestHandler, value: object, status: int = 200) -> None:
        body = json.dumps(value).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    cache.clear()
    provider = Provider()
    settings.OIDC_URL, settings.OIDC_NAME = provider.url, "Example Login"
    app = {"provider_id": "oidc", "name": "Example Login", "client_id": "pincite", "secret": SECRET}
    app["settings"] = {"server_url": provider.url}  # type: ignore[assignment]
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}}
    yield provider
    provider.server.shutdown()
    provider.server.server_close()


def through(page: Client, provider: Provider, **form: str) -> Any:
    """Sign in: from the button on our page to the provider and back."""
    import httpx

    sent = page.post(LOGIN, form)
    assert sent.headers["Location"].startswith(f"{provider.url}/authorize?")
    back = httpx.get(sent.headers["Location"], trust_env=False).headers["Location"]
    return page.get(back.removeprefix("http://testserver"))


def test_who_is_unknown_here_gets_no_account_by_it(db: None, provider: Provider) -> None:
    page = Client()
    through(page, provider)
    assert not is_in(page) and not User.objects.exists()


def test_an_account_is_made_where_that_is_allowed(db: None, provider: Provider, settings: Any) -> None:
    settings.OIDC_SIGN_UP = True
    page, again = Client(), Client()
    through(page, provider)
    assert is_in(page) and User.objects.get().username == "dora"
    assert not User.objects.get().has_usable_password()
    through(again, provider)
    assert is_in(again) and User.objects.count() == 1


def test_ones_account_is_connected_and_then_signs_in(alice: User, provider: Provider) -> None:
    page = signed_in()
    shown = page.get("/account/connections/").content.decode()
    assert "Example Login" in shown
    through(page, provider, process="connect")
    assert SocialAccount.objects.get().user == alice
    other = Client()
    assert "Sign in with Example Login" in other.get("/account/sign-in/").content.decode()
    through(other, provider)
    assert is_in(other)


def test_a_name_that_is_taken_signs_nobody_in_as_its_owner(
    alice: User, provider: Provider, settings: Any
) -> None:
    settings.OIDC_SIGN_UP = True
    provider.name = "alice"
    page = Client()
    through(page, provider)
    assert not SocialAccount.objects.filter(user=alice).exists()
    assert page.session.get("_auth_user_id") != str(alice.pk)


@pytest.mark.usefixtures("one_moment")
def test_a_second_factor_is_asked_for_after_it_too(alice: User, provider: Provider, settings: Any) -> None:
    settings.SECOND_FACTOR = "optional"
    page = signed_in()
    through(page, provider, process="connect")
    with_factor(page)
    other = Client()
    answer = through(other, provider)
    assert answer.headers["Location"] == "/account/second-factor/authenticate/" and not is_in(other)


def test_an_answer_that_nobody_asked_for_signs_nobody_in(alice: User, provider: Provider) -> None:
    page = signed_in()
    through(page, provider, process="connect")
    stranger = Client()
    provider.challenges["stolen"] = "x"
    stranger.get(f"{LOGIN}callback/?code=stolen&state=guessed")
    assert not is_in(stranger)


def test_an_identity_without_a_valid_signature_signs_nobody_in(alice: User, provider: Provider) -> None:
    """ASVS 6.8.2."""
    through(signed_in(), provider, process="connect")
    provider.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    other = Client()
    through(other, provider)
    assert not is_in(other)
    provider.key, provider.sends_id_token = provider.published, False
    through(other, provider)
    assert not is_in(other)
    provider.sends_id_token = True
    through(other, provider)
    assert is_in(other)


def test_it_is_off_unless_a_provider_is_named(alice: User) -> None:
    page = signed_in()
    for path in (LOGIN, f"{LOGIN}callback/", "/account/connections/", "/account/connections/signup/"):
        assert page.get(path).status_code == 404, path
    assert "single-sign-on" not in Client().get("/account/sign-in/").content.decode()


def test_the_sign_in_page_may_send_its_form_to_the_provider() -> None:
    asked = (
        "from config import settings; print(settings.CONTENT_SECURITY_POLICY['DIRECTIVES']['form-action'])"
    )
    found = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True,
        env={"PINCITE_OIDC_URL": "https://login.example.org/realms/one", "PINCITE_SECRET_KEY": "x"},
    )  # fmt: skip
    assert found.stdout.strip() == "[\"'self'\", 'https://login.example.org']"
