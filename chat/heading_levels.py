"""The levels of the headings within an answer or a note: below the page's own, none left out.

A model writes ``####`` where it likes; a screen reader's outline must not jump.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

IN_CHAT = 4  # the title of the page or panel, "Questions and answers" and the question stand above
ON_A_PAGE = 2  # the page's title stands above
DEEPEST = 6


@dataclass(slots=True)
class HeadingLevels:
    """Settles headings in reading order; what is settled never depends on what comes later.

    ``top``: the level of the outermost headings, 1 to 6.
    """

    top: int
    _open: list[int] = field(default_factory=list)  # the levels as written, of the headings we are under

    def settle(self, tokens: Sequence[Token]) -> None:
        """Sets the ``tag`` of each heading."""
        for token in tokens:
            if token.type == "heading_open":
                written = int(token.tag[1])
                self._open = [*(level for level in self._open if level < written), written]
            if token.type in ("heading_open", "heading_close"):
                token.tag = f"h{min(self.top + len(self._open) - 1, DEEPEST)}"

    def copy(self) -> HeadingLevels:
        return HeadingLevels(self.top, list(self._open))
