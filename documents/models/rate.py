"""RateCount: how often somebody did something in the present window, counted in the database."""

from __future__ import annotations

import time

from django.db import connection, models

LONGEST_WINDOW = 86400  # seconds
COUNT_ONE_MORE = """
INSERT INTO documents_ratecount AS present (key, window_start, count) VALUES (%(key)s, %(now)s, 1)
ON CONFLICT (key) DO UPDATE SET
    count = CASE WHEN present.window_start > %(now)s - %(seconds)s THEN present.count + 1 ELSE 1 END,
    window_start = CASE WHEN present.window_start > %(now)s - %(seconds)s THEN present.window_start
                        ELSE %(now)s END
RETURNING window_start, count
"""


class RateCount(models.Model):
    """One row a key. A window begins with the first use, and the first use after its end begins another.

    One statement counts and answers: two requests at the same instant, on any
    number of web processes, cannot both be the last that is allowed.
    """

    key = models.CharField(primary_key=True, max_length=160)
    window_start = models.BigIntegerField(help_text="seconds since 1970")
    count = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["window_start"])]

    def __str__(self) -> str:
        return f"{self.key}: {self.count}"

    @staticmethod
    def take(key: str, limit: int, seconds: int) -> int:
        """Counts one more use of ``key``. 0 when it is allowed, else the seconds until the window ends."""
        now = int(time.time())
        with connection.cursor() as cursor:
            cursor.execute(COUNT_ONE_MORE, {"key": key[:160], "now": now, "seconds": seconds})
            start, count = cursor.fetchone()
        return 0 if count <= limit else max(1, start + seconds - now)

    @classmethod
    def give_back(cls, key: str) -> None:
        """Counts one use of ``key`` less."""
        cls.objects.filter(key=key[:160], count__gt=0).update(count=models.F("count") - 1)

    @classmethod
    def forget_ended(cls) -> None:
        """Removes the counts of windows that ended, whatever their length."""
        cls.objects.filter(window_start__lt=time.time() - LONGEST_WINDOW).delete()
