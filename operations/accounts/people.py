"""The page of people: a superuser invites, puts into groups, deactivates, and hands documents over."""

from __future__ import annotations

import logging
from smtplib import SMTPException
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.mfa.utils import is_mfa_enabled
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.models import Group, User
from django.contrib.auth.views import PasswordResetConfirmView
from django.core.exceptions import PermissionDenied
from django.core.mail import send_mail
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from chat.models import Conversation, Note, Report
from documents.models import Collection, Document, EventKind, Placement, Share
from documents.models.security import record
from documents.tokens import INVITATION
from operations.accounts.sign_in import MODEL_BACKEND, end_all
from reviews.models import Review, ReviewTemplate

logger = logging.getLogger(__name__)
A_PAGE = 50


class Invitation(forms.ModelForm):
    """A new account, and the groups it joins, by name."""

    groups = forms.CharField(required=False, max_length=500)

    class Meta:
        model = User
        fields = ["username", "email"]
        field_classes = BaseUserCreationForm.Meta.field_classes

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit=False)
        user.set_unusable_password()
        user.save()
        for name in self.cleaned_data["groups"].split(","):
            join(user, name)
        return user


def join(user: User, name: str) -> None:
    """Put the user into a group, which is made where there is none of this name."""
    if name := name.strip()[:150]:
        user.groups.add(Group.objects.get_or_create(name=name)[0])


def hand_over(leaver: User, heir: User) -> int:
    """Make ``heir`` the owner of the leaver's documents, collections, conversations, notes, reports, reviews.

    Return the number of documents left because the heir has a copy of the same file.
    """
    with transaction.atomic():
        owned = Document.objects.filter(owner=leaver)
        copies = Document.objects.filter(owner=heir, deleted_at=None).exclude(sha256="").values("sha256")
        twice = owned.filter(deleted_at=None, sha256__in=copies)
        left = list(twice.values_list("pk", flat=True))
        owned.exclude(pk__in=left).update(owner=heir)
        Placement.objects.filter(added_by=leaver).exclude(document__in=left).update(added_by=heir)
        taken = set(Collection.objects.filter(owner=heir).values_list("name", flat=True))
        for collection in Collection.objects.filter(owner=leaver):
            if collection.name in taken:
                collection.name = f"{collection.name[:80]} ({leaver.get_username()[:30]})"
            collection.owner = heir
            collection.save(update_fields=["name", "owner"])
        Share.objects.visible_to(heir).filter(user=heir).delete()
        for kind in (Conversation, Note, Report, Review, ReviewTemplate):
            kind._default_manager.filter(owner=leaver).update(owner=heir)
    record(EventKind.RIGHTS_CHANGED, f"all of {leaver.get_username()} to {heir.get_username()}")
    return len(left)


def require_superuser(request: HttpRequest) -> None:
    if not request.user.is_superuser:
        raise PermissionDenied


@require_safe
def people(request: HttpRequest) -> HttpResponse:
    require_superuser(request)
    return shown(request)


def shown(request: HttpRequest, form: Invitation | None = None, invited: User | None = None) -> HttpResponse:
    """Render the page. ``invited``: the user whose invitation link is shown, this once."""
    words = request.GET.get("q", "").strip()[:150]
    found = User.objects.filter(Q(username__icontains=words) | Q(email__icontains=words))
    kept = Q(documents__deleted_at=None) & ~Q(documents__kind=Document.Kind.NOTE)
    owned = Count("documents", filter=kept, distinct=True)
    listed = found.annotate(owned=owned).prefetch_related("groups").order_by("-is_active", "username")
    link = invitation_link(request, invited) if invited else ""
    context = {
        "form": form or Invitation(),
        "invited": invited,
        "link": link,
        "mailed": mail_invitation(invited, link) if invited else False,
        "page": Paginator(listed, A_PAGE).get_page(request.GET.get("page")),
        "groups": Group.objects.order_by("name"),
        "words": words,
    }
    failed = form is not None and bool(form.errors)
    return render(request, "account/people.html", context, status=422 if failed else 200)


def invitation_link(request: HttpRequest, user: User) -> str:
    """Return the address where the user sets a password. It ends with its first use, or after three days."""
    key = urlsafe_base64_encode(force_bytes(user.pk))
    return request.build_absolute_uri(reverse("invitation", args=[key, INVITATION.make_token(user)]))


def mail_invitation(user: User, link: str) -> bool:
    """Mail the link to the user. Return whether a server took it; False without server or address."""
    if not (settings.MAIL and user.email):
        return False
    text = _("You have been invited to Pincite. Open this link within three days and choose a password:")
    try:
        send_mail(_("Your invitation to Pincite"), f"{text}\n\n{link}\n", None, [user.email])
    except (SMTPException, OSError) as error:
        logger.warning("the invitation of %s could not be mailed: %s", user.get_username(), error)
        return False
    return True


@require_POST
@reauthentication_required(app="account")  # type: ignore[untyped-decorator]
def invite(request: HttpRequest) -> HttpResponse:
    require_superuser(request)
    form = Invitation(request.POST)
    return shown(request, invited=form.save()) if form.is_valid() else shown(request, form)


@require_POST
@reauthentication_required(app="account")  # type: ignore[untyped-decorator]
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Do what ``action`` says with an account: link, activate, deactivate, join, leave or hand-over."""
    require_superuser(request)
    user = get_object_or_404(User, pk=pk)
    name = request.POST.get("name", "")
    match request.POST.get("action"):
        case "link" if user.is_active:
            return shown(request, invited=user)
        case "join":
            join(user, name)
        case "leave":
            user.groups.remove(*Group.objects.filter(name=name))
        case "activate":
            user.is_active = True
            user.save(update_fields=["is_active"])
        case "deactivate" if user != request.user:
            user.is_active = False
            user.save(update_fields=["is_active"])
            end_all(user)
            said = _("{name} can no longer sign in. Their documents and work stay until you hand them over.")
            messages.success(request, said.format(name=user))
        case "hand-over":
            give(request, user, name)
        case _:
            messages.error(request, _("This cannot be done with this account."))
    return redirect("people")


def give(request: HttpRequest, leaver: User, name: str) -> None:
    heir = User.objects.filter(username=name.strip(), is_active=True).exclude(pk=leaver.pk).first()
    if heir is None:
        messages.error(request, _("There is no other user with this name."))
        return
    left = hand_over(leaver, heir)
    said = _("{heir} now owns the documents, conversations, notes, reports and reviews of {leaver}.").format(
        heir=heir, leaver=leaver
    )
    if left:
        said += " " + _("{left} stayed, since {heir} has the same file.").format(left=left, heir=heir)
    messages.success(request, said)


class AcceptInvitation(PasswordResetConfirmView):
    """Let an invited user set a password, and sign in unless the account has a second factor."""

    token_generator = INVITATION
    template_name = "account/invitation.html"
    success_url = reverse_lazy("library")
    post_reset_login = True
    post_reset_login_backend = MODEL_BACKEND

    def form_valid(self, form: Any) -> HttpResponse:
        if not form.user.is_active:
            raise PermissionDenied
        self.post_reset_login = not is_mfa_enabled(form.user)
        return super().form_valid(form)
