"""The language of a short text, by its script and its commonest words."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from text.languages import base_language, languages_with
from text.semantics import UNSPACED, lexicon

_KANA = re.compile("[ぁ-んァ-ヴ]")
_HAN = re.compile("[一-鿿]")
_ARABIC = re.compile("[\u0621-\u064a]")
_OTHER_SCRIPT = re.compile("[\u0370-\u1fff\uac00-\ud7af]")
_WORD = re.compile(r"[^\W\d_]+")
SURE = 2  # more of its words than of any other language's


@cache
def _common_words() -> dict[str, frozenset[str]]:
    """Function words of each spaced language."""
    return {
        code: frozenset(
            key[0] for key, sense in lexicon(code).phrases.items() if sense.function and len(key) == 1
        )
        for code in sorted(languages_with("meaning.toml") - UNSPACED - {"ar"})
    }


@lru_cache(maxsize=4096)
def detected_language(text: str, default: str = "") -> str:
    """ISO 639-1 code of the text's language; ``default`` (BCP 47) where its words do not tell."""
    if _KANA.search(text):
        return "ja"
    if _HAN.search(text):
        return "ja" if base_language(default) == "ja" else "zh"
    if _ARABIC.search(text):
        return "ar" if base_language(default) in ("", "ar") else base_language(default)
    default = base_language(default)
    if _OTHER_SCRIPT.search(text):
        return default
    words = set(_WORD.findall(text.lower()))  # a caption is read again with each row of its table
    counts = {code: sum(word in common for word in words) for code, common in _common_words().items()}
    if default and default not in counts:
        return default
    best = max(counts, key=lambda code: (counts[code], code == default, code == "en"))
    if counts[best] >= counts.get(default, 0) + SURE or not default:
        return best if counts[best] else default or "en"
    return default
