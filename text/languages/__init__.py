"""Data of each language: ``text/languages/<ISO 639-1 code>/<name>``, one small file per subject."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
UNSPACED_LANGUAGES = frozenset({"zh", "ja"})
"""Languages with data here that write no spaces between words; ``text.terms.UNSPACED`` matches scripts."""


def base_language(code: str) -> str:
    """Return the ISO 639-1 code of a BCP 47 tag: ``pt`` for ``pt-BR``; an empty string stays empty."""
    return code.replace("_", "-").split("-")[0].lower()


@cache
def languages_with(name: str) -> frozenset[str]:
    """Codes of the languages whose folder holds a file of this name."""
    return frozenset(path.parent.name for path in FOLDER.glob(f"*/{name}"))


@cache
def language_data(code: str, name: str) -> str:
    """Return the text of one data file; '' if the language has none."""
    path = FOLDER / base_language(code) / name
    return path.read_text(encoding="utf-8") if base_language(code) and path.is_file() else ""
