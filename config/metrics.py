"""What /metrics says beyond requests: documents by status, and how long the oldest one has waited."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import DatabaseError
from django.db.models import Count, Min
from django.utils import timezone
from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from documents.models import Document
from documents.queue import waiting


class Documents(Collector):
    def describe(self) -> list[Metric]:
        return []  # asked at registration, when there may be no database yet

    def collect(self) -> Iterator[Metric]:
        try:
            documents = Document.objects.filter(deleted_at=None).order_by()
            counts = list(documents.values("status").annotate(number=Count("pk")))
            oldest = waiting().aggregate(oldest=Min("created_at"))["oldest"]
        except DatabaseError:
            return
        family = GaugeMetricFamily("pincite_documents", "Documents by status", labels=["status"])
        for row in counts:
            family.add_metric([row["status"]], row["number"])
        yield family
        seconds = (timezone.now() - oldest).total_seconds() if oldest else 0
        yield GaugeMetricFamily("pincite_oldest_waiting_seconds", "Wait of the oldest document", seconds)


REGISTRY.register(Documents())
