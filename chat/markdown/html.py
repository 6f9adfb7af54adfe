"""Render untrusted Markdown of answers and notes as safe HTML.

Citations and marks of uncited claims are inserted into the parsed Markdown
(``chat.markdown.overlay``). They pass the sanitiser as a random secret word, and
become ``<sup>`` links and ``<mark>`` only afterwards. So our markup cannot be
forged, and the sanitiser does not have to allow it. Formulas pass it in the same way.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import nh3
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from math_core import LatexError, LatexToMathML

from chat.answers.events import CitationShown
from chat.markdown.overlay import LaidOut, MarkedText, laid_out, marked_text
from chat.markdown.source_map import SourceMap, parser, shown_characters
from chat.models import Citation
from text.sentences import Span

# --- Heading levels: below the page's own, without gaps ---
#
# A model may write ``####`` anywhere, but an outline must not skip a level (for screen readers).

IN_CHAT = 4  # below the page or panel, "Questions and answers" and the question
ON_A_PAGE = 2  # below the page's title
DEEPEST = 6
CAPTION = 4  # the level, as written, of the section names in answers without a model


@dataclass(slots=True)
class HeadingLevels:
    """Assign heading levels in reading order, so that later text never changes an earlier level.

    ``top`` is the level of the outermost headings, 1 to 6.
    """

    top: int
    _open: list[int] = field(default_factory=list)  # levels of the current ancestors, as written

    def settle(self, tokens: Sequence[Token]) -> None:
        """Set the ``tag`` of each heading. ``####`` and below are captions, in small type."""
        for token in tokens:
            if token.type == "heading_open":
                written = int(token.tag[1])
                self._open = [*(level for level in self._open if level < written), written]
                if written >= CAPTION:
                    token.attrSet("class", "caption")
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
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
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

    def text(tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
        token = tokens[place]
        formula = env["typeset"] and token.meta.get("formula") and typeset(token.content)
        if not formula:
            return escapeHtml(token.content)
        env["formulas"].append(formula)
        return f"{env['secret']}formula;{len(env['formulas']) - 1};"

    def cell(tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
        tag, style = tokens[place].tag, tokens[place].attrs.get("style")
        return f'<{tag} class="end">' if style == "text-align:right" else f"<{tag}>"  # the CSP forbids styles

    def link_open(tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
        href = str(tokens[place].attrs.get("href", ""))
        host = web_host(href)
        env["hosts"].append("" if tokens[place].info == "auto" else host)  # it shows its whole address
        env["linked"].append(bool(host))
        return f'<a href="{escapeHtml(href)}">' if host else ""

    def link_close(tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
        host = env["hosts"].pop()
        return ("</a>" if env["linked"].pop() else "") + (f" ({escapeHtml(host)})" if host else "")

    result.rules["text"] = text  # type: ignore[assignment]
    result.rules["link_open"] = link_open  # type: ignore[assignment]
    result.rules["link_close"] = link_close  # type: ignore[assignment]
    for name in ("citation", *MARK):
        result.rules[name] = laid  # type: ignore[assignment]
    for name in CELLS:
        result.rules[f"{name}_open"] = cell  # type: ignore[assignment]
    return result


def web_host(address: str) -> str:
    """Return the host of an http or https address; '' for any other, which is not to be a link.

    A model may be told by a document to write a link, whose text says nothing of where it leads.
    """
    try:
        parts = urlsplit(address)
        return (parts.hostname or "") if parts.scheme in ("http", "https") else ""
    except ValueError:
        return ""


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
    formulas: bool = True,
) -> list[str]:
    """Return the safe HTML of each top-level block of a stored message.

    ``citations[i]`` belongs to the i-th marker of ``content``; markers without a citation are removed.
    ``top``: the level of the outermost headings. ``link`` renders a citation. ``formulas``: whether TeX is
    typeset as MathML.
    """
    text, spans = marked_text(content, uncited)
    levels = HeadingLevels(top)
    blocks = laid_out(text.text, text.places, spans).blocks
    last = len(blocks) - 1
    return [
        rendered(block, levels, citations, link or superscript, number == last, formulas)
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
    formulas: bool = True,
) -> str:
    """Return the safe HTML of the next block after those that ``levels`` has settled.

    A bold line becomes a caption unless it is the last block, which may still grow.
    """
    levels.settle(block)
    secret = secrets.token_hex(16)
    env: dict[str, Any] = {"secret": secret, "typeset": formulas, "formulas": [], "hosts": [], "linked": []}

    def ours(match: re.Match[str]) -> str:
        if match[1] in MARK:
            return MARK[match[1]]
        index = int(match[2])
        if match[1] == "formula":
            return str(env["formulas"][index])
        return link(citations[index]) if index < len(citations) else ""

    html = clean(renderer().render(block, parser().options, env))
    if not is_last:
        html = _BOLD_LINE.sub(r'<p class="caption">\1</p>', html)
    first, *others = html.split(secret)
    return "".join([first, *(_LAID.sub(ours, other, count=1) for other in others)])


# Sanitises HTML; only ``href``, and the class of cells aligned right and of captions, are allowed.
clean = nh3.Cleaner(
    tags=TAGS,
    attributes={"*": set(), "a": {"href"}},
    allowed_classes={name: {"end"} for name in CELLS} | {name: {"caption"} for name in HEADINGS},
    url_schemes={"http", "https"},
    link_rel="noopener noreferrer nofollow",
).clean


# --- Formulas: TeX as MathML, which browsers draw themselves ---

_DELIMITERS = re.compile(r"\A(\$\$?|\\[(\[])(.*?)(\$\$?|\\[)\]])\Z", re.DOTALL)
_PROSE = re.compile(r"[^\W\d_]{2,} +[^\W\d_]{2,}")  # words between two dollar signs
MATHML = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "ms", "mspace", "mstyle", "mpadded", "mphantom", "menclose"),
    *("mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts"),
    *("mprescripts", "mtable", "mtr", "mtd"),
}
_MATHML_ATTRIBUTES = {
    *("display", "displaystyle", "scriptlevel", "mathvariant", "form", "stretchy", "fence", "separator"),
    *("lspace", "rspace", "width", "height", "depth", "voffset", "minsize", "maxsize", "linethickness"),
    *("symmetric", "largeop", "movablelimits", "accent", "accentunder", "columnspan", "rowspan", "notation"),
}
_PLAIN_VALUE = re.compile(r"[\w.%+-]{1,40}")
_ALIGNED = {"text-align: right": "end", "text-align: left": "start"}  # the CSP forbids styles
_MOST_MATHML = 50_000  # characters
_TEX = LatexToMathML(max_expansions=0, fancy_error=False, allow_unreliable_rendering=True)


@lru_cache(maxsize=1024)
def typeset(source: str) -> str:
    """Return a formula with its delimiters as MathML; '' if it is prose between dollar signs or invalid."""
    parts = _DELIMITERS.match(source)
    if parts is None or (parts[1] == "$" and "\\" not in parts[2] and _PROSE.search(parts[2])):
        return ""
    try:
        made = _TEX.convert_with_local_state(parts[2].strip(), displaystyle=parts[1] in ("$$", "\\["))
    except LatexError:
        return ""
    writer = _MathMLWriter(source)
    writer.feed(made)
    writer.close()
    return "".join(writer.parts) if len(made) <= _MOST_MATHML else ""


class _MathMLWriter(HTMLParser):
    """Rewrite MathML with known elements and attributes only, and everything else escaped."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._source = source

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Write a known element with its known attributes; its alignment becomes a class."""
        if tag not in MATHML:
            return
        kept = [(name, value or "") for name, value in attrs if name in _MATHML_ATTRIBUTES]
        style = dict(attrs).get("style") or ""
        kept += [("class", name) for words, name in _ALIGNED.items() if words in style]
        kept = [(name, value) for name, value in kept if _PLAIN_VALUE.fullmatch(value)]
        kept += [("alttext", shown_characters(self._source))] if tag == "math" else []
        self.parts.append(format_html("<{}{}>", tag, format_html_join("", ' {}="{}"', kept)))

    def handle_endtag(self, tag: str) -> None:
        """Close a known element."""
        if tag in MATHML:
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        """Write text, escaped."""
        self.parts.append(escapeHtml(shown_characters(data)))


def superscript(citation: CitationShown) -> SafeString:
    """Return the link of a citation, in the colour of its highlight. All values are escaped."""
    return format_html(
        '<sup><a class="cite lit-{}" {} data-citation="{}" data-number="{}" data-verdict="{}" '
        'data-matched="{}" data-durability="{}" data-document="{}" data-page="{}" data-unit="{}" '
        'aria-label="{}">{}</a></sup>',
        (citation.number - 1) % COLOURS + 1,
        format_html('href="{}"', citation.href) if citation.href else SafeString('tabindex="0"'),
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
    verdict = "" if citation.is_outdated else citation.outcome_text
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

    @property
    def blocks(self) -> int:
        """Return the number of blocks so far."""
        return self._final + len(self._sent)

    def cite(self, citation: CitationShown, before: str = "") -> list[tuple[int, str]]:
        """Add text and its citation. Return the changed blocks."""
        self._tail.write(before)
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
