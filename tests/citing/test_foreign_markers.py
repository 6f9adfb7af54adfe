"""Markers that models write in their own way."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.answers.prompt import ContextItem
from citing.claims import SourceUnit
from citing.foreign_markers import AnswerDecoder, merged
from citing.marker_decoder import CitationMark, Event, Text


def passage(number: int, page: int, text: str) -> ContextItem:
    return ContextItem(f"u{number}", SourceUnit(f"unit{number}", "d", page, text, 0, ()))


PASSAGES = {
    shown.alias: shown
    for shown in (
        passage(1, 4, "The tenant pays 1,200 a month."),
        passage(2, 5, "The dose was halved (95% CI [1, 3])."),
        passage(3, 5, "As shown earlier [7], mice recover."),
        passage(4, 9, "The bridge was closed for 30 months."),
    )
}


def decoded(pieces: list[str]) -> list[Event]:
    decoder = AnswerDecoder(PASSAGES)
    return merged([*(event for piece in pieces for event in decoder.decode(piece)), *decoder.flush()])


def cites(*numbers: int) -> list[Event]:
    return [CitationMark(f"u{number}") for number in numbers]


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        *(("[1]", [1]), ("[u3]", [3]), ("[U3]", [3]), ("【u3】", [3]), ("【3】", [3]), ("[^2]", [2])),
        *(("[3†source]", [3]), ("【3†source】", [3]), ("【3:0†lease.pdf】", [3]), ("[CHUNK:3]", [4])),
        *(("[Source 2]", [2]), ("(chunk 4)", [4]), ("(u4)", [4]), ("[1, 4]", [1, 4]), ("[u1; u2]", [1, 2])),
        *(("[2–4]", [2, 3, 4]), ("[u4:9]", [4]), ("[u4 · p. 9, lines 3–7 · Bridge]", [4])),
        *(("[99]", []), ("[u99]", []), ("【99†source】", []), ("[CHUNK:0]", [1]), ("[CHUNK:77]", [])),
    ],
)
def test_a_marker_of_another_convention_is_read_and_never_shown(written: str, numbers: list[int]) -> None:
    assert decoded([f"It was closed {written}."]) == merged(
        [Text("It was closed "), *cites(*numbers), Text(".")]
    )
    assert decoded([f"It was closed {written}"]) == [Text("It was closed "), *cites(*numbers)]


PRINTABLE = (
    *(
        "[2]",
        "[u2]",
        "[^2]",
        "【2†source】",
        "<cite>u2</cite>",
        "\\cite{u2}",
        "{u2}",
        "²",
        "^2",
        "(source 2)",
    ),
    *("[CHUNK:1]", "[u2](#u2)", "<u2>", "(u2)", "[page 5]", "[Source: u2]", "［2］", "[u2 · p. 5]", "`u2`"),
    *(
        "<sup>2</sup>",
        "［［cite:u2:5］］",
        "[oaicite:2]",
        "[[u2]]",
        "(see u2)",
        "**[u2]**",
        "⟦u2⟧",
        "(2, u2)",
    ),
)


@pytest.mark.parametrize("marker", PRINTABLE)
def test_a_marker_that_a_passage_prints_steers_no_citation_and_stays_in_its_words(marker: str) -> None:
    """Prompt injection: a document that prints markers, quoted by a model that knows no better."""
    printed = f"The rent is due monthly,{marker} in advance."
    decoder = AnswerDecoder(PASSAGES | {"u9": passage(9, 1, printed)})
    events = [*decoder.decode(f"It says: {printed} [u9]"), *decoder.flush()]
    assert merged(events) == [Text(f"It says: {printed} "), *cites(9)]


@pytest.mark.parametrize(("written", "alias"), [("(p. 9)", "u4"), ("(page 4)", "u1"), ("[p. 9]", "u4")])
def test_a_page_that_one_passage_stands_on_is_its_citation(written: str, alias: str) -> None:
    _, mark, _ = decoded([f"Closed {written}."])
    assert isinstance(mark, CitationMark) and mark.alias == alias


def test_a_page_of_several_passages_is_the_one_whose_words_fit_and_one_of_none_stays() -> None:
    assert decoded(["The dose was halved (p. 5)."])[1] == CitationMark("u2", 5)
    assert decoded(["Mice recover (p. 5)."])[1] == CitationMark("u3", 5)
    assert decoded(["See the annex (p. 77)."]) == [Text("See the annex (p. 77).")]


@pytest.mark.parametrize(
    "text",
    [
        *("[1](http://x.y) is a link", "[1]: http://x.y", "`a[1]` and\n```\nb[2]\n```\n", "[2019]", "[0]"),
        *("as earlier [7], mice", "the dose (95% CI [1, 3])", "a 95 % CI [2, 4]", "[sic]", "[see note 1]"),
        *("(u.s.)", "(p. m.)", "(a) first, (b) second, (3) third", "[ ] todo", "[x] done", "【注】", "([1"),
        "a [long bracket " + "that goes on " * 20 + "1]",
    ],
)
def test_what_may_mean_something_else_stays(text: str) -> None:
    assert decoded([text]) == [Text(text)]


STREAMS = [
    "It was closed [1][u3] for 30 months【4†source】, and (p. 9) more. ",
    "See [1](http://x.y), [[cite:u2:5|dose]] and [CHUNK:3], [[cite:u1]] [2].\n",
    "`a[1]` ([2]) [([3])] [u1, u4] (chunk 2) [99] (p. 5) [sic] [1",
    "[u4 · p. 9, lines 3–7 · Bridge] [[1]] [^1]: note",
]


@given(st.data())
def test_any_split_gives_the_same_events(data: st.DataObject) -> None:
    parts = st.lists(
        st.sampled_from([*STREAMS, "[", "]", "(", "【", "】", "1", "u3", "†", "`", "\n", "p. 5"])
    )
    stream = "".join(data.draw(parts))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=40)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert decoded(pieces) == decoded([stream])


@given(st.lists(st.sampled_from(["[1]", "【u3】", "[3†source]", "[CHUNK:3]", "word ", ". ", "[u9]", "\n"])))
def test_nothing_of_them_reaches_the_screen(parts: list[str]) -> None:
    shown = "".join(event.text for event in decoded(parts) if isinstance(event, Text))
    assert not re.search(r"[\[\]【】†]", shown)


# A thousand answers in all styles: (written, passages).
STYLES = [
    *(
        ("[1]", [1]),
        ("[1][2]", [1, 2]),
        ("[u1]", [1]),
        ("[u2, u4]", [2, 4]),
        ("【1†source】", [1]),
        ("^4", [4]),
    ),
    *(("[CHUNK:0:PAGE:4]", [1]), ("[CHUNK:1:PAGE:4]", [1]), ("[CHUNK:3:PAGE:9]", [4]), ("(source 1)", [1])),
    *(("[p. 9]", [4]), ("[p. 4]", [1]), ("[2-4]", [2, 3, 4]), ("[^2]", [2]), ("[[cite:u3:5]]", [3])),
    *(("[Source: 4]", [4]), ("(u2)", [2]), ("^[3]", [3]), ("[[cite:u1:4|The tenant pays]]", [1])),
]
VALUES = ["11.6%", "13.9 %", "£2,400,000", "2021", "30 months", "in the range", "(p < 0.05)", "**bold**"]
PLAIN = ["on [0, 1]", "the title [2019]", "a 95% CI [1, 3]", "`x[1]`", "10^6 m^2", "[sic]", "f = [2]"]
PLACES = [
    "{} {}.",
    "- {}{}\n",
    "| {} {} | 3 |\n",
    "**{}{}** ",
    "{} {}, and more.\n",
    "> {} {}\n",
    "1. {} {};\n",
]


def test_no_marker_of_a_thousand_answers_stays_raw_and_no_other_text_vanishes() -> None:
    chance = random.Random(49)
    for _ in range(1000):
        answer, wanted, kept = "", [], []
        for _ in range(chance.randint(1, 6)):
            written, numbers = chance.choice(STYLES)
            value = chance.choice(VALUES)
            power = written == "^4" and not value[-1].isalpha() and value[-1] not in "%)"
            if power or (value == "in the range" and written in ("[u2, u4]", "[2-4]")):
                value = "of the tenants"
            wanted.append((numbers, written))
            answer += chance.choice(PLACES).format(value, written)
            kept.append(value)
            if chance.random() < 0.5:
                kept.append(chance.choice(PLAIN))
                answer += f" It is {kept[-1]}. "
        cuts = sorted(chance.randint(0, len(answer)) for _ in range(chance.randint(0, 30)))
        pieces = [answer[a:b] for a, b in zip([0, *cuts], [*cuts, len(answer)], strict=True)]
        events = decoded(pieces)
        cited = [int(event.alias[1:]) for event in events if isinstance(event, CitationMark)]
        shown = "".join(event.text for event in events if isinstance(event, Text))
        assert cited == [number for numbers, _ in wanted for number in numbers], answer
        for _, written in wanted:
            assert shown.count(written) == sum(text.count(written) for text in kept), (written, answer)
        for text in kept:
            assert shown.count(text) >= 1, (text, answer)
