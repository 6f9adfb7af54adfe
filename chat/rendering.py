"""Markdown of answers and notes as HTML that is safe whatever a model wrote.

Citations travel through the Markdown renderer and the sanitiser as single
private-use characters, and become ``<sup>`` links only at the very end: no
markup of ours can be forged, and none has to be let through.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from chat.claim_spans import Span
from chat.events import CitationShown
from chat.heading_levels import IN_CHAT, HeadingLevels
from chat.stored_markers import stored_marks

FIRST_CITATION = 0xE100  # one private-use character a citation (U+E100 … U+F8FF)
OPEN_UNCITED, CLOSE_UNCITED = "\ue000", "\ue001"
_PRIVATE = re.compile(r"[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_CITATION = re.compile(r"\s*([\ue100-\uf8ff])")  # no line ends between a claim and its number
_UNCITED = re.compile(f"{OPEN_UNCITED}([^{CLOSE_UNCITED}]*){CLOSE_UNCITED}")
_TAG = re.compile(r"<(/?(?!br|hr)[a-z0-9]+)")
COLOURS = 6  # of highlights, see chat.css
MOST_CITATIONS = 0xF8FF - FIRST_CITATION
TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables; raw HTML off, no pictures (they would call other servers).

    Reference links are off, so that what comes later never changes a block
    that was already sent.
    """
    markdown = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": False})
    return markdown.enable(["table", "strikethrough"]).disable(["image", "reference", "html_inline"])


def render_message(
    content: str, citations: Sequence[CitationShown], uncited: Sequence[Span] = (), top: int = IN_CHAT
) -> SafeString:
    """A stored message: each top-level block in its ``data-block`` element.

    ``citations[i]`` belongs to the i-th marker of ``content``; a marker without one vanishes.
    ``top``: the level of its outermost headings.
    """
    text = with_placeholders(content, len(citations), uncited)
    blocks = [linked(html, citations) for html in rendered_blocks(text, top)]
    return mark_safe("".join(in_block(number, html) for number, html in enumerate(blocks)))


def in_block(number: int, html: str) -> SafeString:
    return format_html('<div data-block="{}">{}</div>', number, mark_safe(html))


def with_placeholders(content: str, count: int, uncited: Sequence[Span] = ()) -> str:
    """``content`` with its markers as private-use characters; such characters of its own are dropped."""
    edits = [
        (mark.start, mark.end, placeholder(index) if index < min(count, MOST_CITATIONS) else "")
        for index, mark in enumerate(stored_marks(content))
    ]
    edits += [(span.start, span.start, OPEN_UNCITED) for span in uncited]
    edits += [(span.end, span.end, CLOSE_UNCITED) for span in uncited]
    pieces, at = [], 0
    for start, end, replacement in sorted(edits, key=lambda edit: edit[:2]):
        pieces += [_PRIVATE.sub("", content[at:start]), replacement]
        at = end
    return "".join([*pieces, _PRIVATE.sub("", content[at:])])


def placeholder(index: int) -> str:
    return chr(FIRST_CITATION + index)


def rendered_blocks(text: str, top: int) -> list[str]:
    """The safe HTML of each top-level block; placeholders stay in it. ``top``: see ``render_message``."""
    levels = HeadingLevels(top)
    return [rendered(block, levels) for block in blocks_of(parser().parse(text))]


def rendered(block: Sequence[Token], levels: HeadingLevels) -> str:
    """The safe HTML of one block, which comes after those that ``levels`` has settled."""
    levels.settle(block)
    return clean(parser().renderer.render(block, parser().options, {}))


def blocks_of(tokens: Sequence[Token]) -> list[list[Token]]:
    blocks: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth == 0:
            blocks.append([])
        blocks[-1].append(token)
        depth += token.nesting
    return blocks


def clean(html: str) -> str:
    """No attribute but ``href`` survives, so a placeholder can only stand between tags."""
    return nh3.clean(
        html,
        tags=TAGS,
        attributes={"*": set(), "a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def linked(
    html: str, citations: Sequence[CitationShown], link: Callable[[CitationShown], str] | None = None
) -> str:
    """Placeholders as citation links (``link`` makes them) and marks of uncited claims."""
    make = link or superscript

    def at(match: re.Match[str]) -> str:
        index = ord(match[1]) - FIRST_CITATION
        return make(citations[index]) if index < len(citations) else ""

    return _CITATION.sub(at, _UNCITED.sub(marked, html))


def marked(match: re.Match[str]) -> str:
    """An uncited claim as ``<mark>``, unless an element begins in it and does not end in it."""
    inside = match[1]
    opened = Counter(_TAG.findall(inside))
    balanced = all(opened[name] == opened[f"/{name}"] for name in opened if not name.startswith("/"))
    balanced = balanced and all(name[1:] in opened for name in opened if name.startswith("/"))
    return f'<mark class="uncited">{inside}</mark>' if balanced else inside


def superscript(citation: CitationShown) -> SafeString:
    """The link of one citation, in the colour of its highlight. Everything in it is escaped."""
    return format_html(
        '<sup><a class="cite lit-{}" href="{}" data-citation="{}" data-number="{}" data-verdict="{}" '
        'data-durability="{}" data-document="{}" data-page="{}" data-unit="{}" aria-label="{}">{}</a></sup>',
        (citation.number - 1) % COLOURS + 1,
        citation.href,
        citation.id,
        citation.number,
        citation.verdict,
        citation.durability,
        citation.document,
        citation.page,
        citation.unit,
        spoken(citation),
        citation.number,
    )


def spoken(citation: CitationShown) -> str:
    """What a screen reader says of a superscript."""
    verdict = "" if citation.is_outdated else citation.verdict_text
    parts = [f"Citation {citation.number}", f"page {citation.page}", verdict]
    parts.append(citation.durability_text if citation.durability != "same" else "")
    return ", ".join(part for part in parts if part)


@dataclass(slots=True)
class StreamRenderer:
    """Renders an answer while it grows; only the last block is rendered anew.

    Appended text can change no block of CommonMark but the last one (reference
    links are off), so the blocks before it are final.
    """

    citations: list[CitationShown] = field(default_factory=list)
    _levels: HeadingLevels = field(default_factory=lambda: HeadingLevels(IN_CHAT))  # of the final blocks
    _final: int = 0
    _tail: str = ""

    def write(self, text: str) -> list[tuple[int, str]]:
        """Adds text; the blocks that changed, as (number, HTML)."""
        self._tail += _PRIVATE.sub("", text).replace("\r", "")
        return self._changed()

    def cite(self, citation: CitationShown) -> list[tuple[int, str]]:
        """Adds a citation here; the blocks that changed."""
        self.citations.append(citation)
        if len(self.citations) <= MOST_CITATIONS:
            self._tail += placeholder(len(self.citations) - 1)
        return self._changed()

    def replace(self, citation: CitationShown) -> None:
        """Takes what was found out about a citation; later HTML says so."""
        places = [index for index, old in enumerate(self.citations) if old.id == citation.id]
        for index in places:
            self.citations[index] = citation

    def _changed(self) -> list[tuple[int, str]]:
        tokens = parser().parse(self._tail)
        blocks = blocks_of(tokens)
        if not blocks:
            return []
        levels = self._levels.copy()
        before_last = [rendered(block, levels) for block in blocks[:-1]]
        final_levels = levels.copy()
        htmls = [*before_last, rendered(blocks[-1], levels)]
        changed = [(self._final + offset, linked(html, self.citations)) for offset, html in enumerate(htmls)]
        self._settle(blocks, final_levels)
        return changed

    def _settle(self, blocks: list[list[Token]], levels: HeadingLevels) -> None:
        """Forgets the text of all blocks but the last; ``levels``: as they are before it."""
        if len(blocks) > 1 and (lines := blocks[-1][0].map):
            self._tail = "\n".join(self._tail.split("\n")[lines[0] :])
            self._final += len(blocks) - 1
            self._levels = levels
