"""Untrusted Markdown as HTML: safe, and the same however it is streamed."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from chat.answers.events import CitationShown
from chat.markdown.html import StreamRenderer, clean, in_block, render_message, spoken, superscript
from text.sentences import Span

UNIT = "0123456789abcdef0123456789abcdef"
MARK = f"[[cite:{UNIT}:5]]"


def citation(number: int = 1, **values: object) -> CitationShown:
    defaults: dict[str, object] = {
        "id": f"c{number}",
        "number": number,
        "document": "d",
        "title": "T",
        "page": 5,
        "unit": UNIT,
        "section": "",
        "lines": (1, 1),
        "claim": "",
        "quote": "",
        "href": "/documents/d/?page=5&unit=u",
    }
    return CitationShown(**{**defaults, **values})


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt&colon;alert(1))",
        "[a](data:text/html,<script>alert(1)</script>)",
        "![tracker](https://evil.example/p.png)",
        "<svg/onload=alert(1)>",
        "<iframe src=//evil.example></iframe>",
        "```html\n<script>alert(1)</script>\n```",
        '[a](https://x.example "onmouseover=alert(1)")',
        "<a href='https://x.example' onclick='alert(1)'>x</a>",
        "[x]: javascript:alert(1)\n\n[x]",
        "<style>body{display:none}</style>",
        '<sup><a data-citation="forged">9</a></sup>',
    ],
)
def test_nothing_a_model_writes_runs_or_calls_home(hostile: str) -> None:
    html = render_message(f"Before {hostile} after.", [])
    assert not re.search(r"<(script|img|svg|iframe|style|sup|form|input)\b", html, re.I)
    assert not re.search(r"<[^>]*\son\w+\s*=", html, re.I)
    assert not re.search(r"href=\W*(javascript|data):", html, re.I)
    assert not re.search(r"<[^>]*\b(src|srcset|style|poster|background)\s*=", html, re.I)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[your bank](https://evil.example/login)", ">your bank</a> (evil.example)"),
        ("[https://a.example](https://a.example@evil.example)", ">https://a.example</a> (evil.example)"),
        ("[bänk](https://bänk.example)", "</a> (xn--bnk-qla.example)"),
        ("<https://evil.example/x>", ">https://evil.example/x</a>."),
        ("[here](//evil.example)", "here."),
        ("[here](/account/tokens/)", "here."),
        ("[here](mailto:a@evil.example)", "here."),
        ("[here](ftp://evil.example)", "here."),
        ("[here](https:evil.example)", "here."),
    ],
)  # fmt: skip
def test_a_link_says_where_it_leads_and_leads_to_the_web_only(written: str, shown: str) -> None:
    html = render_message(f"Sign in {written}.", [])
    assert shown in html
    assert html.count("<a ") == html.count("</a>") == ("</a>" in shown)
    assert all("nofollow" in link for link in re.findall(r"<a [^>]*>", html))


def test_a_citation_is_a_link_with_its_data_and_everything_in_it_escaped() -> None:
    shown = citation(2, verdict="exact", title='"><script>', href='/x?"><script>')
    html = render_message(f"Sales grew {MARK}.", [shown])
    assert 'href="/x?&quot;&gt;&lt;script&gt;" data-citation="c2" data-number="2"' in html
    assert 'data-verdict="exact"' in html and ">2</a></sup>." in html


def test_a_marker_inside_a_link_target_cannot_break_out_of_the_attribute() -> None:
    html = render_message(f'[a](https://x.example/{MARK} "{MARK}") [b]({MARK})', [citation()] * 3)
    assert not re.search(r"<[^>]*<sup", html)


def test_private_characters_of_a_model_forge_no_citation() -> None:
    html = render_message("Grew \ue100\ue101\ue000 much.", [citation()])
    assert "sup" not in html and "mark" not in html


def test_a_marker_without_its_citation_vanishes() -> None:
    assert render_message(f"Grew {MARK}.", []) == '<div data-block="0"><p>Grew.</p>\n</div>'


def test_cells_aligned_right_are_and_no_other_class_is_let_through() -> None:
    html = render_message('| a | b |\n|---|--:|\n| <td class="end menu"> | 2 |', [])
    assert '<td>&lt;td class="end menu"&gt;</td>\n<td class="end">2</td>' in html.replace("&quot;", '"')
    assert "style" not in html
    assert 'class="end">2' in clean('<table><tr><td class="menu end" style="color: red">2</td></tr></table>')


def test_a_citation_is_spoken_in_the_language_of_the_page() -> None:
    judged = citation(matched=True, judged_by="minicheck", judgement="supported", outcome_text="gefunden")
    with override("de"):
        assert spoken(judged) == (
            "Zitat 1, Seite 5, gefunden, von Pincite zugeordnet, "
            "minicheck meint, dass die Quelle diese Aussage stützt."
        )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Of $E=mc^2$.", "<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>."),
        (r"Of \(\sqrt{x}\).", "<msqrt><mi>x</mi></msqrt></math>."),
        ("$$\\frac{1}{2}$$", '<math display="block"'),
        ("So\n\\[\na\n+ b\n\\]\nthen", "<mi>a</mi><mo>+</mo><mi>b</mi></math></p>"),  # no list
        ("- So\n  \\[\n  a\n  - b\n  \\]\n- two", "<mo>−</mo><mi>b</mi></math></li>\n<li>two</li>"),
        (r"\[\begin{aligned}a&=b\end{aligned}\]", '<mtd class="end"><mi>a</mi></mtd><mtd class="start">'),
        (r"$\text{<script>x</script>}$", "<mtext>&lt;script&gt;x&lt;/script&gt;</mtext>"),
        ("| a |\n|---|\n| $x^2$ |", "<msup><mi>x</mi><mn>2</mn></msup></math></td>"),
    ],
)
def test_formulas_are_typeset(text: str, shown: str) -> None:
    assert shown in render_message(text, [])


@pytest.mark.parametrize(
    "text",
    [
        "It cost $5 then and $6 now, or $US and AU$ each.",
        r"$\unknown{x}$ and $\frac{1$",
        r"$\href{javascript:alert(1)}{x}$",
        r"$\newcommand{\a}{\a\a}\a$",
        "\\[\nx^2\n\n- never closed",
        "`$x^2$`",
    ],
)
def test_what_is_no_formula_stays_as_it_was_written(text: str) -> None:
    assert "<math" not in render_message(text, [])


def test_a_formula_keeps_whole_under_marks_and_has_no_style_of_its_own() -> None:
    text = r"Not $\color{red}{x^2}$ cited."
    html = render_message(text, [], [Span(0, 8), Span(12, 20)])
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in html
    assert "style" not in html


def test_uncited_claims_are_marked_and_elements_stay_nested() -> None:
    text = "Cited. Not **cited at all**.\n\nHalf *of it. Not* this."
    spans = [Span(7, 28), Span(text.index("Half"), text.index(" Not*"))]
    html = render_message(text, [], spans)
    assert '<mark class="uncited">Not <strong>cited at all</strong>.</mark>' in html
    assert '<mark class="uncited">Half </mark><em><mark class="uncited">of it.</mark> Not</em> this.' in html


def test_blocks_are_numbered_in_the_page_as_in_the_stream() -> None:
    html = render_message("# Head\n\nText\n\n- a\n- b\n\n```\ncode\n```\n", [])
    assert re.findall(r'data-block="(\d)"', html) == ["0", "1", "2", "3"]


def test_headings_go_below_what_stands_over_them_and_leave_no_level_out() -> None:
    html = render_message("#### A\n\n# B\n\n### C\n\n> ###### D\n\n## E\n\n#### F\n\nG\n===\n", [], top=3)
    assert re.findall(r"<h(\d)[^>]*>(.)</h\1>", html) == [*zip("3345453", "ABCDEFG", strict=True)]
    deep = render_message("# A\n\n## B\n\n### C\n\n#### D\n", [], top=4)
    assert re.findall(r"<h(\d)[^>]*>", deep) == ["4", "5", "6", "6"]


PIECES = [
    "# H\n",
    "\n\n### H\n\n",
    "\n\n",
    "Word ",
    "**bold** ",
    "- item\n",
    "1. one\n",
    "`code` ",
    "```\n",
    "¦ a ¦ b ¦\n",
    "¦---¦---¦\n",
    "> quote\n",
    "    indented\n",
    "---\n",
    "===\n",
    "[l](http://x.y) ",
    "[r]: http://x.y\n",
    "<b>",
    "\\*",
    "日本 ",
]
TEXTS = st.lists(st.sampled_from([piece.replace("¦", "|") for piece in PIECES]), max_size=14)


@given(TEXTS, st.lists(st.integers(0, 200), max_size=12))
def test_the_last_state_of_each_streamed_block_is_the_stored_rendering(
    pieces: list[str], cuts: list[int]
) -> None:
    text = "".join(pieces)
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    renderer, blocks = StreamRenderer(), {}
    for start, end in pairwise(places):
        blocks.update(renderer.write(text[start:end]))
    whole = "".join(in_block(number, html) for number, html in sorted(blocks.items()) if html)
    assert whole == render_message(text, [])


def test_streamed_citations_come_out_as_stored_ones() -> None:
    renderer, blocks, shown = StreamRenderer(), {}, [citation(1), citation(2)]
    for text, cited in (("One", shown[0]), (" two.\n\nThree", shown[1])):
        blocks.update(renderer.write(text))
        blocks.update(renderer.cite(cited))
    blocks.update(renderer.write("."))
    assert blocks == {
        0: f"<p>One{superscript(shown[0])} two.</p>\n",
        1: f"<p>Three{superscript(shown[1])}.</p>\n",
    }
