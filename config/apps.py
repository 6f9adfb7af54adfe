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
        import config.metrics  # registers the collector
        import config.security_events  # noqa: F401  connects its receivers
        from config.logs import mask_access_logs

        mask_access_logs()
