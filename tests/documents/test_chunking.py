"""Chunks: their sizes, boundaries and text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from documents.chunking import ChunkSizes, chunk_pages, context_header, split_text, token_counts
from pdf.structure import ParsedPage, ParsedUnit
from tests.documents.units import page, row, unit

SENTENCE = "The committee reviewed the annual maintenance budget and approved it without changes. "


def words(count: int) -> str:
    return (SENTENCE * (count // 12 + 1))[: count * 6]


def test_a_context_header_repeats_nothing() -> None:
    assert (
        context_header("Harvest report", "Harvest  Report", "Pears", "pears", "") == "Harvest report › Pears"
    )


def test_a_heading_stays_with_what_follows_it() -> None:
    units = [unit(words(60)) for _ in range(7)]
    units += [unit("2 Methods", "heading", level=1), unit("2.1 Design", "heading", level=2)]
    units += [unit(words(60), section_path=("2 Methods", "2.1 Design")) for _ in range(3)]
    first, second = chunk_pages([page(1, units)], "Report")
    assert first.unit_positions == tuple(range(7))
    assert second.unit_positions == tuple(range(7, 12))
    assert second.content.startswith("2 Methods\n\n2.1 Design\n\nThe committee")
    assert second.context_header == "Report › 2 Methods › 2.1 Design"


def test_no_chunk_crosses_a_section() -> None:
    units = [unit("short", section_path=(name,)) for name in "AABBBC"]
    drafts = chunk_pages([page(1, units)])
    assert [draft.unit_positions for draft in drafts] == [(0, 1), (2, 3, 4), (5,)]
    assert [draft.section_path for draft in drafts] == [("A",), ("B",), ("C",)]


def test_a_chunk_runs_on_over_the_page_break() -> None:
    drafts = chunk_pages(
        [page(4, [unit("It began here")]), page(5, [unit("and ended there.", continues=True)])]
    )
    assert [(draft.page_start, draft.page_end, draft.content) for draft in drafts] == [
        (4, 5, "It began here and ended there.")
    ]


def test_a_table_that_is_cut_repeats_its_caption_and_head() -> None:
    heads = ("", "2021", "2020")
    rows = [row(heads, header=True, caption="Table 3. Costs")]
    rows += [
        row((f"Cost {n}", f"{n},100", f"({n})"), number=n, heads=heads, caption="Table 3. Costs")
        for n in range(1, 41)
    ]
    drafts = chunk_pages([page(1, rows)], "Report")
    assert len(drafts) == 2
    for draft in drafts:
        assert draft.content.startswith("Table 3. Costs\n\n|  | 2021 | 2020 |\n| --- | --- | --- |\n| Cost")
        assert draft.chunk_type == "table"
        assert draft.context_header == "Report › Table 3. Costs"
    assert drafts[-1].content.endswith("| Cost 40 | 40,100 | (40) |")


def test_head_rows_of_two_lines_become_one_line_of_markdown() -> None:
    rows = [
        row(("", "Year ended", "Year ended"), header=True),
        row(("(millions)", "2021", "2020"), number=1, header=True),
        row(("Sales | net", "5", "4"), number=2),
    ]
    (draft,) = chunk_pages([page(1, rows)])
    assert draft.content.splitlines() == [
        "| (millions) | Year ended 2021 | Year ended 2020 |",
        "| --- | --- | --- |",
        "| Sales \\| net | 5 | 4 |",
    ]


def test_a_caption_that_stands_before_its_table_is_not_printed_twice() -> None:
    units = [unit("Table 1. Costs", "caption"), row(("a", "1"), caption="Table 1. Costs")]
    (draft,) = chunk_pages([page(1, units)])
    assert draft.content == "Table 1. Costs\n\n| a | 1 |"


def test_a_very_long_unit_is_split_for_search_only() -> None:
    units = [unit("1 Scope", "heading", level=1), unit(SENTENCE * 200, section_path=("1 Scope",))]
    drafts = chunk_pages([page(1, units)])
    assert len(drafts) > 3
    assert drafts[0].unit_positions == (0, 1)
    assert all(draft.unit_positions == (1,) for draft in drafts[1:])
    assert all(draft.content.endswith(".") for draft in drafts)
    assert " ".join(draft.content for draft in drafts).count("committee") == 200


def test_text_without_spaces_is_split_too() -> None:
    sizes = ChunkSizes()
    parts = split_text("言語処理" * 2000, sizes)
    assert "".join(text for text, _ in parts) == "言語処理" * 2000
    assert max(tokens for _, tokens in parts) <= sizes.target_tokens


PATHS = st.sampled_from([(), ("1 Scope",), ("1 Scope", "1.1 Terms"), ("2 Results",)])
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30),
    st.integers(1, 900).map(words),
    st.sampled_from(["—" * 700, "अनुच्छेद " * 200, "𝔘𝔫𝔦" * 400, "|" * 50]),
)
PLAIN = st.builds(
    unit,
    TEXTS,
    st.sampled_from(["prose", "heading", "list", "caption", "footnote", "code"]),
    section_path=PATHS,
    continues=st.booleans(),
)
ROWS = st.builds(
    row,
    st.lists(st.one_of(st.just(""), TEXTS), min_size=1, max_size=6),
    table=st.integers(0, 2),
    header=st.booleans(),
    heads=st.lists(st.sampled_from(["", "2021", "Total | all"]), max_size=4),
    caption=st.sampled_from(["", "Table 1"]),
    section_path=PATHS,
)
PAGES = st.lists(st.lists(st.one_of(PLAIN, ROWS), max_size=12), max_size=4).map(
    lambda pages: [page(number, units) for number, units in enumerate(pages, 1)]
)
SIZES = st.sampled_from([ChunkSizes(), ChunkSizes(60, 120, 1, 4), ChunkSizes(200, 300, 3, 20)])


@settings(max_examples=settings.default.max_examples * 3 // 5, deadline=None)
@given(PAGES, SIZES)
def test_every_unit_is_in_a_chunk_and_no_chunk_is_too_large(
    pages: list[ParsedPage], sizes: ChunkSizes
) -> None:
    units: list[ParsedUnit] = [one for sheet in pages for one in sheet.units]
    drafts = chunk_pages(pages, "Title", sizes)
    assert {p for draft in drafts for p in draft.unit_positions} == {
        p for p, one in enumerate(units) if one.text.strip()
    }
    assert [draft.index for draft in drafts] == list(range(len(drafts)))
    for draft in drafts:
        assert draft.content.strip()
        assert draft.token_count == token_counts([draft.content])[0] <= sizes.max_tokens
        assert 1 <= len(draft.unit_positions) <= sizes.max_units
        assert list(draft.unit_positions) == sorted(set(draft.unit_positions))
        bodies = [units[p] for p in draft.unit_positions if units[p].type != "heading"]
        assert len({body.section_path for body in bodies}) <= 1
    ends = [draft.unit_positions[-1] for draft in drafts]
    starts = [draft.unit_positions[0] for draft in drafts]
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))


@settings(max_examples=settings.default.max_examples // 5, deadline=None)
@given(PAGES)
def test_the_same_pages_make_the_same_chunks(pages: list[ParsedPage]) -> None:
    assert chunk_pages(pages, "Title") == chunk_pages(pages, "Title")
