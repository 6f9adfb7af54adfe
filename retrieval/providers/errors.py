"""The one error that leaves a provider, whatever SDK or server stands behind it."""

from __future__ import annotations

PERMANENT_STATUSES = frozenset({400, 401, 403, 404, 413, 422})


class ProviderError(Exception):
    """An outside service did not do what was asked.

    Attributes:
        message: one sentence for people; holds no key, no address with a secret, no traceback.
        permanent: True when trying again cannot help (wrong key, unknown model, refused input).
        retry_after: seconds the service asked to wait, None when it did not say.
    """

    def __init__(self, message: str, permanent: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.permanent = permanent
        self.retry_after = retry_after


def seconds_of(header: str | None) -> float | None:
    """A Retry-After header in seconds; None where it is absent or a date."""
    try:
        return None if header is None else max(0.0, float(header))
    except ValueError:
        return None
