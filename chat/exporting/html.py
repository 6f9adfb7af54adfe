"""An answer as one HTML file that needs nothing else."""

from __future__ import annotations

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from chat.events import CitationShown
from chat.exporting.answer import ExportedAnswer, quotes_of
from chat.heading_levels import ON_A_PAGE
from chat.rendering import rendered_blocks

STYLE = mark_safe(
    "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}"
    "sup a{text-decoration:none}table{border-collapse:collapse}"
    "td,th{border:1px solid #bbb;padding:.2rem .5rem}q{color:#555}.sources{font-size:.9rem}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # nothing is fetched on opening


def as_html(answer: ExportedAnswer) -> str:
    """A whole page; superscripts lead to the sources at its end."""
    return format_html(
        '<!doctype html><html><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="{}">'
        "<title>{}</title><style>{}</style></head>"
        "<body>{}</body></html>",
        POLICY,
        answer.question,
        STYLE,
        body(answer),
    )


def body(answer: ExportedAnswer) -> SafeString:
    """Question, answer and sources, without a page around them."""
    return format_html(
        '<h1>{}</h1>{}<p><em>{}</em></p><h2>Sources</h2><ol class="sources">{}</ol>',
        answer.question,
        text(answer),
        answer.summary,
        format_html_join("", "{}", ((source_item(answer, source),) for source in answer.sources)),
    )


def text(answer: ExportedAnswer) -> SafeString:
    """The answer with links to its own list of sources."""
    blocks = rendered_blocks(answer.content, answer.citations, top=ON_A_PAGE, link=footnote_link)
    return mark_safe("".join(blocks))


def footnote_link(citation: CitationShown) -> SafeString:
    return format_html('<sup><a href="#source-{}">{}</a></sup>', citation.number, citation.number)


def source_item(answer: ExportedAnswer, source: CitationShown) -> SafeString:
    quotes = format_html_join(
        "; ",
        "<q>{}</q> ({})",
        ((" ".join(c.quote.split()), c.standing) for c in quotes_of(answer, source.number)),
    )
    section = f", {source.section}" if source.section else ""
    return format_html(
        '<li id="source-{}" value="{}">{}, {}{}: {}</li>',
        source.number,
        source.number,
        f"{source.title} {answer.byline(source)}".rstrip(),
        source.place,
        section,
        quotes,
    )
