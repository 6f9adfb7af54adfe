"""Tokens of all kinds: what makes one, checks one, masks one in logs, and lists a user's.

A token gives its holder access without a password. Random keys are stored as a hash. Addresses are the id of
a row with a signature, and the secrets of webhooks are derived from the row's id: nothing of them is stored.
An invitation is signed with the account's password and last sign-in, which end it; so none is listed.
All but links to answers are shown once, when they are made.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.signing import BadSignature, Signer
from django.utils.crypto import salted_hmac
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SECRET_PARAMETERS = {"token", "key", "secret"}  # of routes: an address with one gives access


@dataclass(frozen=True, slots=True, eq=False)  # else the hash of the label changes with the language
class RandomKey:
    """A random key, which its holder sends. Only its hash is stored."""

    label: str | Promise
    prefix: str

    def new(self) -> str:
        return self.prefix + secrets.token_urlsafe(32)

    @staticmethod
    def digest_of(key: str) -> str:
        """Return the SHA-256 in hex: keys are 256 random bits and need no slow hash."""
        return hashlib.sha256(key.encode()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class SignedId:
    """The id of a row with a signature, in an address. It ends with its row."""

    label: str | Promise
    salt: str

    def token_of(self, row_id: UUID) -> str:
        return Signer(salt=self.salt).sign(row_id.hex)

    def id_in(self, token: str) -> UUID | None:
        """Return the row's id; None for a forged token."""
        try:
            return UUID(hex=Signer(salt=self.salt).unsign(token))
        except (BadSignature, ValueError):
            return None


@dataclass(frozen=True, slots=True, eq=False)
class DerivedSecret:
    """A secret that both sides know, derived from a row's id and the server's key."""

    label: str | Promise
    prefix: str
    salt: str

    def of(self, row_id: UUID) -> str:
        return self.all_of(row_id)[0]

    def all_of(self, row_id: UUID) -> list[str]:
        """Return the secret by the server's key, and those by its old keys."""
        keys = (
            salted_hmac(self.salt, str(row_id), secret, algorithm="sha256").digest()
            for secret in secret_keys()
        )
        return [self.prefix + base64.b64encode(key).decode() for key in keys]


def secret_keys() -> list[str]:
    """Return the server's key, then those that it replaced."""
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def cipher(purpose: str) -> MultiFernet:
    """Return the cipher of stored secrets, which reads those of old keys. Never change a ``purpose``."""
    digests = (hashlib.sha256(purpose.encode() + secret.encode()).digest() for secret in secret_keys())
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])


API = RandomKey(_("API token"), "pin_")
ANSWER_LINK = SignedId(_("Link to an answer"), "chat.share")
EMBED = SignedId(_("Embedded reader"), "agents.embed")
WEBHOOK = DerivedSecret(_("Webhook"), "whsec_", "agents.webhook")
INVITATION = PasswordResetTokenGenerator()
KINDS = (API, ANSWER_LINK, EMBED, WEBHOOK)
PREFIXES = "|".join(kind.prefix for kind in KINDS if not isinstance(kind, SignedId))
PRINTED = re.compile(rf"\b(?:{PREFIXES})[\w+/=-]{{20,}}")  # keys and secrets in a text


@dataclass(frozen=True, slots=True)
class ListedToken:
    """A token that is valid now. ``url``: the page on which its owner ends it; ``until``: None for no end."""

    kind: RandomKey | SignedId | DerivedSecret
    name: str
    since: datetime
    until: datetime | None
    url: str


_listers: dict[object, Callable[[User], Iterable[ListedToken]]] = {}


def register_list(
    kind: RandomKey | SignedId | DerivedSecret, tokens_of: Callable[[User], Iterable[ListedToken]]
) -> None:
    """Let ``tokens_of`` list a user's valid tokens of a kind."""
    _listers[kind] = tokens_of


def valid_tokens(user: User) -> Iterator[ListedToken]:
    """Yield the user's valid tokens of all kinds. A query for each kind."""
    for kind in KINDS:
        yield from _listers[kind](user)
