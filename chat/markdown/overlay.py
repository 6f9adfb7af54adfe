"""Insert citations and marks into parsed Markdown, not into its source.

The markers of a stored text are removed and their offsets kept (``MarkedText``).
The remaining text is parsed, and tokens are inserted at the offsets:
``citation`` (``meta["index"]``), ``mark_open`` and ``mark_close``. So markers
cannot change the parsing, and a model's text cannot become one of these tokens.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from chat.markdown.source_map import SourceMap, parsed_blocks, shown_characters
from citing.marker_decoder import stored_marks
from text.sentences import Span

_CLOSERS = frozenset(".,;:!?)]}%*_~|'\"”’»›…。，、；：！？）」』")  # may follow a citation without a space
_SOLID = ("fence", "code_block", "hr")  # no inline text


@dataclass(slots=True)
class MarkedText:
    """Markdown without its markers, and the offset of each citation.

    Spaces before a citation are dropped, so that no line breaks between a claim
    and its number. They are restored when a word follows immediately.
    """

    text: str = ""
    places: list[int] = field(default_factory=list)
    _blanks: str = ""  # spaces before a citation
    _alone: bool = False  # the citation begins its line
    _behind: str = ""  # spaces after such a citation

    def write(self, text: str) -> None:
        text = text.replace("\r", "").replace("\x00", "")
        if self._alone:
            text = self._without_empty_line(self._behind + text)
        if text and self._blanks:
            if not text[0].isspace() and text[0] not in _CLOSERS:
                self.text += self._blanks
            self._blanks = ""
        self.text += text

    def cite(self) -> None:
        """Add a citation here."""
        words = self.text.rstrip(" \t")
        self._blanks = self._blanks or self.text[len(words) :]
        self._alone, self._behind = not words or words.endswith("\n"), ""
        self.text = words
        self.places.append(len(words))

    def _without_empty_line(self, text: str) -> str:
        """Drop a line that had only citations: an empty line would end a table or paragraph."""
        words = text.lstrip(" \t")
        self._alone, self._behind = not words, "" if words else text
        if not words:
            return ""
        return words[1:] if words[0] == "\n" else text

    def forget(self, length: int, citations: int) -> None:
        """Drop the first characters and the first citations."""
        self.text = self.text[length:]
        self.places = [max(0, place - length) for place in self.places[citations:]]


def marked_text(content: str, spans: Sequence[Span] = ()) -> tuple[MarkedText, list[Span]]:
    """Remove the markers of a stored text. Return it with ``spans`` converted to the new offsets."""
    result = MarkedText()
    borders = sorted({edge for span in spans for edge in (span.start, span.end)})
    moved: dict[int, int] = {}
    at = 0

    def write(end: int) -> None:
        nonlocal at
        for edge in [border for border in borders if at <= border <= end]:
            result.write(content[at:edge])
            moved[edge], at = len(result.text), edge
        result.write(content[at:end])

    for mark in stored_marks(content):
        write(mark.start)
        result.cite()
        at = mark.end
    write(len(content))
    return result, [Span(moved.get(span.start, 0), moved.get(span.end, 0)) for span in spans]


@dataclass(slots=True)
class LaidOut:
    """Parsed blocks with citations and marks.

    Attributes:
        blocks: the tokens of each top-level block.
        homes: the block of each citation.
        ends: the source offset at which each citation can be written, outside links and code.
        apart: whether each citation is in a separate paragraph, after a block without text.
    """

    blocks: list[list[Token]]
    homes: list[int]
    ends: list[int]
    apart: list[bool]


def laid_out(source: str, places: Sequence[int], spans: Sequence[Span] = ()) -> LaidOut:
    """Parse Markdown and insert citations (at ascending offsets) and marks."""
    blocks = parsed_blocks(source)
    if places and not blocks:
        blocks = [_paragraph([])]
    texts = placed_texts(source, blocks)
    result = LaidOut(blocks, [], [], [])
    cited: dict[int, list[tuple[int, int]]] = {}  # index in ``texts``: [(index in its content, citation)]
    for index, place in enumerate(places):
        home = _home(texts, place)
        text = texts[home]
        inside = bisect_left(text.offsets, place) if text.token.type == "inline" else 0
        cited.setdefault(home, []).append((min(inside, max(0, len(text.offsets) - 1)), index))
        result.homes.append(text.block)
        result.ends.append(min(text.end, len(source)))
        result.apart.append(text.token.type != "inline")
    for number, text in enumerate(texts):
        if text.token.type == "inline":
            _lay_inline(text, cited.get(number, []), spans, result.ends)
        elif number in cited:
            blocks[text.block] += _paragraph([_citation(index) for _, index in cited[number]])
    return result


@dataclass(frozen=True, slots=True)
class PlacedText:
    """An inline token, or a block without one, and the source offsets of its characters."""

    token: Token
    block: int
    offsets: list[int]
    begin: int  # in a table, of the cell
    block_begin: int

    @property
    def end(self) -> int:
        return self.offsets[-1]


def placed_texts(source: str, blocks: Sequence[Sequence[Token]]) -> list[PlacedText]:
    """Return every token that can take a citation, at least one per block."""
    lines = SourceMap(source)
    result: list[PlacedText] = []
    for number, block in enumerate(blocks):
        start, end = (lines.line_start(line) for line in block[0].map or (0, 0))
        found: list[PlacedText] = []
        row: list[Token] = []
        for place, token in enumerate(block):
            if token.type in ("tr_open", "tr_close"):
                row = _row(block, place) if token.type == "tr_open" else []
            elif token.type == "inline":
                offsets = lines.offsets(token, row) if token.map else [0]
                begin = lines.begin(token, row) if row and offsets else (offsets or [0])[0]
                found += [PlacedText(token, number, offsets, begin, start)] if offsets else []
            elif token.type in _SOLID and token.map:
                first, last = (lines.line_start(line) for line in token.map)
                found.append(PlacedText(token, number, [first, last], first, start))
        result += found or [PlacedText(block[0], number, [start, end], start, start)]
    return result


def _row(block: Sequence[Token], start: int) -> list[Token]:
    end = next(place for place in range(start, len(block)) if block[place].type == "tr_close")
    return [token for token in block[start:end] if token.type == "inline"]


def _home(texts: Sequence[PlacedText], place: int) -> int:
    """Return the index of the last text that begins before a citation, in the block that does."""
    begun = [text.block for text in texts if text.block_begin < place]
    block = begun[-1] if begun else 0
    inside = [number for number, text in enumerate(texts) if text.block == block]
    before = [number for number in inside if texts[number].begin <= place]
    return (before or inside[:1])[-1]


def _paragraph(children: list[Token]) -> list[Token]:
    inline = Token("inline", "", 0, children=children, level=1, block=True)
    opening = Token("paragraph_open", "p", 1, block=True)
    return [opening, inline, Token("paragraph_close", "p", -1, block=True)]


def _citation(index: int) -> Token:
    return Token("citation", "", 0, meta={"index": index})


def _lay_inline(
    text: PlacedText, cited: Sequence[tuple[int, int]], spans: Sequence[Span], ends: list[int]
) -> None:
    """Insert citations and marks into the children of one inline token."""
    ranges = [_within(text.offsets, span) for span in spans]
    marked = [(start, end) for start, end in ranges if start < end]
    cuts = {at for at, _ in cited} | {edge for pair in marked for edge in pair}
    pieces = list(_cut(text.token.children or [], sorted(cuts)))
    _mark(pieces, marked)
    text.token.children = _with_citations(pieces, text, cited, ends)


def _within(offsets: Sequence[int], span: Span) -> tuple[int, int]:
    last = len(offsets) - 1
    return min(bisect_left(offsets, span.start), last), min(bisect_left(offsets, span.end), last)


def _cut(children: Sequence[Token], cuts: Sequence[int]) -> Iterator[Token]:
    """Split verbatim text of the children at these places."""
    for child in children:
        at = int(child.meta.get("at", 0))
        if child.type != "text" or not child.meta.get("verbatim"):
            child.content = shown_characters(child.content)
            yield child
            continue
        content = child.content
        if child.meta.get("formula"):  # typeset as a whole
            child.content, child.meta["source"] = shown_characters(content), content
            yield child
            continue
        inside = [cut - at for cut in cuts if at < cut < at + len(content)]
        for start, end in zip([0, *inside], [*inside, len(content)], strict=True):
            if end > start:
                piece = content[start:end]
                meta = {**child.meta, "at": at + start, "source": piece}
                yield Token("text", "", 0, content=shown_characters(piece), meta=meta)


def _mark(pieces: list[Token], ranges: Sequence[tuple[int, int]]) -> None:
    """Put ``mark_open`` and ``mark_close`` around the pieces of each range, separately in each element."""
    for start, end in ranges:
        places = [n for n, piece in enumerate(pieces) if start <= int(piece.meta.get("at", -1)) < end]
        if places:
            first, last = places[0], places[-1] + 1
            pieces[first:last] = _nested_marks(pieces[first:last])


def _nested_marks(run: list[Token]) -> list[Token]:
    result: list[Token] = []
    held: list[Token] = []

    def flush() -> None:
        if any(token.content.strip() for token in held):
            result.extend([Token("mark_open", "mark", 1), *held, Token("mark_close", "mark", -1)])
        else:
            result.extend(held)
        held.clear()

    place = 0
    while place < len(run):
        token = run[place]
        after = _end_of_element(run, place) if token.nesting == 1 else place + 1
        if token.nesting == -1 or after is None:
            flush()
            result.append(token)
            after = place + 1
        else:
            held.extend(run[place:after])
        place = after
    flush()
    return result


def _end_of_element(run: Sequence[Token], start: int) -> int | None:
    """Return the index after the closing token of the one at ``start``; None when it is not in the run."""
    depth = 0
    for place in range(start, len(run)):
        depth += run[place].nesting
        if depth == 0:
            return place + 1
    return None


def _with_citations(
    pieces: Sequence[Token], text: PlacedText, cited: Sequence[tuple[int, int]], ends: list[int]
) -> list[Token]:
    """Insert citations before the first piece at or after their offset, but after a link."""
    result: list[Token] = []
    waiting = list(cited)
    links = 0
    for piece in pieces:
        at = int(piece.meta.get("at", -1))
        while waiting and links == 0 and at >= waiting[0][0]:
            index = waiting.pop(0)[1]
            ends[index] = text.offsets[min(at, len(text.offsets) - 1)]
            _place(result, _citation(index))
        links += piece.nesting if piece.type in ("link_open", "link_close") else 0
        result.append(piece)
    for _, index in waiting:
        _place(result, _citation(index))
    return result


def _place(result: list[Token], citation: Token) -> None:
    """Append a citation, but before a line break that directly precedes it."""
    at = len(result)
    while at and (result[at - 1].type in ("softbreak", "hardbreak") or not _shows_text(result[at - 1])):
        at -= 1
    breaks = any(token.type in ("softbreak", "hardbreak") for token in result[at:])
    result.insert(at if breaks else len(result), citation)


def _shows_text(token: Token) -> bool:
    return token.type != "text" or bool(token.content)
