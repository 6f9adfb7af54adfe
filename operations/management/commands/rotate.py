"""`manage.py rotate`: encrypt stored secrets again, after `PINCITE_SECRET_KEY` was replaced."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from chat.models.provider import KEY_PURPOSE, ProviderConnection
from documents.tokens import cipher
from operations.accounts.sign_in import SEED_PURPOSE

SEEDS = {"secret", "seed"}  # of a second factor's data
LOST = "{} of {} stored secrets cannot be read: name the key that encrypted them in PINCITE_OLD_SECRET_KEYS."
DONE = (
    "{} stored secrets are encrypted with PINCITE_SECRET_KEY. Old keys still make links and sessions valid."
)


class Command(BaseCommand):
    help = "Encrypts the stored keys of providers and seeds of second factors with PINCITE_SECRET_KEY."

    def handle(self, *args: Any, **options: Any) -> None:
        self.count = self.lost = 0
        with transaction.atomic():
            for connection in ProviderConnection.objects.select_for_update().exclude(encrypted_key=""):
                connection.encrypted_key = self.again(KEY_PURPOSE, connection.encrypted_key)
                connection.save(update_fields=["encrypted_key"])
            for factor in Authenticator.objects.select_for_update():
                stored = {name: factor.data[name] for name in SEEDS & factor.data.keys()}
                factor.data |= {name: self.again(SEED_PURPOSE, text) for name, text in stored.items()}
                factor.save(update_fields=["data"])
        if self.lost:
            raise CommandError(LOST.format(self.lost, self.count))
        self.stdout.write(DONE.format(self.count))

    def again(self, purpose: str, stored: str) -> str:
        """Return the text encrypted with the present key; the stored one if no key reads it."""
        self.count += 1
        try:
            return cipher(purpose).rotate(stored.encode()).decode()
        except InvalidToken:
            self.lost += 1
            return stored
