"""Translate stored messages into the user's language.

Most texts are translated where they are produced. Messages of the parser, the verifier and workers are
stored in English and translated when they are displayed: the catalogue has them word for word, with ``{}``
for a value, name or number.
"""

from __future__ import annotations

import gettext as catalogues
import re
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.translation import get_language, gettext, to_locale


def translated(message: str) -> str:
    """Translate a message from English to the active language; return unknown messages unchanged."""
    language = get_language() or "en"
    if not message or language.startswith("en"):
        return message
    translation = gettext(message)
    if translation != message:
        return translation
    for frame, pattern in patterns(language):
        if match := pattern.fullmatch(message):
            return gettext(frame).format(*(translated(part) for part in match.groups()))
    return message


@cache
def patterns(language: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return the messages with ``{}`` and their regular expressions, the longest and most specific first."""
    own: Any = catalogues.translation("django", settings.LOCALE_PATHS[0], [to_locale(language)])
    frames = [text for text in own._catalog if isinstance(text, str) and "{}" in text]
    by_length = sorted(frames, key=len, reverse=True)
    return [(frame, re.compile(re.escape(frame).replace(r"\{\}", "(.+?)"), re.DOTALL)) for frame in by_length]
