"""Running Pincite.

Accounts, HTTP middleware, health and metrics, PostgreSQL (embedded or not), backups, and the processes
of `manage.py runapp`, `web` and `worker`.
"""
