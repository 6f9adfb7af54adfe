"""How a Markdown text begins, as words: for lists, titles and one line of the admin."""

from __future__ import annotations

import re

EXCERPT = 400
"""Characters of Markdown that are looked at: a list shows fewer words of them."""

_EMPHASIS = re.compile(r"\*(\w[^*\n]*)\*")
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
_SIGNS = re.compile(
    r"\s*\[\[cite:[^\]]*(?:\]\]|$)"  # a citation, also one that is cut off
    r"|^[\s:-]*--[\s:-]*$"  # the line under a table's head, or between two parts
    r"|^\s*(?:[#>]+|[-*+])\s|\*\*|__|`",
    re.MULTILINE,
)


def excerpt(markdown: str) -> str:
    """Without citations and the signs of Markdown, in one line."""
    text = _SIGNS.sub("", _BETWEEN_CELLS.sub(" ", markdown[:EXCERPT]))
    return " ".join(_EMPHASIS.sub(r"\1", text).split())
