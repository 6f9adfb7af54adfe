"""Right-to-left words, from characters drawn at known places in any order."""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from collections import Counter
from pathlib import Path

import pymupdf
import pytest

from pdf.layout.pipeline import read_pages
from tests.pdf.layout_drawing import texts

CORPUS = Path("/work/shared/corpus")
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
LAM_ALEF = re.compile("(ل)([اأإآ])")
WIDTH = 6.0
LATIN = "abcdefghijklmnopqrstuvwxyz"


class Glyphs:
    """A page of characters 6 points wide at places of one's own choice, each standing for any letters."""

    def __init__(self) -> None:
        self.document = pymupdf.open()
        self.page = self.document.new_page(width=400, height=200)
        self.codes: dict[str, str] = {}

    def draw(self, x: float, glyphs: list[str] | str, y: float = 100) -> None:
        """Glyphs from left to right as one piece; Courier's letters are 6 points wide at size 10."""
        codes = [self.codes.setdefault(glyph, LATIN[len(self.codes)]) for glyph in glyphs]
        self.page.insert_text((x, y), "".join(codes), fontname="cour", fontsize=10)

    def pdf(self) -> bytes:
        for xref in range(1, self.document.xref_length()):
            if self.document.xref_get_key(xref, "BaseFont") == ("name", "/Courier"):
                self.document.update_stream(cmap := self._new_stream(), self._to_unicode())
                self.document.xref_set_key(xref, "ToUnicode", f"{cmap} 0 R")
        return bytes(self.document.tobytes())

    def texts(self) -> list[str]:
        document = pymupdf.open("pdf", self.pdf())
        return texts([unit for page in read_pages(document, [1]) for unit in page.units])

    def _new_stream(self) -> int:
        xref = self.document.get_new_xref()
        self.document.update_object(xref, "<<>>")
        return xref

    def _to_unicode(self) -> bytes:
        lines = [
            f"<{ord(code):02x}> <{glyph.encode('utf-16-be').hex()}>" for glyph, code in self.codes.items()
        ]
        return "\n".join(
            [
                "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /T def",
                "/CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange",
                f"{len(lines)} beginbfchar",
                *lines,
                "endbfchar endcmap end end",
            ]
        ).encode()


def test_a_line_drawn_in_pieces_is_read_from_the_right() -> None:
    glyphs = Glyphs()
    glyphs.draw(200 - 2 * WIDTH, "ול")  # the middle of a word first, then its end, then the first word
    glyphs.draw(200 - 4 * WIDTH, "םע")
    glyphs.draw(200 + 0.5 * WIDTH, "םולש")
    assert glyphs.texts() == ["שלום לועם"]


def test_a_ligature_keeps_the_order_of_its_letters() -> None:
    glyphs = Glyphs()
    glyphs.draw(200, ["ة", "ي", "\ufefb", "و"])
    assert glyphs.texts() == ["ولاية"]


def test_a_ligature_that_says_its_letters_is_read_lam_first() -> None:
    glyphs = Glyphs()
    glyphs.draw(200, ["ت", "لا", "و"])
    assert glyphs.texts() == ["ولات"]


def test_an_alef_before_such_a_ligature_is_not_taken_for_its_own() -> None:
    glyphs = Glyphs()
    glyphs.draw(200, ["ق", "ا", "ر", "ت", "خ", "لا", "ا"])
    assert glyphs.texts() == ["الاختراق"]
    glyphs = Glyphs()
    glyphs.draw(200, ["ا", "ر", "ت", "لا", "أ", "و"])
    assert glyphs.texts() == ["وألاترا"]


def test_presentation_forms_are_the_letters_that_they_show() -> None:
    glyphs = Glyphs()
    glyphs.draw(200, ["\ufeae", "\ufea4", "\ufe91"])  # final reh, medial hah, initial beh
    assert glyphs.texts() == ["بحر"]


def test_numbers_in_arabic_digits_are_not_turned_over() -> None:
    glyphs = Glyphs()
    glyphs.draw(200, "ماع")
    glyphs.draw(200 - 5 * WIDTH, "١٤٣٤")
    assert glyphs.texts() == ["عام ١٤٣٤"]


def test_a_space_drawn_elsewhere_parts_no_word() -> None:
    glyphs = Glyphs()
    glyphs.draw(200, "هب")
    glyphs.draw(100, " ")
    glyphs.draw(200 - 5 * WIDTH, "ناونع")
    assert glyphs.texts() == ["بهعنوان"]


def test_a_letter_that_reaches_under_a_ligature_parts_no_word() -> None:
    glyphs = Glyphs()
    glyphs.draw(200, ["ت", "لا"])
    glyphs.draw(200 + 1.4 * WIDTH, "و")
    glyphs.draw(200 + 2.4 * WIDTH, "احم")
    (text,) = glyphs.texts()
    assert " " not in text
    assert text.startswith("محاو")


def test_a_space_under_a_letter_parts_no_word() -> None:
    glyphs = Glyphs()
    glyphs.draw(200, "بيت")
    glyphs.draw(200 + 2.5 * WIDTH, " ")
    glyphs.draw(200.1 + 3 * WIDTH, "رتلا")
    assert glyphs.texts() == ["الترتيب"]


def test_foreign_words_in_a_line_are_read_rightwards() -> None:
    glyphs = Glyphs()
    glyphs.draw(300, "תוקידבל")
    glyphs.draw(246, "הינשה")
    glyphs.draw(180, "Top")
    glyphs.draw(204, "Tip")
    glyphs.draw(228, "10")
    assert glyphs.texts() == ["לבדיקות השניה Top Tip 10"]


@pytest.mark.skipif(not CORPUS.exists(), reason="needs the shared corpora")
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="needs poppler")
@pytest.mark.parametrize(
    ("name", "share"),
    [("3.0.1_in_Hebrew", 0.98), ("4.0.1-fa", 0.97), ("4.0.3-ar", 0.93)],
)
def test_right_to_left_words_are_those_of_poppler(name: str, share: float) -> None:
    """In the Arabic file poppler parts words at every tanwin and exchanges lam and alef; nobody reads so."""
    (path,) = CORPUS.glob(f"quotes/pdfs/*{name}.pdf")
    document = pymupdf.open(path)
    both = every = 0
    for page in read_pages(document, range(8, 20), tags=False):
        number = str(page.number)
        run = subprocess.run(
            ["pdftotext", "-enc", "UTF-8", "-f", number, "-l", number, path, "-"],
            capture_output=True,
            check=True,
        )
        said = LAM_ALEF.sub(r"\2\1", page.text) if name.endswith("ar") else page.text
        theirs, ours = _words(run.stdout.decode()), _words(said)
        both += (theirs & ours).total()
        every += theirs.total()
    assert every > 500 and both >= share * every


def _words(text: str) -> Counter[str]:
    """Right-to-left words without signs around them; marks of direction part words, as for poppler."""
    text = unicodedata.normalize("NFKC", re.sub("[\u202a-\u202e]", " ", text))
    words = [re.sub(r"^\W+|\W+$|[\u200b-\u200f\u0640]", "", word) for word in text.split()]
    return Counter(word for word in words if RIGHT_TO_LEFT.search(word))
