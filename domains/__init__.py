"""Packs: vocabulary of single fields, each used only for documents that belong to its field.

A pack is a folder of data files, which search and answers read with ``pack_data``. Its ``evidence.txt``
lists phrases by which a document of the field is recognised. Scores are always given with and without packs
(``PINCITE_PACKS=none``). This package does not use Django.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
EVIDENCE = "evidence.txt"
LEAST_EVIDENCE = 6
LEAST_SHARE = 0.3
"""Distinct phrases of its evidence that a document of the field must contain: number, and share."""
WHOLE_LENGTH = 40_000  # characters; a shorter document needs a proportionally smaller share
CHARACTERS_READ = 400_000


@cache
def pack_names() -> tuple[str, ...]:
    """Return the names of all packs, in alphabetical order."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob(f"*/{EVIDENCE}")))


@cache
def pack_data(pack: str, name: str) -> str:
    """Return the text of a data file of a pack, without lines that begin with ``#``; '' without it."""
    path = FOLDER / pack / name
    if not path.is_file():
        return ""
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("#"))


@cache
def words_of_packs(name: str) -> frozenset[str]:
    """Return the words of all packs' files of this name, one per line: for a claim of unknown field."""
    return frozenset(word for pack in pack_names() for word in pack_data(pack, name).split())


@cache
def evidence_of(pack: str) -> tuple[str, ...]:
    """Return the phrases in lower case, one per line of the file."""
    return tuple(filter(None, map(str.strip, pack_data(pack, EVIDENCE).lower().splitlines())))


def fields_of(texts: Iterable[str]) -> list[str]:
    """Return the packs of the fields that the document belongs to, by its evidence."""
    text, size = [], 0
    for part in texts:
        text.append(" ".join(part.lower().split()))
        size += len(part)
        if size > CHARACTERS_READ:
            break
    whole, share = "\n".join(text), LEAST_SHARE * min(1.0, size / WHOLE_LENGTH)
    held = {pack: sum(phrase in whole for phrase in evidence_of(pack)) for pack in pack_names()}
    return [
        pack for pack, count in held.items() if count >= max(LEAST_EVIDENCE, share * len(evidence_of(pack)))
    ]
