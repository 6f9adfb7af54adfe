"""What models of many families write: imitated replies, of which no marker or tag is shown and no word lost.

``replies.json`` has families (reasoning before, tokens behind, their form of a marker) and bodies in which
``⟦1⟧`` is a citation of passage 1. Each family writes a third of the bodies.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chat.answers.prompt import ContextItem
from chat.providers.reply_filter import ReplyFilter
from citing.claims import SourceUnit
from citing.foreign_markers import AnswerDecoder
from citing.marker_decoder import CitationMark, Text

DATA = json.loads(Path(__file__).with_name("replies.json").read_text())
WORDS = ("Sales were 12 million.", "Costs fell.", "The lease ends on 3 May 2031.", "A tenant may assign.")
PASSAGES = {
    f"u{n}": ContextItem(f"u{n}", SourceUnit(f"id{n}", "d", n + 20, text, 0, (), title="Report"))
    for n, text in enumerate(WORDS, start=1)
}
SLOT = re.compile(r" ?⟦([\d,]+)⟧")
NOTHING_CITED = ("ChatGPT export", "invented")


def replies() -> Iterator[tuple[dict[str, Any], str]]:
    for number, family in enumerate(DATA["families"]):
        yield from ((family, body) for body in DATA["bodies"][number % 3 :: 3])


REPLIES = list(replies())


def marker(family: dict[str, Any], numbers: list[str]) -> str:
    if (separator := family["together"]) is not None:
        prefix = "u" if separator.startswith("u") else ""
        return family["one"].replace("%L", separator.removeprefix("u").join(prefix + n for n in numbers))
    written = ""
    for n in numbers:
        one = family["one"].replace("%U", f"u{n}").replace("%N", n).replace("%P", str(int(n) + 20))
        written += one.replace("%Z", str(int(n) - 1))
    return written


def spaced(text: str) -> str:
    """Return the text without the spaces that a marker leaves."""
    return re.sub(r"\s+", " ", re.sub(r"\s+(?=[.,;:|。，；])", "", text)).strip()


def read(pieces: list[str]) -> tuple[str, list[str]]:
    """Return the shown text and the cited aliases of a reply that comes in pieces."""
    words, decoder = ReplyFilter(), AnswerDecoder(PASSAGES)
    texts = [*map(words.feed, pieces), words.flush()]
    events = [event for text in texts for event in decoder.decode(text)] + decoder.flush()
    shown = "".join(event.text for event in events if isinstance(event, Text))
    return shown, [event.alias for event in events if isinstance(event, CitationMark)]


def test_there_are_hundreds_of_replies() -> None:
    assert len(REPLIES) >= 300 and len({family["name"] for family, _ in REPLIES}) >= 50


@pytest.mark.parametrize("family", DATA["families"], ids=[family["name"] for family in DATA["families"]])
def test_no_marker_or_tag_is_shown_and_no_word_is_lost(family: dict[str, Any]) -> None:
    chance = random.Random(family["name"])
    for _, body in (reply for reply in REPLIES if reply[0] is family):
        slots = [match[1].split(",") for match in SLOT.finditer(body)]
        written = SLOT.sub(lambda match: f" {marker(family, match[1].split(','))}", body)
        whole = family["before"] + written + family["after"]
        shown, cited = read([whole])
        assert spaced(shown) == spaced(SLOT.sub("", body)), whole
        wanted = [] if family["name"] in NOTHING_CITED else [f"u{n}" for slot in slots for n in slot]
        assert cited == wanted, whole
        cuts = sorted(chance.randint(0, len(whole)) for _ in range(12))
        pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
        assert read(list(whole)) == read(pieces) == (shown, cited), whole


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("<think>\nHmm, 5 < 6.\n</think>\n\nSales rose.", "Sales rose."),
        ("so it rose\n</think>\n\nSales rose.", "Sales rose."),  # the template had opened it
        ("so it rose.</think>\n\nSales rose.\n</think>\nYes.", "Sales rose.\n\nYes."),
        ("The tag </think> ends it.", "The tag  ends it."),
        ("<think>Sales rose.", "Sales rose."),  # never closed: the reply has nothing else
        ("The tag <think> is `<think>`.", "The tag <think> is `<think>`."),
        ("```\n<think>a</think>\n```", "```\n<think>a</think>\n```"),
        (" and costs fell <b", " and costs fell <b"),  # an answer that goes on
        ("Sales < 5 <|b and [1] <", "Sales < 5 <|b and [1] <"),
    ],
)
def test_only_reasoning_and_tokens_of_templates_are_taken_out(written: str, words: str) -> None:
    for size in (1, 3, len(written)):
        reply, shown = ReplyFilter(), ""
        for at in range(0, len(written), size):
            text = reply.feed(written[at : at + size])
            shown = text if reply.took_back else shown + text
        assert shown + reply.flush() == words


@pytest.mark.parametrize("family", DATA["families"], ids=[family["name"] for family in DATA["families"]])
def test_a_stream_cut_inside_a_marker_shows_no_part_of_it(family: dict[str, Any]) -> None:
    if family["name"] == "titles":
        return  # words in brackets stay, until a page behind them says that they are a title
    for body in DATA["bodies"][:3]:
        begun, rest = body.split("⟦1⟧", 1) if "⟦1⟧" in body else (body, "")
        written = marker(family, ["1"]) if rest else ""
        for cut in range(len(written)):
            decoder = AnswerDecoder(PASSAGES)
            events = decoder.decode(begun + written[:cut]) + decoder.flush(is_whole=False)
            shown = "".join(event.text for event in events if isinstance(event, Text))
            assert shown.strip() in (begun.strip(), body.split("⟦")[0].strip()), written[:cut]


@pytest.mark.parametrize(
    "words", ["It fell [see the table of", "It fell (down by half", "x < 5 and y", "a *b"]
)
def test_a_stream_cut_inside_brackets_of_words_keeps_them(words: str) -> None:
    decoder = AnswerDecoder(PASSAGES)
    events = decoder.decode(words) + decoder.flush(is_whole=False)
    assert "".join(event.text for event in events if isinstance(event, Text)) == words
