"""Anchoring: quoted words found on pages whose words stand at known places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citing.anchoring.find_quote import find_quote
from citing.anchoring.page_text import PageText, fold
from pdf.geometry import PageFrame, Rect
from pdf.structure import Word

WIDTH, HEIGHT = 600.0, 800.0  # of the page
CHARACTER, LINE = 6.0, 12.0  # width and height of a character, in points


def page(*lines: str | tuple[float, float, str], number: int = 1) -> PageText:
    """A page of typewriter text: each line at x 60 and its own y, or at a given place."""
    text, words = "", []
    for index, line in enumerate(lines):
        x, y, content = line if isinstance(line, tuple) else (60.0, 60.0 + 20 * index, line)
        for column, part in words_of(content):
            left = x + column * CHARACTER
            box = Rect(left, y, left + len(part) * CHARACTER, y + LINE)
            words.append(Word(len(text) + column, len(text) + column + len(part), *box))
        text += content + "\n"
    return PageText(number, PageFrame(WIDTH, HEIGHT), text, words)


def words_of(line: str) -> list[tuple[int, str]]:
    places, at = [], 0
    for part in line.split():
        at = line.index(part, at)
        places.append((at, part))
        at += len(part)
    return places


def located(pages: list[PageText], quote: str, context: str = "") -> str | None:
    """What the rectangles lie on: the words whose middle they cover."""
    anchor = find_quote(pages, quote, context)
    return None if anchor is None else " | ".join(lit(part.page, part.rects) for part in anchor.parts)


def lit(on: PageText, rects: tuple[Rect, ...]) -> str:
    return " ".join(
        on.text[word.char_start : word.char_end]
        for word in on.words
        if any(rect.contains(*word.rect.center) for rect in rects)
    )


def test_a_quote_on_one_line_gives_one_rectangle_around_its_words() -> None:
    anchor = find_quote([page("Sales grew 4 percent in 2018.")], "grew 4 percent")
    assert anchor is not None
    assert (anchor.verdict, anchor.rects) == ("exact", (Rect(96, 60, 180, 72),))


@pytest.mark.parametrize("sign", ["✓", "...", "§"])
def test_a_quote_and_context_without_words_are_looked_for_without_an_error(sign: str) -> None:
    anchor = find_quote([page(f"{sign} Cod {sign} 540", f"{sign} Herring {sign} 511")], sign, sign)
    assert anchor is not None and anchor.verdict == "exact"


def test_a_quote_over_two_lines_gives_a_rectangle_for_each() -> None:
    anchor = find_quote([page("In the area, sales", "grew 4 percent.")], "area, sales grew 4")
    assert anchor is not None
    assert [round(rect.y0) for rect in anchor.rects] == [60, 80]
    assert anchor.verdict == "exact"


@pytest.mark.parametrize(
    ("printed", "quote"),
    [
        ("organic lo-|cal sales were flat", "organic local sales were flat"),
        ("a long-|term plan", "a long-term plan"),
        ("the ﬁnal oﬀer", "the final offer"),
        ("the “best” users’ choice", 'the "best" users\' choice'),
        ("pages 10–12 follow", "pages 10-12 follow"),
        ("NET SALES", "Net sales"),
        ("soft\u00adhyphen here", "softhyphen here"),
        ("cafe\u0301 noir", "café noir"),
        ("ＡＢＣ　１２３", "ABC 123"),
        ("نشر التطبيق", "نشر التطبيق"),
        ("کتاب فارسی", "كتاب فارسي"),
    ],
)
def test_what_printing_changes_does_not_hide_the_words(printed: str, quote: str) -> None:
    pages = [page("Before.", *printed.split("|"), "After.")]
    assert located(pages, quote) == printed.replace("|", " ").replace("\u3000", " ")


def test_a_number_is_not_found_inside_another() -> None:
    pages = [page("10.3 and 0.35 and 3,577 and 577", "then 0.3 alone")]
    assert find_quote(pages, "0.3").rects[0].y0 == 80  # type: ignore[union-attr]
    assert find_quote(pages, "577").rects[0].x0 == pytest.approx(60 + 28 * CHARACTER)  # type: ignore[union-attr]


@pytest.mark.parametrize("quote", ["“Effective Date”", "- Section 1", "‘net’ –"])
def test_signs_at_the_ends_of_a_quote_are_lit(quote: str) -> None:
    assert located([page("the “Effective Date” or - Section 1 of ‘net’ – sales")], quote) == quote


def test_a_word_is_not_found_inside_another() -> None:
    assert located([page("The cart of apples"), page("The art of war", number=2)], "art of") == "art of"


def test_characters_of_a_longer_word_are_cut_out_of_its_box() -> None:
    anchor = find_quote([page("第一季度报告是否经过审计")], "报告是否")
    assert anchor is not None
    assert anchor.rects == (Rect(84, 60, 108, 72),)


def test_the_context_chooses_among_rows() -> None:
    pages = [page("Total assets 5,370 4,764", "Total debt 5,370 1,000", "Equity 5,370 2")]
    anchor = find_quote(pages, "5,370", "Total debt 5,370 1,000")
    assert anchor is not None
    assert anchor.rects[0].y0 == 80


def test_the_context_chooses_among_columns_of_one_row() -> None:
    pages = [page("Growth 12 % 3 8 % 12 % 5")]
    anchor = find_quote(pages, "12 %", "3 8 % 12 % 5")
    assert anchor is not None
    assert anchor.rects[0].x0 == pytest.approx(60 + 18 * CHARACTER)


def test_the_heads_of_row_and_column_choose_a_value_the_context_does_not_repeat() -> None:
    rows = [(60.0, 100.0, "Inventories"), (200.0, 100.0, "900"), (300.0, 100.0, "4,366")]
    other = [(60.0, 140.0, "Receivables"), (200.0, 140.0, "900"), (300.0, 140.0, "900")]
    heads = [(200.0, 60.0, "2018"), (300.0, 60.0, "2017")]
    anchor = find_quote([page(*heads, *rows, *other)], "900", "Receivables 2017")
    assert anchor is not None
    assert anchor.rects == (Rect(300, 140, 318, 152),)


def test_a_row_drawn_column_by_column_is_known_by_its_place() -> None:
    drawn = [(60.0, 60.0, "Assets"), (60.0, 80.0, "Debt"), (200.0, 60.0, "77"), (200.0, 80.0, "77")]
    anchor = find_quote([page(*drawn)], "77", "Debt 77")
    assert anchor is not None
    assert anchor.rects[0].y0 == 80


def test_columns_side_by_side_are_never_joined_by_a_rectangle() -> None:
    left = [(60.0, 60.0, "the left column"), (60.0, 80.0, "goes on here and")]
    right = [(320.0, 60.0, "ends in the right"), (320.0, 80.0, "column of text")]
    anchor = find_quote([page(*left, *right)], "goes on here and ends in the right")
    assert anchor is not None
    assert [round(rect.x0) for rect in anchor.rects] == [60, 320]


TABLE = [
    (60.0, 60.0, "Purchases of property"),
    (60.0, 80.0, "Proceeds from sale of businesses"),
    (60.0, 100.0, "Net cash used in investing"),
    (300.0, 60.0, "(1,577)"),
    (300.0, 80.0, "846"),
    (300.0, 100.0, "222"),
    (400.0, 60.0, "(1,373)"),
    (400.0, 80.0, "1,065"),
    (400.0, 100.0, "(3,086)"),
]


def test_a_table_quoted_row_by_row_is_found_though_it_was_drawn_by_columns() -> None:
    quote = (
        "Purchases of property (1,577) (1,373) Proceeds from sale of businesses 846 1,065 "
        "Net cash used in investing 222 (3,086)"
    )
    found = located([page((60.0, 40.0, "Something before"), *TABLE, (60.0, 140.0, "Something after"))], quote)
    assert found is not None
    assert set(found.split()) == set(quote.split())


def test_dashes_the_quote_does_not_print_are_not_lit() -> None:
    table = [*TABLE, (350.0, 60.0, "—"), (350.0, 80.0, "—")]
    found = located([page(*table)], " ".join(line[2] for line in TABLE))
    assert found is not None
    assert "—" not in found


@pytest.mark.parametrize("dots", ["…", "...", "[...]", " … "])
def test_words_that_an_ellipsis_leaves_out_are_not_lit(dots: str) -> None:
    pages = [page("Sales were flat. Sales grew, despite the strong dollar,", "in all regions by 4 percent.")]
    assert located(pages, f"Sales grew{dots}in all regions") == "Sales grew, in all regions"


def test_a_quote_with_a_few_errors_is_found_and_called_partial() -> None:
    pages = [page("The company repurchased 1.2 million of its own shares at a", "total cost of 40 dollars.")]
    quote = "The company purchased 1.2 million of its own stock at a total cost of 40 dollars."
    anchor = find_quote(pages, quote)
    assert anchor is not None
    assert anchor.verdict == "partial"
    assert "at a total cost of 40 dollars." in " ".join(anchor.text.split())


def test_a_quote_made_of_the_pages_common_words_is_rejected() -> None:
    pages = [page("The company sold the plant in 2018 and bought", "shares of the market leader in May.")]
    assert (
        find_quote(pages, "The company bought the market leader in 2019 and sold shares of it in June.")
        is None
    )


@pytest.mark.parametrize(
    ("quote", "printed"),
    [
        ("3577", "3,577"),
        ("$3,577", "3,577"),
        ("−305", "(305)"),
        ("$3.577 billion", "3,577"),
        ("15.6 percent", "15.6%"),
        ("31 December 2018", "December 31, 2018"),
    ],
)
def test_a_value_the_page_writes_otherwise_is_found(quote: str, printed: str) -> None:
    pages = [page("(in millions)", "Sales 3,577 1,234 (305) 15.6% 305 at December 31, 2018")]
    anchor = find_quote(pages, quote)
    assert anchor is not None
    assert (anchor.verdict, anchor.text) == ("normalized", printed)


def test_the_context_chooses_among_values_written_otherwise() -> None:
    anchor = find_quote([page("Debt 3,577", "Equity 3,577")], "3577", "equity of 3577")
    assert anchor is not None
    assert anchor.rects[0].y0 == 80


@pytest.mark.parametrize("quote", ["", "   ", "—", "\x00", "word that is nowhere"])
def test_nothing_is_found_of_nothing(quote: str) -> None:
    assert find_quote([page("Sales grew.")], quote) is None
    assert find_quote([], quote) is None


WORDS = st.sampled_from(
    ["net", "sales", "grew", "4", "12", "(305)", "%", "$", "—", "long-", "term", "of", "the", "2018", "3,577"]
)
LINES = st.lists(st.lists(WORDS, min_size=1, max_size=8), min_size=1, max_size=8)


@pytest.mark.parametrize("quote", ["Other —", "— (305)", "— 4"])
def test_of_several_empty_cells_only_the_quoted_one_is_lit(quote: str) -> None:
    anchor = find_quote([page("Other — — (305)", "long- — 4")], quote)
    assert anchor is not None
    assert (anchor.verdict, anchor.text) == ("exact", quote)


@given(LINES, st.data())
def test_any_run_of_words_is_found_and_only_words_like_it_are_lit(
    lines: list[list[str]], data: st.DataObject
) -> None:
    on = page(*(" ".join(line) for line in lines))
    start = data.draw(st.integers(0, len(on.words) - 1))
    end = data.draw(st.integers(start, len(on.words) - 1))
    quote = " ".join(on.text[on.words[start].char_start : on.words[end].char_end].split())
    anchor = find_quote([on], quote)
    if fold(quote).text:
        assert anchor is not None
        assert anchor.verdict == "exact"
        assert fold(lit(on, anchor.rects)).text == fold(quote).text


def test_a_quote_over_a_page_break_is_found_on_both_pages() -> None:
    first = page("Page head", "The obligations of the parties survive the", number=3)
    second = page("Page head", "termination of this agreement for two years.", number=4)
    quote = "The obligations of the parties survive the termination of this agreement"
    anchor = find_quote([first, second], quote)
    assert anchor is not None
    assert [part.page.number for part in anchor.parts] == [3, 4]
    assert located([first, second], quote) == (
        "The obligations of the parties survive the | termination of this agreement"
    )
