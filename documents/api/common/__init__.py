"""Shared parts of all APIs, which ``config.settings`` registers with DRF.

Authentication and scopes, throttles, errors, fields, lists (filters, ordering, pagination), JSON parser,
idempotency keys and the OpenAPI schema.
"""
