from __future__ import annotations

from django.apps import AppConfig


class PinciteConfig(AppConfig):
    """Joins the three apps: start, supervision, health, and the checks of the whole."""

    name = "config"
    verbose_name = "Pincite"

    def ready(self) -> None:
        from pdf.sandbox.confinement import hide_memory

        hide_memory()  # it holds keys and everybody's words

        import operations.accounts.security_events  # noqa: F401  connects its receivers
        from operations.observability.logs import mask_access_logs

        mask_access_logs()
