"""The path of headings to a passage, as people read it."""

from __future__ import annotations

from collections.abc import Sequence

BETWEEN = " › "


def trail(path: Sequence[str], title: str = "") -> str:
    """``Part II › Item 7``: a heading that repeats the one before it, or the title in front, is left out."""
    said = plain(title)
    shown = []
    for heading in path:
        if (words := plain(heading)) != said:
            shown.append(" ".join(heading.split()))
        said = words
    return BETWEEN.join(shown)


def plain(heading: str) -> str:
    return " ".join(heading.split()).strip(" .:").casefold()
