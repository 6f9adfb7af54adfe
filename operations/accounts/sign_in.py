"""Sign-in by password, second factor or single sign-on; limits on attempts; timeouts of sessions.

Three limits apply before a password is checked, at sign-in and wherever a user who is signed in enters
theirs: attempts per address; wrong passwords per account from all
unknown browsers together, so that many addresses do not help an attacker; and the lock-out of ``django-axes``
per account and address. The address is that of the connection: ``X-Forwarded-For`` is not read here. Device
cookies keep an attacker from locking out the owner of an account.
"""

from __future__ import annotations

import math
import secrets
import time
import unicodedata
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from allauth.usersessions.models import UserSession
from cryptography.fernet import InvalidToken
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import REDIRECT_FIELD_NAME, SESSION_KEY, logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.auth.views import LoginView
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied, ValidationError
from django.dispatch import receiver
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext_lazy as _

from documents.api.common.callers import give_back, take
from documents.models import EventKind, TemporaryPassword
from documents.models.security import address_of, record
from documents.tokens import cipher

BEGUN, SEEN = "begun_at", "seen_at"  # session keys; Unix time in seconds
SEEN_EVERY = 60  # seconds between two writes of the last use
UNKNOWN_ADDRESS = "0.0.0.0"
ENDED = _("You were signed out because you were inactive for some time.")
TOO_OLD = _("You were signed out because this session reached its time limit. Sign in again.")


def session_limits(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: end sessions that are idle or too old; record their last use once a minute."""

    def answered(request: HttpRequest) -> HttpResponseBase:
        if request.session.session_key and SESSION_KEY in request.session:
            check(request)
        return get_response(request)

    return answered


def check(request: HttpRequest) -> None:
    now, session = int(time.time()), request.session
    seen, begun = session.get(SEEN, now), session.get(BEGUN, now)
    is_idle = now - seen > settings.SESSION_IDLE_SECONDS
    if is_idle or now - begun > settings.SESSION_COOKIE_AGE:
        logout(request)
        messages.info(request, ENDED if is_idle else TOO_OLD)
    elif SEEN not in session or now - seen >= SEEN_EVERY:
        session[SEEN] = now
        session.setdefault(BEGUN, now)
        note_use(request)


def note_use(request: HttpRequest) -> None:
    """Store the session's last use, IP address and browser."""
    used = {
        "last_seen_at": timezone.now(),
        "ip": address_of(request) or UNKNOWN_ADDRESS,
        "user_agent": request.headers.get("User-Agent", "")[:200],
        "user_id": request.session[SESSION_KEY],
    }
    UserSession.objects.update_or_create(session_key=request.session.session_key, defaults=used)


@receiver(user_logged_in)
def begin_session(sender: Any, request: HttpRequest, user: User, **more: Any) -> None:
    request.session[BEGUN] = request.session[SEEN] = int(time.time())
    if not request.session.session_key:
        request.session.save()
    note_use(request)


@receiver(user_logged_out)
def end_session(sender: Any, request: HttpRequest, **more: Any) -> None:
    UserSession.objects.filter(session_key=request.session.session_key).delete()


def sessions_of(user: User) -> list[UserSession]:
    """Return the user's open sessions, most recently used first."""
    open_keys = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    return list(UserSession.objects.filter(user=user, session_key__in=open_keys).order_by("-last_seen_at"))


def end_one(user: User, pk: int) -> bool:
    """End one session of the user. Return False when the id is unknown."""
    found = UserSession.objects.filter(user=user, pk=pk).first()
    if found is None:
        return False
    found.end()
    record(EventKind.SESSIONS_ENDED, "one session", user=user)
    return True


def end_all(user: User) -> None:
    """End every session of the user, including sessions without a UserSession row."""
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()
    UserSession.objects.filter(user=user).delete()
    record(EventKind.SESSIONS_ENDED, "all sessions", user=user)


MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"
OWN_PASSWORD, OWN_FACTOR = "needs_own_password", "needs_second_factor"  # session keys
WANTED = "wanted_page"  # session key: the page to open once that is done
FIRST: dict[str, tuple[str, Any]] = {
    OWN_PASSWORD: ("first-password", _("Choose your own password first.")),
    OWN_FACTOR: ("mfa_index", _("Set up a second factor first.")),
}
ALWAYS = ("login", "logout", "account_", "icons", "favicon", "healthz", "readyz", "api-nothing")


class SignIn(LoginView):
    """Django's sign-in page, followed by allauth's second factor where that is enabled."""

    redirect_authenticated_user = True
    extra_context = {
        "has_passkeys": lambda: settings.SECOND_FACTOR != "off",
        "single_sign_on": lambda: settings.OIDC_NAME if settings.OIDC_URL else "",
    }

    def form_valid(self, form: AuthenticationForm) -> Any:
        if settings.SECOND_FACTOR == "off":
            return super().form_valid(form)
        login = Login(user=form.get_user(), redirect_url=self.get_success_url())
        credentials = {"username": form.cleaned_data["username"]}
        return perform_password_login(self.request, credentials, login)


_admins_own_page = admin.site.login


@login_not_required
def admin_sign_in(request: HttpRequest, extra_context: Any = None) -> HttpResponse:
    """Show the admin's sign-in page, or redirect to ours, which asks for second factors."""
    if settings.SECOND_FACTOR == "off":
        return _admins_own_page(request, extra_context)
    if request.user.is_authenticated:
        raise PermissionDenied  # signed in, but not as staff
    wanted = request.GET.get(REDIRECT_FIELD_NAME, reverse("admin:index"))
    return redirect(f"{reverse('login')}?{urlencode({REDIRECT_FIELD_NAME: wanted}, safe='/')}")


class Accounts(DefaultAccountAdapter):
    """allauth's account adapter: no sign-up; the client address is that of the connection."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        return address_of(request) or UNKNOWN_ADDRESS

    def get_login_stages(self) -> list[str]:
        return [] if settings.SECOND_FACTOR == "off" else super().get_login_stages()

    def login(self, request: HttpRequest, user: Any) -> None:
        if not hasattr(user, "backend"):
            user.backend = MODEL_BACKEND
        super().login(request, user)


class SingleSignOn(DefaultSocialAccountAdapter):
    """allauth's adapter for single sign-on: new accounts only with PINCITE_OIDC_SIGN_UP."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return bool(settings.OIDC_SIGN_UP)


class SignedIdToken(OpenIDConnectOAuth2Adapter):
    """Require an ID token and verify its signature, even when the provider sent it directly."""

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        if not kwargs["response"].get("id_token"):
            raise OAuth2Error("The provider sent no ID token.")
        return super().complete_login(request, app, token, **kwargs)

    def _decode_id_token(self, app: Any, id_token: str) -> Any:
        self.did_fetch_access_token = False  # else allauth leaves the signature unchecked
        return super()._decode_id_token(app, id_token)


@login_not_required
def single_sign_on_callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Complete the sign-in: the provider redirects here."""
    try:
        answer: HttpResponse = OAuth2CallbackView.adapter_view(SignedIdToken(request, provider_id))(request)
    except SocialApp.DoesNotExist:
        raise Http404 from None
    return answer


SEED_PURPOSE = "config.sign_in.second_factor"
UNREADABLE = _(
    "The server's secret key has changed, and your second factor cannot be checked. Ask an administrator."
)


class SecondFactor(DefaultMFAAdapter):
    """allauth's adapter for second factors: encrypts their secrets with a key derived from SECRET_KEY."""

    def get_totp_issuer(self) -> str:
        return "Pincite"

    def _get_site_name(self) -> str:
        return "Pincite"

    def encrypt(self, text: str) -> str:
        return cipher(SEED_PURPOSE).encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return cipher(SEED_PURPOSE).decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            raise ValidationError(UNREADABLE) from None


@receiver(user_logged_in)
def mark_missing_credentials(sender: Any, request: HttpRequest, user: User, **more: Any) -> None:
    """Mark the session if the user must first set a password or a second factor."""
    if TemporaryPassword.objects.filter(user=user).exists():
        request.session[OWN_PASSWORD] = True
    if settings.SECOND_FACTOR == "required" and not Authenticator.objects.filter(user=user).exists():
        request.session[OWN_FACTOR] = True


class Gate(MiddlewareMixin):
    """Middleware: 404 for disabled features; redirect users who must set a password or second factor."""

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        name = request.resolver_match.url_name or "" if request.resolver_match else ""
        if name.startswith("mfa_") and settings.SECOND_FACTOR == "off":
            raise Http404
        if name.startswith(("openid_connect_", "socialaccount_")) and not settings.OIDC_URL:
            raise Http404
        if not request.session.session_key or SESSION_KEY not in request.session:
            return None
        if OWN_FACTOR in request.session and Authenticator.objects.filter(user=request.user).exists():
            del request.session[OWN_FACTOR]
        for missing, (page, message) in FIRST.items():
            if missing in request.session:
                own = name == page or name.startswith(("mfa_",) if missing == OWN_FACTOR else ("password",))
                return None if own or name.startswith(ALWAYS) else _sent_to(request, page, message)
        return None


class SignInRequired(LoginRequiredMiddleware):
    """Middleware: redirect visitors to the sign-in page, except from views that are ``login_not_required``.

    Those views are served without reading the session. Scripts of a page are told that the session has
    ended: they cannot show the sign-in page.
    """

    def process_view(self, request: HttpRequest, view: Any, *arguments: Any) -> HttpResponseBase | None:
        if not getattr(view, "login_required", True):
            return None
        refused: HttpResponseBase | None = super().process_view(request, view, *arguments)
        is_page = "HX-Request" not in request.headers
        is_page = is_page and request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
        if refused is None or is_page:
            return refused
        return _said(_("You are signed out. Sign in in another tab, then try again."))


def _said(message: Any) -> HttpResponse:
    return HttpResponse(message, status=403, content_type="text/plain; charset=utf-8")


def _sent_to(request: HttpRequest, page: str, message: Any) -> HttpResponse:
    if request.path.startswith("/api/"):
        return JsonResponse({"code": "sign_in_incomplete", "message": str(message)}, status=403)
    if "HX-Request" in request.headers:
        return _said(message)
    if request.method == "GET":
        request.session[WANTED] = request.get_full_path()
    return redirect(page)


# --- Device cookies: a signed cookie marks browsers that have signed in to an account before ---
#
# Unknown browsers share one counter per account, whatever their addresses; a browser with a device cookie has
# its own counter (OWASP: "Slow Down Online Guessing Attacks with Device Cookies").

COOKIE = f"{settings.COOKIE_PREFIX}known_browser"
SALT = "config.known_browsers"  # never change: it signs cookies that browsers keep
SECONDS = 365 * 24 * 3600


def canonical(name: str) -> str:
    """Return the form of a username that counters use: all spellings that sign in to one account have one.

    The sign-in form strips the name and normalises it to NFKC before the account is looked up.
    """
    return unicodedata.normalize("NFKC", name.strip()).strip().casefold()


def account_of(request: HttpRequest) -> str:
    """Return the canonical name of the account whose password a request is checked against."""
    match = request.resolver_match
    if match is not None and match.view_name in OWN_PASSWORD_VIEWS:
        return canonical(request.user.get_username())
    return canonical(request.POST.get("username", ""))


def username_for_axes(request: HttpRequest, credentials: dict[str, str] | None = None) -> str:
    """AXES_USERNAME_CALLABLE."""
    return canonical((credentials or {}).get("username") or request.POST.get("username", ""))


def counted_as(request: HttpRequest) -> str:
    """Return the key of the counter: of this browser if it has a device cookie, else of the account."""
    return known(request) or f"account {account_of(request)}"


def known(request: HttpRequest) -> str:
    """Return this browser's id, or '' without a device cookie for the account in the form."""
    value = request.get_signed_cookie(COOKIE, default="", salt=SALT, max_age=SECONDS)
    name, _, account = (value or "").partition(" ")
    return f"browser {name}" if name and account == account_of(request) else ""


def is_known(request: HttpRequest, credentials: dict[str, str] | None = None) -> bool:
    """AXES_WHITELIST_CALLABLE: a known browser is not locked out by others behind its address."""
    return bool(known(request))


def remember(request: HttpRequest, response: HttpResponse) -> None:
    """Set the device cookie of a browser that has signed in to the account."""
    name = known(request).removeprefix("browser ") or secrets.token_urlsafe(12)
    response.set_signed_cookie(
        COOKIE,
        f"{name} {account_of(request)}",
        salt=SALT,
        max_age=SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def client_address(request: HttpRequest) -> str:
    """Return the connection's IP address; uvicorn applies X-Forwarded-For of trusted proxies."""
    return str(request.META.get("REMOTE_ADDR", ""))


def too_many_attempts(request: HttpRequest, *arguments: object, **options: object) -> HttpResponse:
    """AXES_LOCKOUT_CALLABLE: answer 429 for the duration of the lock-out."""
    return refusal(request, int(settings.AXES_COOLOFF_TIME.total_seconds()))


def refusal(request: HttpRequest, seconds: int) -> HttpResponse:
    """Return a page with status 429 and Retry-After."""
    minutes = math.ceil(seconds / 60)
    page = {"message": _("Too many attempts to sign in"), "minutes": minutes}
    response = render(request, "errors/too_many_attempts.html", page, status=429)
    response["Retry-After"] = str(seconds)
    return response


LOGIN_VIEWS = {"login", "account_login", "admin:login"}
OWN_PASSWORD_VIEWS = {"password", "first-password", "account_reauthenticate", "admin:password_change"}
"""Views that check the password of the user who is signed in, and redirect when it was right."""


def checks_password(request: HttpRequest) -> bool:
    match = request.resolver_match
    if request.method != "POST" or match is None:
        return False
    if match.view_name in OWN_PASSWORD_VIEWS:
        return request.user.is_authenticated
    return match.view_name in LOGIN_VIEWS


class PasswordRate(MiddlewareMixin):
    """Middleware: limit wrong passwords, by one counter for all views that check a password."""

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        if not checks_password(request):
            return None
        counter = request.password_counter = counted_as(request)  # type: ignore[attr-defined]
        wait = take("login", f"address {request.META.get('REMOTE_ADDR', '')}")
        wait = wait or take("account", counter)
        return refusal(request, wait) if wait else None

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        counter = getattr(request, "password_counter", None)
        if counter is None or request.resolver_match is None:
            return response
        if request.resolver_match.view_name in OWN_PASSWORD_VIEWS:
            if response.status_code == 302:
                give_back("account", counter)
        elif canonical(request.user.get_username()) == account_of(request) != "":
            give_back("account", counter)
            remember(request, response)
        return response
