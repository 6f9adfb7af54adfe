"""Languages by the names people call them."""

from __future__ import annotations

from django.utils.translation import get_language_info


def language_name(code: str) -> str:
    """'English' for ``en``; the code itself where Django knows no name."""
    try:
        return str(get_language_info(code.lower())["name_translated"])
    except KeyError:
        return code
