"""Parse Markdown to tokens with source positions.

markdown-it records the lines of blocks, but no offsets within them. Here each
child of an inline token has its start (``meta["at"]``, an index of the inline
content), and ``offsets`` maps that content to the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType

_FORMULA = re.compile(
    r"""\$\$[^$]{1,1500}\$\$
    |\$(?![\s$])(?:[^$\\\n]|\\.){1,500}?(?<!\s)\$(?![\w$])
    |\\\([^\n]{1,500}?\\\)
    |\\\[.{1,1500}?\\\]""",
    re.VERBOSE | re.DOTALL,
)
_INTERRUPTS: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}  # as a fence does
_DISPLAYED = {"\\[": "\\]", "$$": "$$"}
_TEX = re.compile(r"[\\^_=+]|^\s*\w\s*$|^ *\n")  # otherwise the brackets are only escaped
_CONTAINERS = re.compile(r"(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t])))*[ \t]*")
_ATX = re.compile(r"#{1,6}[ \t]*")
# Bidirectional controls reorder neighbouring text; private use and tag characters have no meaning here.
_UNSHOWN = re.compile("[\u202a-\u202e\u2066-\u2069\ue000-\uf8ff\U000e0000-\U000e007f\U000f0000-\U0010ffff]")


@cache
def parser() -> MarkdownIt:
    """Return a parser of CommonMark with tables, but no raw HTML and pictures, which load from elsewhere.

    Reference links are disabled, so that later text never changes a block that was already sent. Text tokens
    are not joined, so that each keeps its position.
    """
    markdown = MarkdownIt("commonmark")
    markdown.inline = _PlacingParser()
    markdown.configure("commonmark", {"html": False, "linkify": False, "breaks": False})
    markdown.inline.ruler.before("escape", "formula", _formula)
    markdown.block.ruler.before("code", "displayed_formula", _displayed_formula, _INTERRUPTS)
    markdown.enable(["table", "strikethrough", "formula", "displayed_formula"])
    return markdown.disable(
        ["image", "reference", "html_inline", "html_block", "text_join", "fragments_join"]
    )


def parsed_blocks(source: str) -> list[list[Token]]:
    """Return the tokens of each top-level block, without invisible characters."""
    tokens = parser().parse(source)
    for token in tokens:
        for leaf in [token, *(token.children or [])]:
            if leaf.type == "text_special":  # an escape or an entity, decoded
                leaf.type, leaf.meta["verbatim"] = "text", False
            if leaf.type in ("fence", "code_block"):
                leaf.content = shown_characters(leaf.content)
    blocks: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth == 0:
            blocks.append([])
        blocks[-1].append(token)
        depth += token.nesting
    return blocks


def shown_characters(text: str) -> str:
    """Return text without private-use characters and bidirectional controls."""
    return _UNSHOWN.sub("", text)


def _formula(state: StateInline, silent: bool) -> bool:
    """markdown-it rule: keep a TeX formula as text; its ``*``, ``_`` and ``\\`` are not Markdown."""
    if state.src[state.pos] not in "$\\":
        return False
    found = _FORMULA.match(state.src, state.pos, state.posMax)
    if found is None or (found[0][0] == "\\" and not _TEX.search(found[0][2:-2])):
        return False
    if not silent:
        token = state.push("text", "", 0)
        token.content = found[0]
        token.meta["formula"] = True
    state.pos = found.end()
    return True


def _displayed_formula(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """markdown-it rule: keep the lines of a displayed formula in one paragraph.

    A line that begins with ``+`` or ``-`` would otherwise begin a list. An empty line ends the formula,
    closed or not, so that later text changes no block before it.
    """
    opening = state.src[state.bMarks[first] + state.tShift[first] :][:2]
    if opening not in _DISPLAYED or state.is_code_block(first) or _closes(state, first, opening, 2):
        return False
    if silent:
        return True
    after = first + 1
    while after < end and not state.isEmpty(after) and state.sCount[after] >= state.blkIndent:
        after += 1
        if _closes(state, after - 1, opening):
            break
    state.push("paragraph_open", "p", 1).map = [first, after]
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(first, after, state.blkIndent, False).strip()
    inline.map, inline.children = [first, after], []
    state.push("paragraph_close", "p", -1)
    state.line = after
    return True


def _closes(state: StateBlock, line: int, opening: str, skipped: int = 0) -> bool:
    begin = state.bMarks[line] + state.tShift[line] + skipped
    return _DISPLAYED[opening] in state.src[begin : state.eMarks[line]]


class _PlacingState(StateInline):
    """Write the position of each token into its ``meta``; ``verbatim``: its content equals the source."""

    _begun = 0  # of the pending text
    _run: tuple[int, int] = (-1, 0)  # index and end of the last text token pushed

    def append_pending(self, text: str) -> None:
        if not self.pending:
            self._begun = self.pos
        super().append_pending(text)

    def pushPending(self) -> Token:
        token = super().pushPending()
        token.meta = {"at": self._begun, "verbatim": True}
        return token

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        token = super().push(ttype, tag, nesting)
        before = self.tokens[-2] if len(self.tokens) > 1 else None
        automatic = before is not None and before.type == "link_open" and before.info == "auto"
        at = self.pos
        if before is not None and ttype == before.type == "text" and before.meta.get("pushed") == self.pos:
            at = int(before.meta["at"]) + len(before.content)  # a run of delimiters
        token.meta = {"at": at, "pushed": self.pos, "verbatim": ttype == "text" and not automatic}
        return token


class _PlacingParser(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _PlacingState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class SourceMap:
    """Map the content of inline tokens to source offsets."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def line_start(self, number: int) -> int:
        return self._starts[min(number, len(self._lines))]

    def offsets(self, token: Token, row: Sequence[Token] = ()) -> list[int]:
        """Return the source offset of each character of an inline token's content, and of its end.

        ``row``: the inline tokens of the token's table row. [] for a cell that is missing in the source.
        """
        assert token.map is not None
        if row:
            return self._cell(token, row)
        result: list[int] = []
        number = token.map[0]
        for line in token.content.split("\n"):
            number, start = self._find(line, number, token.map[1])
            last = self.line_start(number + 1) - 1
            inside = range(start, min(start + len(line), last))
            result += [*inside, *[last] * (len(line) - len(inside)), start + len(line)]
            number += 1
        return result

    def begin(self, token: Token, row: Sequence[Token]) -> int:
        """Return the source offset of a table cell, after the pipe before it."""
        assert token.map is not None
        start, _ = _cells(self._lines[token.map[0]])[_place_in(row, token)]
        return self._starts[token.map[0]] + start

    def _find(self, text: str, number: int, end: int) -> tuple[int, int]:
        """Return the first line from ``number`` that ends with or contains the text, and its offset."""
        words = text.strip()
        for candidate in range(number, max(end, number + 1)):
            line = self._lines[candidate]
            at = len(line.rstrip()) - len(words) if line.rstrip().endswith(words) else -1
            heading = _CONTAINERS.match(line).end()  # type: ignore[union-attr]
            if at < 0 or line.startswith("#", heading):
                skipped = _ATX.match(line, heading)
                at = line.find(words, skipped.end() if skipped else heading)
            if at >= 0:
                return candidate, self._starts[candidate] + at - (len(text) - len(text.lstrip()))
        return number, self._starts[number]

    def _cell(self, token: Token, row: Sequence[Token]) -> list[int]:
        assert token.map is not None
        line = self._lines[token.map[0]]
        cells = _cells(line)
        place = _place_in(row, token)
        if place >= len(cells):
            return []
        start, _ = cells[place]
        base = self._starts[token.map[0]]
        result: list[int] = []
        at = start + len(line[start:]) - len(line[start:].lstrip()) if token.content else start
        for character in token.content:
            at += line.startswith("\\|", at) and character == "|"
            result.append(base + at)
            at += 1
        return [*result, base + at]


def _place_in(row: Sequence[Token], token: Token) -> int:
    return next(index for index, cell in enumerate(row) if cell is token)


def _cells(line: str) -> list[tuple[int, int]]:
    """Return the ranges of a table row's cells in its line, as markdown-it splits it."""
    at = _CONTAINERS.match(line).end()  # type: ignore[union-attr]
    end = len(line.rstrip())
    pipes = [place for place in range(at, end) if line[place] == "|" and line[place - 1 : place] != "\\"]
    borders = list(zip([at, *(pipe + 1 for pipe in pipes)], [*pipes, end], strict=True))
    if borders and borders[0][0] == borders[0][1]:
        borders.pop(0)
    if borders and borders[-1][0] == borders[-1][1]:
        borders.pop()
    return borders
