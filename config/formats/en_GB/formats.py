"""Dates in British English, on every page and in the admin: `{{ day|date }}` is 3 Nov 2026."""

DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i"
MONTH_DAY_FORMAT = "j M"
