"""An incomplete answer as its model wrote it, so that it can go on."""

from __future__ import annotations

from collections.abc import Sequence

from chat.prompting import Passage
from chat.stored_markers import stored_marks


def started_text(content: str, passages: Sequence[Passage]) -> str:
    """Stored content with the markers of this turn's aliases; citations of other units are left out."""
    aliases = {passage.unit.id: passage.alias for passage in passages}
    pieces, at = [], 0
    for mark in stored_marks(content):
        alias = aliases.get(mark.unit_id)
        pieces += [content[at : mark.start], f"[[cite:{alias}:{mark.page}]]" if alias else ""]
        at = mark.end
    return "".join([*pieces, content[at:]])
