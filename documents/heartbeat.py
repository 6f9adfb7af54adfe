"""That somebody takes documents in: written by each worker's watchdog, read by /readyz."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from documents.leases import holder
from documents.models import Worker


def beat(restarts: int) -> None:
    """This process's worker is well. Rows of workers that have not been seen for a day go."""
    now = timezone.now()
    Worker.objects.update_or_create(holder=holder(), defaults={"seen_at": now, "restarts": restarts})
    Worker.objects.filter(seen_at__lt=now - timedelta(days=1)).delete()


def gone() -> None:
    """This process's worker ends."""
    Worker.objects.filter(holder=holder()).delete()


def beating() -> bool:
    return Worker.objects.alive().exists()
