"""Exports of an answer by a hostile model are safe."""

from __future__ import annotations

import io
import re

import pytest
from docx import Document as read_docx
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chat.answers.events import CitationShown
from chat.exports.html_and_evidence import as_html, body
from chat.exports.markdown import Export, ExportPart, as_markdown, as_plain, as_rich
from chat.exports.word import as_docx
from chat.markdown.source_map import parsed_blocks
from tests.chat.markdown.test_markdown_html import citation
from tests.chat.markdown.test_overlay import HOSTILE, MARK, MARKDOWN, built, read

FETCHED = [
    *("![x](http://evil.example/p.png)", "![x][r]", "[r]: http://evil.example/p.png\n\n", "!", "![", "](x)"),
    *("<img src=http://evil.example/p.png>", "<iframe src=//e>", "<!-- ", "<b>", "</p>", "<?php", "<!X>"),
    *("```{=html}\n<img src=x>\n```\n", "`<b>`{=html}", "$a <img src=x> b$", "$![x](y)$", "\\(<b>=1\\)"),
    *("[^1]", "[^1]: forged\n\n", "[2]", "\\[^2]", "&#91;^1]", "&lt;img src=x&gt;", "\\input{/etc/passwd}"),
]
PIECES = st.lists(st.sampled_from([*MARKDOWN, *HOSTILE, *FETCHED, MARK, MARK, MARK]), max_size=14)


def answer_of(content: str, citations: list[CitationShown], question: str = "What?") -> Export:
    part = ExportPart("", content, tuple(citations))
    return Export(question, (part,), references=(content,))


def permissive() -> MarkdownIt:
    """As other programs read Markdown: raw HTML, pictures and references are on."""
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def kinds(markdown: str) -> set[str]:
    tokens = permissive().parse(markdown)
    return {leaf.type for token in tokens for leaf in [token, *(token.children or [])]}


def footnotes(markdown: str) -> list[str]:
    """The numbers of footnotes outside code, where nothing is escaped."""
    inlines = [token for block in parsed_blocks(markdown) for token in block if token.type == "inline"]
    words = [
        "".join(leaf.content if leaf.meta.get("verbatim") else "\0" for leaf in token.children or [])
        for token in inlines
    ]
    return [number for line in words for number in re.findall(r"\[\^(\d+)\]", line)]


@given(PIECES)
def test_markdown_has_no_element_no_picture_and_no_footnote_but_ours(pieces: list[str]) -> None:
    content, citations = built(pieces)
    markdown = as_markdown(answer_of(content, citations))
    assert not kinds(markdown) & {"html_block", "html_inline", "image"}
    assert sorted(footnotes(markdown)) == sorted(2 * [str(shown.number) for shown in citations])


@given(PIECES)
def test_html_docx_and_rich_text_cite_what_was_cited(pieces: list[str]) -> None:
    content, citations = built(pieces)
    answer = answer_of(content, citations)
    numbers = sorted(str(shown.number) for shown in citations)
    for html in (as_html(answer), as_rich(answer), body(answer)):
        assert not re.search(r"<(img|iframe|script|object|link|video|audio|embed|base|form)\b", html)
        assert not re.search(r"<[^>]+\s(src|srcset|style|on\w+)\s*=", html.replace("<style>", ""))
        assert sorted(re.findall(r"<sup>(?:<a [^>]*>)?(\d+)", html)) == numbers
    document = read_docx(io.BytesIO(as_docx(answer)))
    cells = [
        p for table in document.tables for row in table.rows for cell in row.cells for p in cell.paragraphs
    ]
    marks = [p._p.xpath(".//w:footnoteReference") for p in [*document.paragraphs, *cells]]
    assert sum(map(len, marks)) == len(numbers)


@given(PIECES, PIECES)
def test_a_hostile_answer_changes_nothing_of_the_next_in_a_conversation(
    first: list[str], last: list[str]
) -> None:
    texts = [built(pieces) for pieces in (first, last)]
    parts = tuple(ExportPart("<b>Why?</b> $x$", content, tuple(citations)) for content, citations in texts)
    export = Export("What", parts, references=("<img src=x> [^1] $x$",))
    numbers = sorted(str(shown.number) for shown in export.citations)
    markdown = as_markdown(export)
    assert not kinds(markdown) & {"html_block", "html_inline", "image"}
    assert "\n## \\<b\\>Why?" in markdown and markdown.count("\n## References\n") == 1
    html = as_html(export)
    assert html.count("<h2>&lt;b&gt;Why?&lt;/b&gt; $x$</h2>") == 2
    assert sorted(re.findall(r"<sup><a [^>]*>(\d+)", html)) == numbers
    headings = [
        p.text for p in read_docx(io.BytesIO(as_docx(export))).paragraphs if p.style.name == "Heading 2"
    ]
    assert headings[0] == "<b>Why?</b> $x$" and headings[-1] == "Sources"


@given(PIECES)
def test_plain_text_numbers_nothing_but_citations(pieces: list[str]) -> None:
    content, citations = built(pieces)
    words = as_plain(answer_of(content, citations)).partition("\n\n[1] T")[0]
    code = re.search(r"`|~~~|^(    |\t)", content, re.M)
    if not code:
        assert sorted(re.findall(r"\[(\d+)\]", words)) == sorted(str(shown.number) for shown in citations)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (
            "## The lease\n\n**Term.** Two years" + MARK + ".",
            "The lease\n\nTerm. Two years[1].\n\n[1] T, p. 5",
        ),
        ("- one\n- two\n\n1. a\n2. b", "- one\n- two\n\n1. a\n2. b\n"),
        ("| a | b |\n|---|---|\n| 1" + MARK + " | `2` |", "a\tb\n1[1]\t2\n\n[1] T, p. 5"),
        ("As in [1](http://x.y) and &#91;2&#93;", "As in 1 and (2)"),
    ],
)
def test_copied_text_is_clean(content: str, shown: str) -> None:
    _, citations = built([content])
    assert as_plain(answer_of(content, citations)).startswith(shown)


def test_hostile_words_of_a_document_stay_words_in_the_notes() -> None:
    hostile = citation(
        quote="![x](http://evil.example) <img src=x> [^2]: y", title="<b>*T*</b>", lines=(3, 7), first_line=1
    )
    markdown = as_markdown(answer_of(f"It ends{MARK}.", [hostile], "<img src=x> [^1]"))
    assert not kinds(markdown) & {"html_block", "html_inline", "image", "em_open", "link_open"}
    assert "p. 5, lines 3–7" in markdown
    assert "lines 3–7" in read(as_html(answer_of(f"It ends{MARK}.", [hostile]))).text


def test_sources_stay_outside_a_code_block_that_was_cut_off() -> None:
    content, citations = built(["It is" + MARK + "\n\n```py\nx = 1"])
    markdown = as_markdown(answer_of(content, citations))
    assert [token.content for token in permissive().parse(markdown) if token.type == "fence"] == ["x = 1\n"]
