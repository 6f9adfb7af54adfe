"""Read settings from environment variables. An invalid value raises ImproperlyConfigured."""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit
from zoneinfo import available_timezones

from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}
Number = TypeVar("Number", int, float)


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default)


def flag(name: str, default: bool) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    if value.lower() in TRUE:
        return True
    if value.lower() in FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={value!r}: write 1 or 0.")


def integer(name: str, default: int, least: int = 0, most: float = math.inf) -> int:
    """Return a whole number from ``least`` to ``most``. Raises ImproperlyConfigured."""
    value = os.environ.get(name)
    try:
        found = default if value is None else int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number.") from None
    return _in_range(name, found, least, most)


def _in_range(name: str, value: Number, least: float, most: float) -> Number:
    if least <= value <= most:  # false for NaN, too
        return value
    bounds = f"at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
    raise ImproperlyConfigured(f"{name}={value}: write a number {bounds}.")


def choice(name: str, default: str, choices: Sequence[str]) -> str:
    """Return one of ``choices``, in lower case. Raises ImproperlyConfigured."""
    value = text(name, default).strip().lower()
    if value in choices:
        return value
    raise ImproperlyConfigured(f"{name}={value!r}: choose from {_listed(choices)}.")


def choices(name: str, allowed: Sequence[str]) -> list[str]:
    """Return a comma-separated list of ``allowed`` words, in lower case. Raises ImproperlyConfigured."""
    found = [word.lower() for word in words(name)]
    if unknown := [word for word in found if word not in allowed]:
        raise ImproperlyConfigured(f"{name}: {_listed(unknown)} is unknown; choose from {_listed(allowed)}.")
    return found


def packs(name: str, known: Sequence[str]) -> list[str]:
    """Return the packs named, all by default, [] for ``none``. Raises ImproperlyConfigured."""
    found = choices(name, [*known, "all", "none"])
    if "none" in found:
        return []
    return list(known) if not found or "all" in found else found


def provider(name: str, default: str, providers: Sequence[str]) -> str:
    """Return ``provider`` or ``provider:model``, one of ``providers``. Raises ImproperlyConfigured."""
    value = text(name, default).strip()
    if value.partition(":")[0] in providers:
        return value
    raise ImproperlyConfigured(f"{name}={value!r}: choose from {_listed(providers)}, or provider:model.")


def url(name: str, default: str = "", schemes: Sequence[str] = ("http", "https")) -> str:
    """Return a URL with a host, or ''. Raises ImproperlyConfigured."""
    value = text(name, default).strip()
    parts = urlsplit(value)
    if not value or (parts.scheme in schemes and parts.hostname):
        return value
    raise ImproperlyConfigured(f"{name}={value!r} is not an address that begins with {_listed(schemes)}://.")


def database(name: str) -> str:
    """Return the URL of a PostgreSQL server, or ''. Raises ImproperlyConfigured."""
    return next(iter(databases(name)), "")


def databases(name: str) -> list[str]:
    """Return the URLs of PostgreSQL servers, separated by spaces. Raises ImproperlyConfigured."""
    values = text(name).split()
    if all(urlsplit(value).scheme in ("postgres", "postgresql", "pgsql") for value in values):
        return values
    raise ImproperlyConfigured(f"{name} is not an address that begins with postgres://.")


def proxies(name: str) -> list[str]:
    """Return IP addresses, networks or ``*``, separated by commas. Raises ImproperlyConfigured."""
    found = words(name)
    for word in found:
        try:
            ip_network("0.0.0.0" if word == "*" else word, strict=False)
        except ValueError:
            raise ImproperlyConfigured(f"{name}: {word!r} is not an address, a network or *.") from None
    return found


def clamd(name: str) -> str:
    """Return ``host:port``, the absolute path of a socket, or ''. Raises ImproperlyConfigured."""
    value = text(name).strip()
    host, _, port = value.rpartition(":")
    if not value or value.startswith("/") or (host and port.isdecimal()):
        return value
    raise ImproperlyConfigured(f"{name}={value!r}: write host:port, or the path of a socket.")


class MailServer(NamedTuple):
    """Where mail is sent; ``starttls``, ``tls``: how the connection is encrypted."""

    host: str = "localhost"
    port: int = 25
    user: str = ""
    password: str = ""
    starttls: bool = False
    tls: bool = False
    sender: str = "pincite@localhost"


def mail(name: str) -> MailServer | None:
    """Return the server of ``smtp://user:password@host:587?from=sender@host``; None for ''.

    ``smtp`` uses STARTTLS except on port 25, ``smtps`` TLS. Raises ImproperlyConfigured.
    """
    value = url(name, schemes=("smtp", "smtps"))
    if not value:
        return None
    parts = urlsplit(value)
    tls = parts.scheme == "smtps"
    port = parts.port or (465 if tls else 587)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    sender = parse_qs(parts.query).get("from", [MailServer().sender])[0]
    return MailServer(parts.hostname or "", port, user, password, not tls and port != 25, tls, sender)


def time_zone(name: str, default: str) -> str:
    """Return a name of the IANA time zone database. Raises ImproperlyConfigured."""
    value = text(name, default).strip()
    if value in available_timezones():
        return value
    raise ImproperlyConfigured(f"{name}={value!r} is not a time zone such as Europe/Berlin.")


def _listed(words: Sequence[str]) -> str:
    return ", ".join(word or "''" for word in words)


def words(name: str, default: str = "") -> list[str]:
    """Return the non-empty items of a comma-separated list."""
    return [item.strip() for item in text(name, default).split(",") if item.strip()]


def secret(name: str, file: Path) -> str:
    """Return the variable, else the content of ``file``, which is created with a random value (mode 600)."""
    if value := os.environ.get(name):
        return value
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as stream:
            stream.write(secrets.token_urlsafe(50))
    return file.read_text().strip()
