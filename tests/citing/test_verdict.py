"""Verdicts on claims: the verdict, the highlighted words, and what is missing."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import pytest
from msgspec import structs

from citing.batch import Case, check
from citing.claims import Claim, SourceUnit, Verification, words_between
from citing.comparison.values.support import check_values
from citing.verdict import RULE_FAILED, verify
from pdf.geometry import Rect
from pdf.structure import Cell, TableRow, Word
from tests.chat.answers.builders import on_one_page, row
from tests.citing.anchoring.test_anchoring import lit, page
from tests.citing.verdicts import cases_in

YEARS = re.compile(r"(?:19|20)\d\d|\(Millions\)|\(in thousands\)")
STATEMENT = [
    (60.0, 40.0, "Consolidated Statement of Cash Flows"),
    (60.0, 60.0, "(Millions)"),
    (300.0, 60.0, "2018"),
    (400.0, 60.0, "2017"),
    (60.0, 80.0, "Inventories"),
    (300.0, 80.0, "4,366"),
    (400.0, 80.0, "4,034"),
    (60.0, 100.0, "Net cash provided by (used in) investing"),
    (300.0, 100.0, "222"),
    (400.0, 100.0, "(3,086)"),
    (60.0, 120.0, "Purchases of property"),
    (300.0, 120.0, "(1,577)"),
    (400.0, 120.0, "(1,373)"),
]


def units(
    *lines: tuple[float, float, str], document: str = "3M", title: str = "3M_2018_10K"
) -> list[SourceUnit]:
    """One unit for each line of the page (same y); those with several places are rows without heads."""
    on = page(*lines)
    rows: dict[float, list[int]] = {}
    at = 0
    for _, y, content in lines:
        rows.setdefault(y, []).append(at)
        at += len(content) + 1
    found = []
    for y, starts in rows.items():
        end = starts[-1] + len([line for line in lines if line[1] == y][-1][2])
        kind = "table" if len(starts) > 1 else "prose"
        words = words_between(on.words, starts[0], end)
        text = on.text[starts[0] : end].replace("\n", "\t")
        found.append(
            SourceUnit(f"{document}:{y}", document, 1, text, starts[0], words, kind, title=title)  # type: ignore[arg-type]
        )
    return found


def under_years(found: Sequence[SourceUnit]) -> list[SourceUnit]:
    """The units, their rows those of one table, whose header is the row of nothing but years."""
    rows = [unit for unit in found if unit.type == "table"]
    lefts = sorted({round(word.x0, -2) for unit in rows for word in first_words(unit)})
    cells = {
        unit.id: tuple(
            Cell(
                lefts.index(round(word.x0, -2)),
                part,
                word.rect,
                False,
                word.char_start,
                word.char_start + len(part),
            )
            for part, word in zip(unit.text.split("\t"), first_words(unit), strict=True)
        )
        for unit in rows
    }
    head = next(unit for unit in rows if all(YEARS.fullmatch(cell.text) for cell in cells[unit.id]))
    over = {cell.column: cell.text for cell in cells[head.id]}
    heads = tuple(over.get(column, "") for column in range(len(lefts)))
    return [
        replace(unit, table=TableRow(0, n, cells[unit.id], unit is head, () if unit is head else heads))
        if unit.id in cells
        else unit
        for n, unit in enumerate(found)
    ]


def first_words(unit: SourceUnit) -> list[Word]:
    """The first word of each of the row's texts."""
    starts, at = [], unit.char_start
    for part in unit.text.split("\t"):
        starts.append(at)
        at += len(part) + 1
    return [word for word in unit.words if word.char_start in starts]


def unit(text: str, **others: str) -> SourceUnit:
    (only,) = units((60.0, 60.0, text), **others)
    return only


def said(
    sentence: str, row: str, quote: str = "", shown: tuple[SourceUnit, ...] = (), heads: bool = True
) -> Verification:
    """The verdict on a claim that cites a row of the statement, with ``heads`` under its years."""
    statement = under_years(units(*STATEMENT)) if heads else units(*STATEMENT)
    cited = next(unit for unit in statement if unit.text.startswith(row))
    return verify(Claim(sentence, quote), cited, [unit for unit in statement if unit is not cited], shown)


def words_lit(found: Verification) -> str:
    on = page(*STATEMENT)
    return lit(on, found.rects)


def test_a_value_of_the_right_year_is_exact_and_its_cell_is_lit() -> None:
    found = said("Inventories were 4,366 in 2018.", "Inventories")
    assert (found.verdict, words_lit(found), found.missing) == ("exact", "4,366", ())


def test_the_heads_of_its_row_and_column_are_given() -> None:
    found = said("Inventories were 4,034 in 2017.", "Inventories")
    assert lit(page(*STATEMENT), found.head_rects) == "2017 Inventories"


@pytest.mark.parametrize("written", ["4366", "$4,366", "$4,366 million", "$4.366 billion", "$4.4 billion"])
def test_a_value_written_otherwise_is_supported(written: str) -> None:
    assert said(f"Inventories were {written} in 2018.", "Inventories").supported


def test_another_value_than_that_of_the_cell_is_unsupported() -> None:
    assert said("Inventories were 4,367 in 2018.", "Inventories").verdict == "unsupported"
    assert said("Inventories were -4,366 in 2018.", "Inventories").verdict == "unsupported"


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("Inventories were $4,366 billion in 2018.", "$4,366 billion"),
        ("Inventories were 4,366 in 2017.", "4,366"),
        ("Inventories were 4,034 in 2018.", "4,034"),
        ("Inventories were 4,366 in 2016.", "4,366"),
    ],
)
def test_a_cell_that_is_not_of_the_claim_is_named_and_never_verified(sentence: str, missing: str) -> None:
    found = said(sentence, "Inventories")
    assert (found.verdict, found.missing[0]) == ("found", missing)
    assert found.reason


def test_a_sign_that_the_words_say_is_right() -> None:
    assert said(
        "3M spent $1,577 million on purchases of property in 2018.", "Purchases", heads=False
    ).supported


def test_a_sign_that_the_words_do_not_say_is_wrong() -> None:
    found = said("Net cash provided by (used in) investing was 3,086 in 2017.", "Net cash", heads=False)
    assert found.verdict == "found"
    assert "sign" in found.reason


def test_a_claim_that_stands_in_another_row_moves_the_citation_there() -> None:
    found = said("Inventories were 4,366 in 2018.", "Purchases")
    assert found.verdict == "moved"
    assert found.unit.text.startswith("Inventories")
    assert words_lit(found) == "4,366"


def test_a_value_of_something_else_is_only_found() -> None:
    found = said("Dividends were 4,366 in 2018.", "Inventories")
    assert found.verdict == "found"
    assert "dividends" in found.reason


def test_a_claim_of_another_document_is_unsupported() -> None:
    adobe = unit("Total revenue 17,606", document="Adobe", title="ADOBE_2022_10K")
    statement = units(*STATEMENT)
    found = verify(Claim("Adobe's inventories were 4,366 in 2018."), statement[2], statement, [adobe])
    assert found.verdict == "unsupported"
    assert "ADOBE_2022_10K" in found.reason


def test_a_title_made_of_words_the_page_uses_names_no_other_document() -> None:
    other = unit("Nothing.", document="other", title="Inventories 2017")
    statement = units(*STATEMENT)
    assert verify(Claim("Inventories were 4,366 in 2018."), statement[2], statement, [other]).supported


def test_two_values_of_a_sentence_keep_their_years() -> None:
    assert said("Inventories were 4,366 in 2018, compared with 4,034 in 2017.", "Inventories").supported
    assert not said("Inventories were 4,034 in 2018, compared with 4,366 in 2017.", "Inventories").supported


SEGMENTS = [
    (60.0, 60.0, "Segment"),
    (300.0, 60.0, "Activision"),
    (400.0, 60.0, "Blizzard"),
    (60.0, 80.0, "Net revenues (2)"),
    (300.0, 80.0, "2,458"),
    (400.0, 80.0, "2,291"),
]


def segment_row(words: Sequence[tuple[float, float, str]] = SEGMENTS) -> tuple[SourceUnit, SourceUnit]:
    """A header row and the row below it, with their cells as a layout engine gives them."""
    rows = units(*words)
    cells = [
        tuple(
            Cell(n, part, word.rect, header, word.char_start, word.char_start + len(part))
            for n, part in enumerate(row.text.split("\t"))
            for word in row.words
            if row.text.index(part) == word.char_start - row.char_start
        )
        for row, header in zip(rows, (True, False), strict=True)
    ]
    head = replace(rows[0], table=TableRow(0, 0, cells[0], header=True))
    return head, replace(
        rows[1], table=TableRow(0, 1, cells[1], head_rows=("Segment", "Activision", "Blizzard"))
    )


def test_a_value_of_another_column_is_unsupported() -> None:
    head, row = segment_row()
    assert verify(Claim("Net revenues of Blizzard were 2,291."), row, [head]).verdict == "exact"
    wrong = verify(Claim("Net revenues of Blizzard were 2,458."), row, [head])
    assert (wrong.verdict, wrong.reason) == (
        "unsupported",
        "2,458 is in another row or column; this cell says 2,291.",
    )


def test_the_head_of_a_column_that_is_no_year_is_lit() -> None:
    head, row = segment_row()
    found = verify(Claim("Net revenues of Blizzard were 2,291."), row, [head])
    assert lit(page(*SEGMENTS), found.head_rects) == "Blizzard Net revenues (2)"


def test_the_heads_of_the_cells_a_value_is_computed_from_are_lit() -> None:
    head, row = segment_row()
    found = verify(Claim("Net revenues: Activision minus Blizzard is 167."), row, [head])
    assert (found.verdict, found.reason) == ("computed", "2,458 − 2,291 = 167")
    assert lit(page(*SEGMENTS), found.head_rects) == "Activision Blizzard Net revenues (2)"


def test_a_negative_value_before_the_cited_one_is_no_part_of_the_rows_head() -> None:
    """`(1,577)` begins with a bracket, as a note's number in a label does."""
    losses = [*SEGMENTS[:-2], (300.0, 80.0, "(1,577)"), (400.0, 80.0, "(1,373)")]
    head, row = segment_row(losses)
    found = verify(Claim("Net revenues of Blizzard were (1,373)."), row, [head])
    assert lit(page(*losses), found.head_rects) == "Blizzard Net revenues (2)"


@pytest.mark.parametrize(
    ("sentence", "verdict", "reason"),
    [
        ("Net revenues for the 52 weeks ended were 2,291.", "exact", ""),
        ("Net revenues for the 13 weeks ended were 2,458.", "exact", ""),
        (
            "Revenue for the 13 weeks ended in June was 2,291.",
            "found",
            "13 is the heading of another column.",
        ),
        ("Revenue for the 26 weeks ended in June was 2,291.", "found", "The passage does not have 26."),
        ("Revenue of 52 was 2,291.", "found", "The passage does not have 52."),
    ],
)
def test_a_number_in_a_column_s_head_names_the_column(sentence: str, verdict: str, reason: str) -> None:
    _, row = segment_row()
    assert row.table is not None
    table = structs.replace(row.table, head_rows=("", "13 Weeks Ended", "52 Weeks Ended"))
    found = verify(Claim(sentence), replace(row, table=table))
    assert (found.verdict, found.reason) == (verdict, reason)


def test_a_notes_number_in_a_label_is_no_value() -> None:
    head, row = segment_row()
    assert verify(Claim("Net revenues (2), Blizzard: 2,291"), row, [head]).verdict == "exact"


def test_quoted_words_are_exact_where_they_stand() -> None:
    cited = unit("Sales grew 4 percent in the long-term business.")
    found = verify(Claim("Sales grew 4 percent.", "grew 4 percent"), cited)
    assert (found.verdict, found.quote) == ("exact", "grew 4 percent")
    assert found.rects == (Rect(96, 60, 180, 72),)
    assert cited.text[found.char_start : found.char_end] == "grew 4 percent"


def test_quoted_words_that_are_printed_otherwise_are_normalized() -> None:
    cited = unit("Sales of the long-term business grew.")
    found = verify(Claim("Sales of the long-term business grew.", "Long term Business"), cited)
    assert found.verdict == "normalized"


def test_quoted_words_of_another_shown_unit_move_the_citation() -> None:
    other = unit("The obligations survive the termination.", document="lease", title="lease")
    found = verify(
        Claim("They survive.", "obligations survive the termination"), unit("Nothing here."), [], [other]
    )
    assert (found.verdict, found.unit) == ("moved", other)


def test_right_quoted_words_do_not_excuse_a_wrong_value_beside_them() -> None:
    found = verify(Claim("Sales grew 5 percent.", "Sales grew"), unit("Sales grew 4 percent."))
    assert (found.verdict, found.missing) == ("unsupported", ("5 percent",))


def test_quoted_words_that_stand_nowhere_are_missing() -> None:
    found = verify(Claim("It fell.", "profits collapsed entirely"), unit("Sales grew 4 percent."))
    assert found.verdict == "unsupported"
    assert "profits collapsed entirely" in found.missing


def test_a_quoted_value_may_be_written_otherwise() -> None:
    found = verify(Claim("The fee is £2,400,000.", "£2,400,000"), unit("a fee of £2.4 million per year"))
    assert (found.verdict, found.quote) == ("normalized", "fee of £2.4 million")


def test_a_claim_without_values_is_checked_by_its_words() -> None:
    cited = unit("The lessee must insure the premises against fire. Rent is due monthly.")
    exact = verify(Claim("The lessee must insure the premises against fire."), cited)
    other_words = verify(Claim("The lessee has to insure the premises against fire."), cited)
    nothing = verify(Claim("The landlord keeps the deposit forever."), cited)
    assert (exact.verdict, other_words.verdict, nothing.verdict) == ("exact", "normalized", "found")


def test_a_quote_over_a_page_break_is_not_called_an_invented_one() -> None:
    upper = unit("The harbour master shall close the gate at dusk and")
    lower = replace(unit("open it again when the pilot calls from the sea."), page=2, id="lower")
    sentence = "The harbour master shall close the gate at dusk and open it again when the pilot calls."
    over, invented = (
        "close the gate at dusk and open it again when the pilot calls",
        "sell the gate to pilots",
    )
    assert verify(Claim(sentence, over), upper, [lower]).verdict == "found"
    assert verify(Claim(sentence, invented), upper, [lower]).verdict == "unsupported"


def test_a_claim_that_denies_what_the_page_says_is_not_supported() -> None:
    cited = unit("The lessee must insure the premises against fire.")
    assert not verify(Claim("The lessee need not insure the premises against fire."), cited).supported


def test_the_year_of_a_sentence_is_held_against_the_claim() -> None:
    cited = unit("Sales grew 4 percent in 2018 and were 32,765.")
    assert verify(Claim("Sales grew 4 percent in 2018."), cited).supported
    assert not verify(Claim("Sales grew 4 percent in 2017."), cited).supported


def test_years_said_respectively_are_paired_in_order() -> None:
    cited = unit("It was $202 million, $181 million and $150 million for 2020, 2019 and 2018, respectively.")
    assert verify(Claim("It was $181 million in 2019."), cited).supported
    assert not verify(Claim("It was $181 million in 2018."), cited).supported


@pytest.mark.parametrize("sentence", ["", "   ", "[[", "1" * 5000, "%", "((((", "12.12.12.12,,,,"])
def test_no_claim_breaks_the_verifier(sentence: str) -> None:
    assert verify(Claim(sentence), unit("Sales grew 4 percent."))
    assert verify(Claim(sentence, sentence), unit("—"))


def test_a_value_twice_in_a_row_is_that_of_the_year_over_it() -> None:
    _, row = segment_row([*SEGMENTS[:-2], (300.0, 80.0, "100.0"), (400.0, 80.0, "100.0")])
    assert row.table is not None
    table = structs.replace(row.table, head_rows=("", "2023 Percent to Sales", "2022 Percent to Sales"))
    found = check_values("Net revenues were 100.0 in 2022.", replace(row, table=table), [])
    assert [place.printed.start for place in found.places] == [row.text.rindex("100.0")]


def test_heads_above_the_table_are_lit_and_tell_its_years() -> None:
    _, row = segment_row()
    assert row.table is not None
    boxes = (None, Rect(300, 10, 330, 20), Rect(400, 10, 430, 20))
    heads = ("", "2023", "2022")
    table = structs.replace(row.table, head_rows=heads, head_rects=boxes, head_confidence=0.9)
    right, wrong = (
        verify(Claim(f"Net revenues were 2,291 in {year}."), replace(row, table=table))
        for year in (2022, 2023)
    )
    assert (right.verdict, wrong.verdict) == ("exact", "unsupported")
    assert boxes[2] in right.head_rects


def test_a_head_over_several_columns_is_lit_for_each_of_them() -> None:
    head, row = segment_row()
    assert head.table is not None
    over = structs.replace(head.table.cells[1], headed_columns=(1, 2))
    cells = (head.table.cells[0], over, *head.table.cells[2:])
    head = replace(head, table=structs.replace(head.table, cells=cells))
    found = verify(Claim("Net revenues of Blizzard were 2,291."), row, [head])
    assert lit(page(*SEGMENTS), found.head_rects) == "Activision Blizzard Net revenues (2)"


@pytest.mark.parametrize(
    ("claim", "verdict", "reason"),
    [
        ("Fares minus costs were €2,698 million in 2023.", "computed", "3,504 − 806 = 2,698"),
        (
            "The difference between fares and costs was €2,698 million in 2023.",
            "computed",
            "3,504 − 806 = 2,698",
        ),
        ("Fares exceeded costs by €2,698 million in 2023.", "computed", "3,504 − 806 = 2,698"),
        ("In 2023, costs were €2,698 million less than fares.", "computed", "806 − 3,504 = −2,698"),
        (
            "Fares exceeded costs by €2,898 million in 2023.",
            "unsupported",
            "The claim says €2,898 million; computed from the page: 3,504 − 806 = 2,698.",
        ),
        (
            "Costs exceeded fares by €2,698 million in 2023.",
            "unsupported",
            "The claim says exceeded, the page 3,504 → 806.",
        ),
    ],
)
def test_the_difference_of_two_rows_is_computed(claim: str, verdict: str, reason: str) -> None:
    heads = ("In millions of euros", "2023", "2022")
    rows = on_one_page(
        row("u1", "Fares", "3,504", "3,931", heads=heads), row("u2", "Costs", "806", "938", heads=heads)
    )
    found = verify(Claim(claim), rows[0].unit, rows[0].around)
    assert (found.verdict, found.reason) == (verdict, reason)


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Fares, 2023 − 2022: 3,504 − 3,931 = −427 million", "computed"),
        ("Fares, 2023 − 2022: 3,504 − 3,931 = −472 million", "unsupported"),
        ("Fares, 2023 − 2022: 3,504 − 3,931 = 427 million", "unsupported"),
        ("Fares, 2023 − 2022: (3,504 − 3,931) ÷ 3,931 = −10.9 %", "computed"),
        ("Fares, 2023 − 2022: (3,931 − 3,504) ÷ 3,504 = 12.2 %", "computed"),
        ("Fares, 2023 − 2022: (3,504 − 3,931) ÷ 3,931 = 10.9 %", "unsupported"),
        ("Fares, 2023 − 2022: (3,504 − 3,931) / 3,504 = −10.9 %", "found"),
        ("Fares, 2023 − 2022: 3,504 − 3,930 = −426 million", "found"),
        ("Fares + costs, 2023: 3,504 + 806 = €4,310 million", "computed"),
        ("Fares + costs, 2023: 3,504 + 806 = €4,311 million", "unsupported"),
        ("Fares / costs, 2023: 3,504 ÷ 806 = 4.35 (434.74 %)", "computed"),
        ("Fares / costs, 2023: 3,504 ÷ 806 = 4.35 (443 %)", "unsupported"),
        ("Fares / costs, 2023: 806 ÷ 3,504 = 4.35", "unsupported"),
        ("Fares / costs, 2023: 3,504 ÷ 508 = 6.9", "found"),
        ("Fares / rent, 2023: 3,504 ÷ 508 = 6.9", "found"),
        ("Fares, 2023: €3,504 million = €3.504 billion", "normalized"),
        ("Fares, 2023: €3,504 million = €3.54 billion", "found"),
        ("Fares − costs − fees, 2023: 3,504 − 806 − 90 = 2,608", "found"),
    ],
)
def test_a_calculation_that_is_written_down_is_done_again(claim: str, verdict: str) -> None:
    heads = ("In millions of euros", "2023", "2022")
    rows = on_one_page(
        row("u1", "Fares", "3,504", "3,931", heads=heads), row("u2", "Costs", "806", "938", heads=heads)
    )
    assert verify(Claim(claim), rows[0].unit, rows[0].around).verdict == verdict


def test_a_rule_that_fails_leaves_the_claim_unjudged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> NoReturn:
        raise IndexError

    monkeypatch.setattr("citing.verdict.judge_unit", fail)
    said = verify(Claim("Sites flooded in 1931."), unit("Sites flooded in 1932."))
    assert (said.verdict, said.reason) == ("found", RULE_FAILED)
    assert "a rule of verification failed" in caplog.text


def test_no_claim_of_the_sets_makes_a_rule_fail_on_a_passage_of_another() -> None:
    chance = random.Random(7)
    cases = [*cases_in("left_out.jsonl"), *cases_in("joined.jsonl"), *cases_in("tables.jsonl")]
    for _ in range(400):
        case, other = chance.choice(cases), chance.choice(cases)
        words = case["claim"].split()
        claim = " ".join(words[chance.randrange(len(words)) :])
        judged = check(Case(claim, "", passage=other["passage"], lang=other["lang"]))
        assert RULE_FAILED not in judged.unchecked, (claim, other["passage"])


def test_loading_the_words_of_a_language_is_not_counted_in_the_time_of_the_first_claim() -> None:
    """In a new process, as the words are read once: the claim needs a fiftieth of its time, they more."""
    code = (
        "from citing.batch import Case, check\n"
        "page = '| Item | 2023 | 2022 |\\n| --- | --- | --- |\\n| Tea | 15 | 12 |\\n| Milk | 9 | 8 |'\n"
        "claim = 'Tea was 15 in 2023, compared with 12 in 2022.'\n"
        "print(check(Case(claim=claim, passage=page)).verdict)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "exact"
