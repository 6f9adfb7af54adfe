"""What follows from a new password: tokens end; one that another chose is replaced at the next sign-in."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from documents.audit import acting_user, record
from documents.models import ApiToken, EventKind, TemporaryPassword


class AfterChange:
    """A password validator that accepts all: Django tells it of each change, wherever it was made."""

    def validate(self, password: str, user: User | None = None) -> None:
        return None

    def get_help_text(self) -> str:
        return ""

    def password_changed(self, password: str, user: User | None = None) -> None:
        """Ends the user's API tokens, unless ``user.keeps_tokens``; remembers who chose the password."""
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
    """The form of the account's page. Tokens end unless somebody unticks it."""

    end_tokens = forms.BooleanField(
        label=_("Also end my API tokens"), required=False, initial=True, help_text=_("Recommended.")
    )
    offered = forms.BooleanField(widget=forms.HiddenInput, required=False, initial=True)

    def save(self, commit: bool = True) -> Any:
        """A form that was sent without the choice ends the tokens."""
        unticked = self.cleaned_data["offered"] and not self.cleaned_data["end_tokens"]
        self.user.keeps_tokens = unticked  # type: ignore[attr-defined]
        return super().save(commit)


class FirstPassword(SetPasswordForm):
    """One's own password in the place of the one that was given."""

    def clean_new_password1(self) -> str:
        password: str = self.cleaned_data["new_password1"]
        if self.user.check_password(password):
            raise ValidationError(_("Choose a password other than the one you were given."))
        return password
