"""What an operator sees: system checks, health, metrics, dashboard, logs."""
