"""Letter-spaced words are words; hyphens of compounds stay at the end of a line."""

from __future__ import annotations

import pymupdf
import pytest

from pdf.extract.page_content import RawPage
from pdf.extract.word_repair import Vocabulary
from pdf.extract.words import RawWord, Style
from pdf.geometry import PageFrame
from tests.pdf.layout_drawing import Drawing, texts


def spaced(drawing: Drawing, x: float, y: float, word: str, gap: float) -> float:
    """Draw each letter apart; returns the x where the last one ends."""
    for letter in word:
        drawing.text(x, y, letter)
        x += pymupdf.get_text_length(letter, fontsize=10) + gap
    return x - gap


@pytest.mark.parametrize("word", ["Ballenstedt", "niemals", "ABSTRACT", "vermutlich"])
def test_the_letters_of_a_spaced_word_are_one_word(word: str) -> None:
    drawing = Drawing()
    end = spaced(drawing, 72, 100, word, gap=2.6)
    drawing.text(end + 12, 100, "is set in wide letters here.")
    assert word in texts(drawing.units())[0].split()


def test_variables_and_labels_in_order_stay_single_letters() -> None:
    drawing = Drawing()
    end = spaced(drawing, 72, 100, "abcdef", gap=2.6)
    drawing.text(end + 12, 100, "are the corners of the figure.")
    assert "abcdef" not in texts(drawing.units())[0]


def vocabulary_of(*printed: str) -> Vocabulary:
    words = [RawWord(0, 0, 1, 1, text, Style(10.0), 1.0, n) for n, text in enumerate(printed)]
    return Vocabulary([RawPage(1, PageFrame(595, 842), words=words)])


@pytest.mark.parametrize(
    ("printed", "broken", "rest", "kept"),
    [
        (("long-lived",), "long-", "term", "long-"),  # "long" opens another compound
        ((), "self-", "closing", "self-"),
        ((), "well\u2010", "known", "well\u2010"),
        ((), "state-", "of-the-art", "state-"),
        (("transit",), "toll-", "based", "toll-"),
        (
            ("information", "involved", "in-depth"),
            "in-",
            "volves",
            "in",
        ),  # more words begin so than compounds
        (("complex", "authori\u00ad"), "complex-", "ities", "complex"),
        (("start", "starts", "starters", "in"), "start-", "ing", "start"),
        (("authori\u00ad",), "authori\u00ad", "ties", "authori"),
        (("authorities",), "authori-", "ties", "authori"),
        ((), "authori-", "ties", "authori"),
        ((), "sous-", "préfet", "sous-"),
        (("souscription",), "sous-", "crire", "sous"),
        ((), "l’arrière-", "plan", "l’arrière-"),
        ((), "grands-", "parents", "grands-"),
        ((), "part-", "time", "part-"),
        ((), "part-", "ner", "part"),
    ],
)
def test_a_hyphen_stays_where_the_document_writes_compounds(
    printed: tuple[str, ...], broken: str, rest: str, kept: str
) -> None:
    vocabulary = vocabulary_of(*printed, broken, rest)
    assert vocabulary.at_line_end(broken, rest) == (kept, "")
