from __future__ import annotations

from django.apps import AppConfig


class PinciteConfig(AppConfig):
    """Connect the apps: system checks, metrics, security events, logs."""

    name = "operations"
    verbose_name = "Pincite"

    def ready(self) -> None:
        from pdf.sandbox.confinement import hide_memory

        hide_memory()  # it holds keys and private text

        from operations.accounts import security_events  # noqa: F401  connects its receivers
        from operations.observability import health  # noqa: F401  registers system checks and metrics
        from operations.observability.logs import mask_access_logs

        mask_access_logs()
