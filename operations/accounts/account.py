"""The account pages: passwords, sessions, API tokens, second factor."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from allauth.account.decorators import reauthentication_required
from allauth.account.views import account_inactive, reauthenticate
from allauth.mfa.models import Authenticator
from allauth.socialaccount.views import login_error
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash, views
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, URLResolver, include, path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from documents.models import ApiToken, EventKind, TemporaryPassword, TokenScope
from documents.models.security import acting_user, record
from documents.tokens import API, valid_tokens
from operations.accounts import people
from operations.accounts.sign_in import (
    OWN_PASSWORD,
    WANTED,
    SignIn,
    end_all,
    end_one,
    sessions_of,
    single_sign_on_callback,
)
from text.numbers import whole_number

LEAST_REMAINING = 8  # characters of a password besides guessable words


class KnownWords:
    """A password validator that refuses the site's, the host's and the organisation's names."""

    def validate(self, password: str, user: User | None = None) -> None:
        rest = password.casefold()
        for word in sorted(self.words(), key=len, reverse=True):
            rest = rest.replace(word, "")
        if len(rest) < min(LEAST_REMAINING, len(password)):
            raise ValidationError(self.get_help_text(), code="password_known_words")

    def words(self) -> set[str]:
        hosts = {label for host in settings.ALLOWED_HOSTS for label in host.casefold().split(".")}
        own = {word.casefold() for word in settings.PASSWORD_WORDS}
        return {word for word in {"pincite", "password"} | hosts | own if len(word) >= 4}

    def get_help_text(self) -> str:
        return _("Your password can’t be the name of this site or organisation with a few characters added.")


class AfterChange:
    """A password validator that accepts everything, for Django's call of ``password_changed``."""

    def validate(self, password: str, user: User | None = None) -> None:
        return None

    def get_help_text(self) -> str:
        return ""

    def password_changed(self, password: str, user: User | None = None) -> None:
        """Delete the API tokens, unless ``user.keeps_tokens``. Mark a password that someone else chose."""
        if user is None or user.pk is None:
            return
        if not getattr(user, "keeps_tokens", False):
            ApiToken.objects.filter(owner=user).delete()
        by = acting_user()
        if by is not None and by.pk != user.pk:
            TemporaryPassword.objects.get_or_create(user=user)
        else:
            TemporaryPassword.objects.filter(user=user).delete()
        record(EventKind.PASSWORD_CHANGED, user.get_username(), user=by or user)


class NewPassword(PasswordChangeForm):
    """The account page's password form. It ends API tokens unless the box is unticked."""

    end_tokens = forms.BooleanField(
        label=gettext_lazy("Also revoke my API tokens"),
        required=False,
        initial=True,
        help_text=gettext_lazy("Recommended."),
    )
    offered = forms.BooleanField(widget=forms.HiddenInput, required=False, initial=True)

    def save(self, commit: bool = True) -> Any:
        """Save the password. A request without the checkbox ends the tokens."""
        unticked = self.cleaned_data["offered"] and not self.cleaned_data["end_tokens"]
        self.user.keeps_tokens = unticked  # type: ignore[attr-defined]
        return super().save(commit)


class FirstPassword(SetPasswordForm):
    """The form that replaces a temporary password."""

    def clean_new_password1(self) -> str:
        password: str = self.cleaned_data["new_password1"]
        if self.user.check_password(password):
            raise ValidationError(gettext_lazy("Choose a password other than the one you were given."))
        return password


MOST_DAYS = 3650


@require_safe
def account(request: HttpRequest) -> HttpResponse:
    return shown(request)


def shown(request: HttpRequest, form: NewPassword | None = None, new_key: str = "") -> HttpResponse:
    """Render the account page. ``new_key`` is the key of a new token, which is shown only once."""
    form = form or NewPassword(request.user)
    form.fields["old_password"].widget.attrs.pop("autofocus", None)  # the page has other sections above it
    context = {
        "form": form,
        "tokens": ApiToken.objects.visible_to(request.user),
        "others": [token for token in valid_tokens(request.user) if token.kind is not API],
        "scopes": TokenScope.choices,
        "new_key": new_key,
        "sessions": sessions_of(request.user),
        "session_key": request.session.session_key,
        "second_factor": settings.SECOND_FACTOR != "off",
        "factors": Authenticator.objects.filter(user=request.user) if settings.SECOND_FACTOR != "off" else (),
        "single_sign_on": settings.OIDC_NAME if settings.OIDC_URL else "",
    }
    return render(request, "account/account.html", context, status=422 if form.errors else 200)


@require_POST
def password(request: HttpRequest) -> HttpResponse:
    form = NewPassword(request.user, request.POST)
    if not form.is_valid():
        return shown(request, form)
    update_session_auth_hash(request, form.save())
    request.session.pop(OWN_PASSWORD, None)
    kept = getattr(request.user, "keeps_tokens", False)
    ended = _(
        "Your password was changed. You were signed out everywhere else, and your API tokens were revoked."
    )
    messages.success(
        request, _("Your password was changed. You were signed out everywhere else.") if kept else ended
    )
    return redirect("account")


@require_http_methods(["GET", "HEAD", "POST"])
def first_password(request: HttpRequest) -> HttpResponse:
    """Ask for a new password in place of a temporary one."""
    if OWN_PASSWORD not in request.session:
        return redirect("account")
    form = FirstPassword(request.user, request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return render(
            request, "account/first_password.html", {"form": form}, status=422 if form.errors else 200
        )
    update_session_auth_hash(request, form.save())
    request.session.pop(OWN_PASSWORD, None)
    messages.success(request, _("Your password was saved."))
    return redirect(request.session.pop(WANTED, "library"))


@require_POST
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    if all(session.pk != pk for session in sessions_of(request.user)):
        raise Http404
    answer: HttpResponse = end_confirmed(request, pk)
    return answer


@reauthentication_required(app="account")  # type: ignore[untyped-decorator]
def end_confirmed(request: HttpRequest, pk: int) -> HttpResponse:
    end_one(request.user, pk)
    messages.success(request, _("That session was signed out."))
    return redirect("account")


@require_POST
@reauthentication_required(app="account")  # type: ignore[untyped-decorator]
def end_sessions(request: HttpRequest) -> HttpResponse:
    """End all sessions of the user, including this one."""
    end_all(request.user)
    logout(request)
    messages.success(request, _("You were signed out everywhere."))
    return redirect("login")


@require_POST
@reauthentication_required(app="account")  # type: ignore[untyped-decorator]
def token(request: HttpRequest) -> HttpResponse:
    """Create an API token with the ticked scopes and the chosen lifetime in days (0: no end)."""
    scopes = [scope for scope in request.POST.getlist("scope") if scope in TokenScope.values]
    name, days = request.POST.get("name", "").strip()[:80], request.POST.get("days", "")
    if not name or not scopes:
        messages.error(request, _("Give the token a name and at least one permission."))
        return redirect("account")
    lifetime = 0 if days == "0" else whole_number(days, MOST_DAYS, least=1) or MOST_DAYS
    ends = timezone.now() + timedelta(days=lifetime) if lifetime else None
    _token, key = ApiToken.objects.issue(request.user, name, scopes, ends)
    return shown(request, new_key=key)


@require_POST
def revoke(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(ApiToken.objects.visible_to(request.user), pk=pk).delete()
    messages.success(request, _("The token no longer works."))
    return redirect("account")


@method_decorator(login_not_required, name="dispatch")
class SignOut(views.LogoutView):
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Sign out, and have the browser forget drafts of notes."""
        answer: HttpResponse = super().dispatch(request, *args, **kwargs)
        answer.headers["Clear-Site-Data"] = '"storage"'
        return answer


urlpatterns: list[URLPattern | URLResolver] = [
    path("", account, name="account"),
    path("sign-in/", SignIn.as_view(), name="login"),
    path("sign-in/", SignIn.as_view(), name="account_login"),  # django-allauth's name
    path("sign-out/", SignOut.as_view(), name="logout"),
    path("sign-out/", SignOut.as_view(), name="account_logout"),
    path("confirm/", reauthenticate, name="account_reauthenticate"),
    path("closed/", account_inactive, name="account_inactive"),
    path("password/", password, name="password"),
    path("first-password/", first_password, name="first-password"),
    path("sessions/end/", end_sessions, name="sessions-end"),
    path("sessions/<int:pk>/end/", end_session, name="session-end"),
    path("second-factor/", include("allauth.mfa.urls")),
    path("single-sign-on/<slug:provider_id>/login/callback/", single_sign_on_callback),
    path("single-sign-on/", include("allauth.socialaccount.providers.openid_connect.urls")),
    path("connections/login/error/", login_not_required(login_error), name="socialaccount_login_error"),
    path("connections/", include("allauth.socialaccount.urls")),
    path("people/", people.people, name="people"),
    path("people/invite/", people.invite, name="people-invite"),
    path("people/<int:pk>/", people.change, name="people-change"),
    path("invitation/<uidb64>/<token>/", people.AcceptInvitation.as_view(), name="invitation"),
    path("tokens/", token, name="token-new"),
    path("tokens/<uuid:pk>/revoke/", revoke, name="token-revoke"),
]
