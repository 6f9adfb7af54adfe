from __future__ import annotations

from django.apps import AppConfig


class PinciteConfig(AppConfig):
    """Joins the three apps: start, supervision, health, and the checks of the whole."""

    name = "config"
    verbose_name = "Pincite"

    def ready(self) -> None:
        from documents.pdf.confinement import hide_memory

        hide_memory()  # it holds keys and everybody's words

        import config.checks  # registers the system checks
        import config.metrics  # noqa: F401  registers the collector
        from config.logs import mask_access_logs

        mask_access_logs()
