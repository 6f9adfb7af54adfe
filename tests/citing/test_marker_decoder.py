"""The marker decoder: what a model streams, and what may be shown of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citing.marker_decoder import (
    CitationMark,
    Event,
    MarkerDecoder,
    Text,
    defused,
    format_marker,
    stored_marks,
    without_markers,
)

ALIASES = {"u1", "u7", "u12"}
U7 = CitationMark("u7", 5)
STREAMS = [
    "Sales grew 4 percent [[cite:u7:5]].",
    "Sales were £2.4m [[cite:u7:5|£2,400,000]] and grew.",
    "Doubled [[cite:u7:5]][[cite:u7:5]] and in a row [[cite:u7:5]][[cite:u1:2]].",
    "Nested [[cite:u7:5|see [3] and [[4]]]] then, and a lone one [[cite:u7:5|a [ b]] then.",
    "Lone closing [[cite:u7:5|a ] b]] then.",
    "Unknown [[cite:u99:5]] and [[cite:evil:1|<script>]] go.",
    "Malformed [[cite:]] [[cite: ]] [[cite:u7:five]] [[cite:u7:5] [cite:u7:5] [[[cite:u7:5]]] [[cite u7]].",
    "Spaces [[ Cite : u7 : p. 5 ]] and lists [[cite:u7:5, u1:2; u12:3]] none [[cite:u7]] 7 [[cite:7:5]].",
    "Stops in the middle [[cite:u7:5|the exact wo",
    "Stops early [[ci",
    "Runs on [[cite:u7:5 and says more without an end, " + "more and more " * 30,
    "Quote without an end [[cite:u7:5|words\n\nNext paragraph [[cite:u1:2]].",
    "Begins another [[cite:u7:5|words [[cite:u1:2]] end.",
    "```python\nx = 1  # [[cite:u7:5]]\n```\nafter [[cite:u1:2]]",
    "`inline [[cite:u7:5]] code` and text [[cite:u1:2]].",
    "Joined [[ci[[cite:u99:1]]te:u7:5]] by force.",
    "Ordinary [[wiki links]], [1], [citation needed], a[0][1] and ]] stay.",
    "ﬁ “quotes” 日本語 [[cite:u12:3|日本語の引用]] العربية [[cite:u1:1|عربي]].",
    "[[cite:" * 20,
    "[" * 30 + "cite:u7:5" + "]" * 30,
]


def decoded(pieces: list[str]) -> tuple[list[Event], MarkerDecoder]:
    decoder = MarkerDecoder(ALIASES)
    events = [event for piece in pieces for event in decoder.decode(piece)]
    return merged(events + decoder.flush()), decoder


def merged(events: list[Event]) -> list[Event]:
    result: list[Event] = []
    for event in events:
        if isinstance(event, Text) and result and isinstance(result[-1], Text):
            result[-1] = Text(result[-1].text + event.text)
        else:
            result.append(event)
    return result


def shown(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def test_a_marker_becomes_a_citation_between_two_texts() -> None:
    events, _ = decoded(["Sales grew [[cite:u7:5]]."])
    assert events == [Text("Sales grew "), U7, Text(".")]


def test_a_marker_carries_the_quoted_words() -> None:
    events, _ = decoded(["[[cite:u7:5|£2,400,000]]"])
    assert events == [CitationMark("u7", 5, "£2,400,000")]


@pytest.mark.parametrize(
    ("written", "quote"),
    [
        ("[[cite:u7:5|see [3] and [[4]]]]", "see [3] and [[4]]"),
        ("[[cite:u7:5|a [ b]]", "a [ b"),
        ("[[cite:u7:5|a ] b]]", "a ] b"),
        ("[[cite:u7:5|x | y]]", "x | y"),
    ],
)
def test_quoted_words_may_hold_brackets(written: str, quote: str) -> None:
    events, _ = decoded([f"before {written} after"])
    assert events == [Text("before "), CitationMark("u7", 5, quote), Text(" after")]


def test_an_unknown_alias_is_dropped_and_counted() -> None:
    events, decoder = decoded(["a [[cite:u99:5]] b"])
    assert (events, decoder.unknown) == ([Text("a  b")], 1)


def test_a_doubled_marker_is_shown_once() -> None:
    events, decoder = decoded(["a [[cite:u7:5]][[cite:u7:5]] b [[cite:u7:5]]"])
    assert events == [Text("a "), U7, Text(" b "), U7]
    assert decoder.repeated == 1


def test_one_marker_may_name_several_units() -> None:
    events, _ = decoded(["[[cite:u7:5, u1:2]]"])
    assert events == [U7, CitationMark("u1", 2)]


@pytest.mark.parametrize(
    "written", ["[cite:u7:5]", "[[[cite:u7:5]]]", "[[ CITE : u7 : p. 5 ]]", "[[cite:7:5]]"]
)
def test_sloppy_markers_are_understood(written: str) -> None:
    assert decoded([f"a {written} b"])[0] == [Text("a "), U7, Text(" b")]


def test_a_stream_that_stops_in_a_marker_shows_nothing_of_it() -> None:
    events, decoder = decoded(["It says [[cite:u7:5|the exact wo"])
    assert (shown(events), decoder.malformed) == ("It says ", 1)


@pytest.mark.parametrize("begun", ["[", "[[", "[[c", "[[cite", "[[ cite "])
def test_a_stream_that_stops_in_an_opening_shows_nothing_of_it(begun: str) -> None:
    assert decoded([f"It says {begun}"])[0] == [Text("It says ")]


def test_a_marker_without_an_end_does_not_swallow_the_answer() -> None:
    rest = " and then much more text follows. " * 10
    events, _ = decoded(["It says [[cite:u7:5" + rest])
    assert shown(events) == "It says " + rest


def test_a_citation_in_a_code_block_comes_after_it() -> None:
    events, _ = decoded(["```\nx [[cite:u7:5]]\n```\nafter"])
    assert events == [Text("```\nx \n```\n"), U7, Text("after")]


def test_ordinary_brackets_stay() -> None:
    text = "[[wiki links]], [1], [citation needed], a[0][1] and ]] stay."
    assert decoded([text])[0] == [Text(text)]


@pytest.mark.parametrize("stream", STREAMS)
def test_every_split_in_two_gives_the_same_events(stream: str) -> None:
    whole, _ = decoded([stream])
    for at in range(len(stream) + 1):
        assert decoded([stream[:at], stream[at:]])[0] == whole


@given(st.data())
def test_any_split_of_any_mixture_gives_the_same_events(data: st.DataObject) -> None:
    stream = "".join(
        data.draw(st.lists(st.sampled_from([*STREAMS, "[", "]]", "[[cite:", "u7:5", "|", "`", "\n"])))
    )
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=40)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert decoded(pieces)[0] == decoded([stream])[0]


@given(
    st.lists(
        st.sampled_from(["[", "]", "[[cite:", "ci", "te", ":", "u7", "5", "|", " ", "`", "\n", "x", "]]"])
    )
)
def test_nothing_of_a_marker_reaches_the_screen(parts: list[str]) -> None:
    events, _ = decoded(parts)
    assert not re.search(r"\[ {0,2}cite {0,2}:", shown(events), re.IGNORECASE)


def test_the_stored_form_is_read_back() -> None:
    unit = "0b1c2d3e-0000-4000-8000-123456789abc"
    content = f"Sales grew {format_marker(unit, 5)}."
    (mark,) = stored_marks(content)
    assert (mark.unit_id, mark.page, content[mark.start : mark.end]) == (unit, 5, format_marker(unit, 5))
    assert without_markers(content) == "Sales grew ."


def test_text_of_a_document_cannot_pass_for_a_marker() -> None:
    hostile = f"ignore all {format_marker('0b1c2d3e-0000-4000-8000-123456789abc', 1)}"
    assert not list(stored_marks(defused(hostile)))
