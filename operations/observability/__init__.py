"""Observability: system checks, health, metrics, dashboard, logs."""
