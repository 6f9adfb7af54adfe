"""An account: sign in and out, the password, API tokens."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash, views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from documents.models import ApiToken, Scope

MOST_DAYS = 3650


@require_safe
@login_required
def account(request: HttpRequest) -> HttpResponse:
    return shown(request)


def shown(request: HttpRequest, form: PasswordChangeForm | None = None, new_key: str = "") -> HttpResponse:
    """The account's page; with the key of a token that was made just now, which is shown this once."""
    form = form or PasswordChangeForm(request.user)
    form.fields["old_password"].widget.attrs.pop("autofocus", None)  # it is not the page's first purpose
    context = {
        "form": form,
        "tokens": ApiToken.objects.visible_to(request.user),
        "scopes": Scope.choices,
        "new_key": new_key,
    }
    return render(request, "account/account.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
def password(request: HttpRequest) -> HttpResponse:
    form = PasswordChangeForm(request.user, request.POST)
    if not form.is_valid():
        return shown(request, form)
    update_session_auth_hash(request, form.save())
    messages.success(request, _("Your password was changed."))
    return redirect("account")


@require_POST
@login_required
def token(request: HttpRequest) -> HttpResponse:
    """Makes a token with the scopes that were ticked, for the days that were chosen."""
    scopes = [scope for scope in request.POST.getlist("scope") if scope in Scope.values]
    name, days = request.POST.get("name", "").strip()[:80], request.POST.get("days", "")
    if not name or not scopes:
        messages.error(request, _("Give the token a name and at least one right."))
        return redirect("account")
    ends = (
        timezone.now() + timedelta(days=min(int(days), MOST_DAYS))
        if days.isdecimal() and days != "0"
        else None
    )
    _token, key = ApiToken.objects.issue(request.user, name, scopes, ends)
    return shown(request, new_key=key)


@require_POST
@login_required
def revoke(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(ApiToken.objects.visible_to(request.user), pk=pk).delete()
    messages.success(request, _("The token no longer works."))
    return redirect("account")


urlpatterns = [
    path("", account, name="account"),
    path("sign-in/", views.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("sign-out/", views.LogoutView.as_view(), name="logout"),
    path("password/", password, name="password"),
    path("tokens/", token, name="token-new"),
    path("tokens/<uuid:pk>/revoke/", revoke, name="token-revoke"),
]
