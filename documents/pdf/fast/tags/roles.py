"""The standard structure types, by what they mean for a block of text (ISO 32000-2, 14.8.4)."""

from __future__ import annotations

from collections.abc import Mapping

from documents.pdf.structure import UnitType

# Types that say what a block of text is.
BLOCKS: dict[str, UnitType] = {
    "P": "prose",
    "BlockQuote": "prose",
    "BibEntry": "prose",
    "Title": "heading",
    **{f"H{level}": "heading" for level in ("", 1, 2, 3, 4, 5, 6)},
    "LI": "list",
    "Caption": "caption",
    "Note": "footnote",
    "FENote": "footnote",
    "Code": "code",
    "Formula": "formula",
    "TOCI": "prose",
}
CELLS = {"TD", "TH"}
TABLE, ROW, LIST, LABEL = "Table", "TR", "L", "Lbl"
# Types that say something; all others only group, or mark a run of characters.
MEANINGFUL = {*BLOCKS, *CELLS, "LBody", LABEL}
# A role map's chain is followed so far: maps that lead in a circle end there.
_LONGEST_CHAIN = 8


def standard(role: str, role_map: Mapping[str, str]) -> str:
    """The standard type that a document's own type stands for; itself where the map leads nowhere."""
    for _ in range(_LONGEST_CHAIN):
        if role in MEANINGFUL or role not in role_map:
            break
        role = role_map[role]
    return role


def heading_level(role: str) -> int | None:
    """1..6 for ``H1`` to ``H6``, 1 for ``Title``; None for what has no level of its own."""
    if role == "Title":
        return 1
    return int(role[1]) if len(role) == 2 and role[0] == "H" and role[1] in "123456" else None
