"""Accounts: sign-in and its limits, account pages, the log of security events."""
