"""Words of documents as Markdown that shows them as they are."""

from __future__ import annotations

import re

# Only what Markdown would take for markup; a lone bracket or an ampersand is none (CommonMark 0.31).
_MARKDOWN = re.compile(r"([\\`*<]|(?<!\w)_|_(?!\w)|~(?=~)|&(?=[#\w]+;)|\[(?=[^\]]*\]\())")
_LINE_HEAD = re.compile(r"^(\s*)([#+>-]|\d{1,9}(?=[.)]))")


def bullet(text: str) -> str:
    """One line of a list."""
    return f"- {escaped(text)}"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _LINE_HEAD.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\1", " ".join(text.split())))
