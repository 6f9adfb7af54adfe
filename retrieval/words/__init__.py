"""Word lists, kept as text: one subject a file, ``#`` starts a comment."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def lines_of(name: str) -> list[str]:
    """The list's lines, without comments and empty lines; indentation is kept."""
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.rstrip() for line in lines if line.strip() and not line.startswith("#")]


def word_list(name: str) -> list[str]:
    return " ".join(lines_of(name)).split()
