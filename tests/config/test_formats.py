"""Dates and numbers have the same format on every page."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.template import Context, Template

OWN_FORMAT = re.compile(r"\|date:(?!.c.|.DATETIME_FORMAT.)|\|floatformat:\d")


def test_dates_and_numbers_are_written_one_way() -> None:
    template = Template(
        '{% load humanize %}{{ day|date }} · {{ day|date:"DATETIME_FORMAT" }} · {{ number|intcomma }}'
    )
    shown = template.render(Context({"day": datetime(2026, 11, 3, 9, 5, tzinfo=UTC), "number": 4917}))
    assert shown == "3 Nov 2026 · 3 Nov 2026, 09:05 · 4,917"


def test_no_page_writes_them_another_way() -> None:
    """Times that machines read (`c`), fractions, seconds and coefficients apart."""
    allowed = {"document.progress|floatformat:3", "time|floatformat:2", "pair.kappa|floatformat:2"}
    for path in Path(settings.BASE_DIR, "templates").rglob("*.html"):
        text = path.read_text()
        for use in allowed:
            text = text.replace(use, "")
        assert not OWN_FORMAT.search(text), path
