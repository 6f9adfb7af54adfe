"""No regular expression of the program takes exponential or cubic time, whatever a document prints."""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Iterator, Mapping
from types import FrameType, ModuleType

import pytest

from chat.answers.answer_builder import _SENTENCE_END
from chat.answers.prompt import _INJECTIONS
from citing.tables import _LEADERS

PACKAGES = (
    *("agents", "chat", "citing", "config", "documents", "domains"),
    *("operations", "pdf", "retrieval", "reviews", "text"),
)
LENGTH, MOST_SECONDS = 600, 1.0  # of processor time
# fmt: off
PIECES = (
    "a", "A ", "a ", "é", "中", "1", "1 ", "1.", "1,", "1-", "1/", "1.1", "(1)", "[1]", "00", "IV", " ",
    "2020 ", "\t", "\n", "\n ", "a\n", ".", "a.", "A. ", "...", "…", ",", ", ", "A, ", ":", "-", " - ", "—",
    "iv.", "a-", "(", "(a", "[", "[a](", "<a ", "«", "“", '"', "'", "’s ", "$", "%", "€", "&", "#", "*", "- ",
    "| ", "_", "=", "/", "/a", "\\", "a@", "http://a.", "of ", "and ", "Item ", "USD ", "§",
)
# fmt: on


def modules() -> Iterator[ModuleType]:
    for package in map(importlib.import_module, PACKAGES):
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            parts = found.name.split(".")
            if "migrations" not in parts and "commands" not in parts:
                yield importlib.import_module(found.name)


def patterns_in(value: object, depth: int = 2) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif depth and isinstance(value, Mapping):
        for inner in list(value.values())[:400]:
            yield from patterns_in(inner, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for inner in list(value)[:400]:
            yield from patterns_in(inner, depth - 1)


class TooSlow(Exception):
    pass


def stop(signum: int, frame: FrameType | None) -> None:
    raise TooSlow


@pytest.mark.slow
def test_no_pattern_takes_exponential_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 7fd0d56e the heading "1111…1!" took a page minutes, and all other pages with it."""
    monkeypatch.setenv("LD_LIBRARY_PATH", "")  # which OpenCV sets when it is imported
    patterns = {}
    for module in modules():
        for name, value in vars(module).items():
            for pattern in patterns_in(value):
                patterns.setdefault(pattern, f"{module.__name__}.{name}")
    assert len(patterns) > 300
    slow, before = [], signal.signal(signal.SIGVTALRM, stop)
    try:
        for pattern, name in patterns.items():
            for piece in PIECES:
                text = (piece * LENGTH)[:LENGTH] + "!\x01"
                signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
                try:
                    for _ in pattern.finditer(text):
                        pass
                except TooSlow:
                    slow.append((name, piece))
                    break
                finally:
                    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert not slow


@pytest.mark.parametrize(
    ("pattern", "text"),
    [(_INJECTIONS, "#"), (_INJECTIONS, "!["), (_INJECTIONS, "< "), (_SENTENCE_END, "…"), (_LEADERS, ". ")],
)
def test_patterns_that_read_whole_answers_and_passages_take_linear_time(
    pattern: re.Pattern[str], text: str
) -> None:
    began = time.process_time()
    pattern.search(text * 40_000 + "x")
    assert time.process_time() - began < 2
