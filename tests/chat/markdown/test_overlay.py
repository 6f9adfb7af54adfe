"""Citations and marks in Markdown change no word of it, and cannot be forged."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.answers.events import CitationShown
from chat.markdown.html import StreamRenderer, render_message
from chat.markdown.overlay import laid_out, marked_text
from chat.markdown.source_map import shown_characters
from citing.marker_decoder import format_marker
from tests.chat.markdown.test_markdown_html import UNIT, citation
from text.sentences import Span

MARK = format_marker(UNIT, 5)
HOSTILE = [
    *("&#xe100;", "&#xE001;", "&#57600;", "\ue100", "\ue000", "\uf8ff", "\U000f0000"),
    *("\u202e", "&#x202e;", "\u2066", "&#8297;", "\u200b", "\U000e0041"),
    *("<sup>", "</sup>", '<a class="cite" data-citation="x">1</a>', "<mark>", "</mark>", "&lt;mark&gt;"),
    *("[[cite:u7:5]]", "&#91;[cite:u7:5]]", f"&#91;{MARK[1:]}", "¹", "[1]", "citation;0;", "mark_close;;"),
]
MARKDOWN = [
    *("Word ", "two words. ", "**bold** ", "**Lead-in.** ", "*it* ", "~~gone~~ ", "`code` ", "\n", "\n\n"),
    *(
        "# Head\n",
        "- item\n",
        "  - inner\n",
        "1. one\n",
        "> quote\n",
        "---\n",
        "===\n",
        "```py\n",
        "    code\n",
    ),
    *("| 2018 | b |\n", "|---|---|\n", "| x \\| y | **z** |\n", "|", "  \n", "\\*", "&amp; ", "\t", "\r\n"),
    *(
        "[l](http://x.y) ",
        "<http://a.b> ",
        "$x_1*y*z^*$ ",
        "\\(a_b\\) ",
        "\n\\[\nx_1\n+ y\n\\]\n",
        "$$\\frac{1}",
        "{2}$$",
        "**",
        "*",
        "_",
        "`",
        "日本。",
        "العربية ",
    ),
]
PIECES = st.lists(st.sampled_from([*MARKDOWN, *HOSTILE, MARK, MARK]), max_size=16)
CUTS = st.lists(st.integers(0, 400), max_size=10)


class _Words(HTMLParser):
    """The text of HTML, formulas as TeX, without the numbers of citations, and the ids of these."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.cited: list[str] = []
        self._in_citation = self._in_formula = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "math":
            self._in_formula = True
            self.text += dict(attrs)["alttext"] or ""
        if tag == "sup":
            self._in_citation = True
        if key := dict(attrs).get("data-citation"):
            self.cited.append(key)

    def handle_endtag(self, tag: str) -> None:
        self._in_citation = self._in_citation and tag != "sup"
        self._in_formula = self._in_formula and tag != "math"

    def handle_data(self, data: str) -> None:
        self.text += "" if self._in_citation or self._in_formula else data


def read(html: str) -> _Words:
    words = _Words()
    words.feed(html)
    words.close()
    return words


def said(text: str) -> str:
    return "".join(text.split())


def split_content(content: str) -> list[str]:
    """Texts and markers, alternately."""
    return re.split(f"({re.escape(MARK)})", content)


def built(pieces: list[str]) -> tuple[str, list[CitationShown]]:
    content = "".join(pieces)
    return content, [citation(n + 1, id=f"c{n}") for n in range(content.count(MARK))]


@given(PIECES, st.lists(st.tuples(st.integers(0, 300), st.integers(0, 60)), max_size=4))
def test_marks_and_citations_change_no_word(pieces: list[str], spans: list[tuple[int, int]]) -> None:
    content, citations = built(pieces)
    marks = [Span(start, start + length) for start, length in spans]
    plain = read(render_message(marked_text(content)[0].text, []))
    html = render_message(content, citations, marks)
    assert said(read(html).text) == said(plain.text)
    assert sorted(read(html).cited) == sorted(shown.id for shown in citations)
    assert html.count("<mark") == html.count("</mark>")


@given(PIECES, CUTS)
def test_an_answer_cut_anywhere_shows_the_words_and_citations_it_has(
    pieces: list[str], cuts: list[int]
) -> None:
    content, citations = built(pieces)
    renderer, blocks = StreamRenderer(), dict[int, str]()
    so_far, cited = "", 0
    for piece in split_content(content):
        if piece == MARK:
            blocks.update(renderer.cite(citations[cited]))
            cited, so_far = cited + 1, so_far + MARK
        else:
            edges = sorted({min(cut, len(piece)) for cut in cuts} | {0, len(piece)})
            for start, end in pairwise(edges):
                blocks.update(renderer.write(piece[start:end]))
            so_far += piece
        whole = "".join(f'<div data-block="{n}">{html}</div>' for n, html in sorted(blocks.items()) if html)
        assert read(whole).cited == read(render_message(so_far, citations[:cited])).cited
        assert said(read(whole).text) == said(read(render_message(so_far, citations[:cited])).text)
    assert whole == render_message(content, citations)


@given(st.lists(st.sampled_from([*HOSTILE, "Word ", "\n\n", "**", "`", "| a |\n|---|\n"]), max_size=12))
def test_nothing_a_model_writes_becomes_a_citation_or_a_mark(pieces: list[str]) -> None:
    content = "".join(pieces)
    html = render_message(content, [citation()])
    assert not re.search(r"<(sup|mark)\b|<[^>]*(data-citation|class)=", html)
    assert not read(html).cited
    assert shown_characters(html) == html


@given(PIECES)
def test_a_citation_can_be_written_into_the_source_where_it_is_shown(pieces: list[str]) -> None:
    content, _ = built(pieces)
    text, _ = marked_text(content)
    laid = laid_out(text.text, text.places)
    assert all(0 <= end <= len(text.text) + 1 for end in laid.ends)
    assert len(laid.ends) == len(laid.homes) == len(text.places)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (f"**Dose.** 5 mg a day {MARK}.", "<p><strong>Dose.</strong> 5 mg a day¹.</p>"),
        (f"**5 mg a day{MARK}**", "<p><strong>5 mg a day¹</strong></p>"),
        (f"**5 mg**{MARK} a day", "<p><strong>5 mg</strong>¹ a day</p>"),
        (f"| 2018 {MARK} | b |\n|---|---|\n", "<th>2018¹</th>"),
        (f"| 2018 | b |\n|---|---|\n| {MARK} | 2 |", "<td>¹</td>"),
        (f"| 2018 | b |\n|---|---|\n| 1 | 2 |{MARK}\n", "<td>2¹</td>"),
        (f"[the act{MARK}](http://x.y) says", "the act</a> (x.y)¹ says"),
        (f"`a{MARK}b` says", "<code>ab</code>¹ says"),
        (f"- one\n- two {MARK}\n- three", "<li>two¹</li>"),
        (f"The lease ends.\n{MARK}\nIt is renewed.", "<p>The lease ends.¹\nIt is renewed.</p>"),
        (f"The lease ends. {MARK} \nIt is renewed.", "<p>The lease ends.¹\nIt is renewed.</p>"),
        (f"```\ncode\n```\n{MARK}", "</code></pre>\n<p>¹</p>"),
        (f"# The lease {MARK}\n", "The lease¹</h4>"),
        (f"#### Lease › Term {MARK}\n", '<h4 class="caption">Lease › Term¹</h4>'),
        (f"Up to {MARK}30 days", "Up to¹ 30 days"),
    ],
)
def test_a_citation_stands_at_the_words_before_it(content: str, shown: str) -> None:
    html = render_message(content, [citation()])
    assert shown in re.sub(r"<sup>.*?</sup>", "¹", html)


@pytest.mark.parametrize(
    "table",
    [
        "| 2018 | 2017 |\n|---|---|\n| 1,577 | 1,373 |",
        "> | 2018 |\n> |---|\n> | 5 |",
        "- | a |\n  |---|\n  | 5 |",
    ],
)
def test_a_table_survives_any_mark(table: str) -> None:
    for start in range(len(table)):
        for end in range(start + 1, len(table) + 1):
            html = render_message(table, [], [Span(start, end)])
            assert html.count("<td") == html.count("</td>") >= 1 and "|" not in html
            marked = "".join(re.findall(r"<mark[^>]*>(.*?)</mark>", html))
            assert said(marked) == re.sub(r"[|\s>-]", "", table[start:end])


def test_a_bold_lead_in_survives_a_mark_while_it_is_streamed() -> None:
    text = "**Liability.** The supplier is liable.\n\n**Term.** Two years."
    html = render_message(text, [], [Span(0, 38), Span(40, len(text))])
    assert "**" not in html and html.count("<strong>") == 2
    assert html.count("<mark") == 2
