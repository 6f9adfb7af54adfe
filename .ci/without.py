"""`without.py A B`: the pinned requirements of lock A that lock B does not hold, with their hashes."""

from __future__ import annotations

import sys
from pathlib import Path


def entries(lock: str) -> dict[str, str]:
    """Requirement lines by the name of their package; the lines of its hashes belong to it."""
    found: dict[str, str] = {}
    name = ""
    for line in Path(lock).read_text().splitlines(keepends=True):
        if not line.startswith((" ", "#")):
            name = line.split("==")[0].strip()
        found[name] = found.get(name, "") + line
    return found


everything, held = (entries(lock) for lock in sys.argv[1:3])
sys.stdout.write("".join(text for name, text in everything.items() if name not in held))
