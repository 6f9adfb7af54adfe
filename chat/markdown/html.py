"""Render untrusted Markdown of answers and notes as safe HTML.

Citations and marks of uncited claims are inserted into the parsed Markdown
(``chat.markdown.overlay``). They pass the sanitiser as a random secret word, and
become ``<sup>`` links and ``<mark>`` only afterwards. So our markup cannot be
forged, and the sanitiser does not have to allow it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from chat.answers.events import CitationShown
from chat.markdown.overlay import LaidOut, MarkedText, laid_out, marked_text
from chat.markdown.source_map import SourceMap, parser
from chat.models import Citation
from text.sentences import Span

# --- Heading levels: below the page's own, without gaps ---
#
# A model may write ``####`` anywhere, but an outline must not skip a level (for screen readers).

IN_CHAT = 4  # below the page or panel, "Questions and answers" and the question
ON_A_PAGE = 2  # below the page's title
DEEPEST = 6


@dataclass(slots=True)
class HeadingLevels:
    """Assign heading levels in reading order, so that later text never changes an earlier level.

    ``top``: the level of the outermost headings, 1 to 6.
    """

    top: int
    _open: list[int] = field(default_factory=list)  # levels of the current ancestors, as written

    def settle(self, tokens: Sequence[Token]) -> None:
        """Set the ``tag`` of each heading."""
        for token in tokens:
            if token.type == "heading_open":
                written = int(token.tag[1])
                self._open = [*(level for level in self._open if level < written), written]
            if token.type in ("heading_open", "heading_close"):
                token.tag = f"h{min(self.top + len(self._open) - 1, DEEPEST)}"

    def copy(self) -> HeadingLevels:
        return HeadingLevels(self.top, list(self._open))


COLOURS = 6  # of highlights, see chat.css
TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
CELLS = ("th", "td")
Link = Callable[[CitationShown], str]
_LAID = re.compile(r"\A(\w+);(\d*);")
_BOLD_LINE = re.compile(r"\A<p>(<strong>(?:(?!</strong>).)*</strong>)</p>")
MARK = {"mark_open": '<mark class="uncited">', "mark_close": "</mark>"}


@cache
def renderer() -> RendererHTML:
    """Return markdown-it's renderer with rules for our tokens."""
    result = RendererHTML()

    def laid(tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
        token = tokens[place]
        return f"{env['secret']}{token.type};{token.meta.get('index', '')};"

    def cell(tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
        tag, style = tokens[place].tag, tokens[place].attrs.get("style")
        return f'<{tag} class="end">' if style == "text-align:right" else f"<{tag}>"  # the CSP forbids styles

    for name in ("citation", *MARK):
        result.rules[name] = laid  # type: ignore[assignment]
    for name in CELLS:
        result.rules[f"{name}_open"] = cell  # type: ignore[assignment]
    return result


def render_message(
    content: str,
    citations: Sequence[CitationShown],
    uncited: Sequence[Span] = (),
    top: int = IN_CHAT,
) -> SafeString:
    """Render a stored message, each top-level block in a ``data-block`` element; see ``rendered_blocks``."""
    blocks = rendered_blocks(content, citations, uncited, top)
    return mark_safe("".join(in_block(number, html) for number, html in enumerate(blocks)))


def rendered_blocks(
    content: str,
    citations: Sequence[CitationShown],
    uncited: Sequence[Span] = (),
    top: int = IN_CHAT,
    link: Link | None = None,
) -> list[str]:
    """Return the safe HTML of each top-level block of a stored message.

    ``citations[i]`` belongs to the i-th marker of ``content``; markers without a citation are removed.
    ``top``: the level of the outermost headings. ``link`` renders a citation.
    """
    text, spans = marked_text(content, uncited)
    levels = HeadingLevels(top)
    blocks = laid_out(text.text, text.places, spans).blocks
    last = len(blocks) - 1
    return [
        rendered(block, levels, citations, link or superscript, number == last)
        for number, block in enumerate(blocks)
    ]


def in_block(number: int, html: str) -> SafeString:
    return format_html('<div data-block="{}">{}</div>', number, mark_safe(html))


def rendered(
    block: Sequence[Token],
    levels: HeadingLevels,
    citations: Sequence[CitationShown],
    link: Link,
    is_last: bool,
) -> str:
    """Return the safe HTML of the next block after those that ``levels`` has settled.

    A bold line becomes a caption unless it is the last block, which may still grow.
    """
    levels.settle(block)
    secret = secrets.token_hex(16)

    def ours(match: re.Match[str]) -> str:
        if match[1] in MARK:
            return MARK[match[1]]
        index = int(match[2])
        return link(citations[index]) if index < len(citations) else ""

    html = clean(renderer().render(block, parser().options, {"secret": secret}))
    if not is_last:
        html = _BOLD_LINE.sub(r'<p class="caption">\1</p>', html)
    first, *others = html.split(secret)
    return "".join([first, *(_LAID.sub(ours, other, count=1) for other in others)])


def clean(html: str) -> str:
    """Sanitise HTML; only ``href``, and the class of cells aligned right, are allowed."""
    return nh3.clean(
        html,
        tags=TAGS,
        attributes={"*": set(), "a": {"href"}},
        allowed_classes={name: {"end"} for name in CELLS},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def superscript(citation: CitationShown) -> SafeString:
    """Return the link of a citation, in the colour of its highlight. All values are escaped."""
    return format_html(
        '<sup><a class="cite lit-{}" href="{}" data-citation="{}" data-number="{}" data-verdict="{}" '
        'data-matched="{}" data-durability="{}" data-document="{}" data-page="{}" data-unit="{}" '
        'aria-label="{}">{}</a></sup>',
        (citation.number - 1) % COLOURS + 1,
        citation.href,
        citation.id,
        citation.number,
        citation.verdict,
        "true" if citation.matched else "",
        citation.durability,
        citation.document,
        citation.page,
        citation.unit,
        spoken(citation),
        citation.number,
    )


def spoken(citation: CitationShown) -> str:
    """Return the label of a citation link for screen readers."""
    verdict = "" if citation.is_outdated else citation.verdict_text
    place = gettext("Citation %(number)s, page %(page)s") % {"number": citation.number, "page": citation.page}
    parts = [place, verdict, gettext("matched by Pincite") if citation.matched else ""]
    if citation.judged_by:
        parts.append(_judgement(citation))
    parts.append(citation.durability_text if citation.durability != "same" else "")
    return ", ".join(part for part in parts if part)


def _judgement(citation: CitationShown) -> str:
    named = {"model": citation.judged_by}
    if citation.judgement == Citation.ModelJudgement.SUPPORTED:
        return gettext("%(model)s judges that the source supports this claim.") % named
    return gettext("%(model)s judges that the source doesn't support this claim.") % named


@dataclass(slots=True)
class StreamRenderer:
    """Render a growing answer; only its last blocks are rendered again.

    Once the first line of the last block is complete, appended text cannot change
    earlier blocks of CommonMark (reference links are disabled), so these are final.
    """

    citations: list[CitationShown] = field(default_factory=list)
    _levels: HeadingLevels = field(default_factory=lambda: HeadingLevels(IN_CHAT))  # of the final blocks
    _final: int = 0  # blocks
    _cited: int = 0  # citations in them
    _sent: dict[int, str] = field(default_factory=dict)  # blocks that are not final, as last returned
    _tail: MarkedText = field(default_factory=MarkedText)

    def write(self, text: str) -> list[tuple[int, str]]:
        """Add text. Return the changed blocks and the last one as (number, HTML); '' for a removed block."""
        self._tail.write(text)
        return self._changed()

    def cite(self, citation: CitationShown) -> list[tuple[int, str]]:
        """Add a citation here. Return the changed blocks."""
        self.citations.append(citation)
        self._tail.cite()
        return self._changed()

    def replace(self, citation: CitationShown) -> None:
        """Replace a citation by a newer version, which later HTML uses."""
        places = [index for index, old in enumerate(self.citations) if old.id == citation.id]
        for index in places:
            self.citations[index] = citation

    def _changed(self) -> list[tuple[int, str]]:
        laid = laid_out(self._tail.text, self._tail.places)
        if not laid.blocks:
            return []
        levels = final_levels = self._levels.copy()
        shown = self.citations[self._cited :]
        first, last = self._first_open(laid), self._final + len(laid.blocks) - 1
        htmls: dict[int, str] = {}
        for number, block in enumerate(laid.blocks, self._final):
            if number == self._final + first:
                final_levels = levels.copy()
            htmls[number] = rendered(block, levels, shown, superscript, number == last)
        changed = [(number, html) for number, html in htmls.items() if self._sent.get(number) != html]
        changed = [(number, "") for number in self._sent if number not in htmls] + changed
        if changed[-1:] != [(last, htmls[last])]:
            changed.append((last, htmls[last]))
        self._sent = htmls
        if first:
            self._settle(_first_line(laid.blocks[first]), first, laid.homes)
            self._levels = final_levels
        return changed

    def _first_open(self, laid: LaidOut) -> int:
        """Return the index of the last block whose first line is complete, or 0."""
        last = len(laid.blocks) - 1
        is_complete = _first_line(laid.blocks[last]) < self._tail.text.count("\n")
        return last if is_complete else max(0, last - 1)

    def _settle(self, line: int, blocks: int, homes: Sequence[int]) -> None:
        """Drop the source before this line, with its blocks and citations."""
        cited = sum(home < blocks for home in homes)
        self._tail.forget(SourceMap(self._tail.text).line_start(line), cited)
        self._final += blocks
        self._sent = {number: html for number, html in self._sent.items() if number >= self._final}
        self._cited += cited


def _first_line(block: Sequence[Token]) -> int:
    start, _ = block[0].map or (0, 0)
    return start
