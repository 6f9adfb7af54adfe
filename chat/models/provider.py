"""Providers of language models that an administrator connected on the Providers page."""

from __future__ import annotations

from cryptography.fernet import InvalidToken
from django.core.cache import cache
from django.db import connection, models, transaction

from documents.tokens import cipher

KEY_PURPOSE = "chat.models.provider.key"
CACHE_KEY = "provider-connections"
CACHE_SECONDS = 5  # until other processes use a new connection


class ProviderConnection(models.Model):
    """The key, address and model of one provider. What the environment sets wins.

    ``encrypted_key`` is readable only with this server's key; a backup contains it encrypted.
    """

    provider = models.CharField(max_length=20, unique=True)
    encrypted_key = models.TextField(blank=True)
    base_url = models.CharField(max_length=200, blank=True)
    model = models.CharField(max_length=200)
    is_default = models.BooleanField(default=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"], condition=models.Q(is_default=True), name="chat_one_default_provider"
            )
        ]

    def __str__(self) -> str:
        return f"{self.provider}: {self.model}"

    @property
    def api_key(self) -> str:
        """Return the key; '' where there is none, or where no key of the server reads it."""
        if not self.encrypted_key:
            return ""
        try:
            return cipher(KEY_PURPOSE).decrypt(self.encrypted_key.encode()).decode()
        except InvalidToken:
            return ""

    @property
    def is_usable(self) -> bool:
        return bool(self.api_key or self.base_url)

    @classmethod
    def connect(
        cls, provider: str, *, api_key: str = "", base_url: str = "", model: str = "", answers: bool = True
    ) -> None:
        """Store a provider's connection; where it ``answers``, by default."""
        encrypted = cipher(KEY_PURPOSE).encrypt(api_key.encode()).decode() if api_key else ""
        with transaction.atomic():
            _lock_table()
            if answers:
                cls.objects.update(is_default=False)
            values = {"encrypted_key": encrypted, "base_url": base_url, "model": model, "is_default": answers}
            cls.objects.update_or_create(provider=provider, defaults=values)
        cache.delete(CACHE_KEY)

    @classmethod
    def choose_model(cls, provider: str, model: str) -> bool:
        """Let this model of a provider answer by default. Return whether the provider is connected."""
        with transaction.atomic():
            _lock_table()
            if is_connected := cls.objects.filter(provider=provider).exists():
                cls.objects.update(is_default=False)
                cls.objects.filter(provider=provider).update(model=model, is_default=True)
        cache.delete(CACHE_KEY)
        return is_connected

    @classmethod
    def disconnect(cls, provider: str) -> None:
        cls.objects.filter(provider=provider).delete()
        cache.delete(CACHE_KEY)

    @classmethod
    def stored(cls) -> dict[str, ProviderConnection]:
        """Return all connections by provider, from the cache for up to five seconds."""
        found: dict[str, ProviderConnection] | None = cache.get(CACHE_KEY)
        if found is None:
            found = {row.provider: row for row in cls.objects.all()}
            cache.set(CACHE_KEY, found, CACHE_SECONDS)
        return found


def _lock_table() -> None:
    """Let administrators who connect at once take turns, to the transaction's end: the last choice answers.

    A lock of the rows would not hold off new ones.
    """
    with connection.cursor() as cursor:
        table = connection.ops.quote_name(ProviderConnection._meta.db_table)
        cursor.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")
