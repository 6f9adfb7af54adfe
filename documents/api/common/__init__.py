"""What the APIs of all apps share.

Authentication and scopes, throttles, errors, fields, lists (filters, ordering, pagination), JSON parser,
idempotency keys and the OpenAPI schema. ``config.settings`` names them for DRF.
"""
