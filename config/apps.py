from __future__ import annotations

from django.apps import AppConfig


class PinciteConfig(AppConfig):
    """Joins the three apps: start, supervision, health, and the checks of the whole."""

    name = "config"
    verbose_name = "Pincite"

    def ready(self) -> None:
        import config.checks  # registers the system checks
        import config.metrics  # noqa: F401  registers the collector
