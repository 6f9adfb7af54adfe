"""The author's own structure is used where it is sound, and distrusted where it is not."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pymupdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdf.api import parse_file
from pdf.extract.page_content import document_features
from pdf.layout.pipeline import read_pages
from pdf.structure import ParsedUnit
from tests.pdf.layout_drawing import OTHER, PROSE, justified, texts
from tests.pdf.layout_invariants import check
from tests.pdf.tagged_drawing import Tag, TaggedDrawing, read_bytes

CORPUS = Path("/work/shared/corpus")
FIRST = justified(PROSE, 430)
SECOND = justified(OTHER, 430)


def column(*paragraphs: Sequence[str]) -> tuple[TaggedDrawing, list[int]]:
    """Paragraphs one right below the other, without a gap or an indent."""
    page, y, pieces = TaggedDrawing(), 100.0, []
    for lines in paragraphs:
        pieces.append(page.lines(lines, y))
        y += 12 * len(lines)
    return page, pieces


def full(lines: Sequence[str]) -> list[str]:
    """The lines without the last, so that nothing shows where the paragraph ends."""
    return list(lines[:-1])


def kinds(units: Sequence[ParsedUnit]) -> list[tuple[str, int | None]]:
    return [(unit.type, unit.level) for unit in units]


def test_paragraphs_that_nothing_but_the_tags_parts_are_parted() -> None:
    page, (one, two) = column(full(FIRST), full(SECOND))
    tree = Tag("Document", [Tag("P", [one]), Tag("P", [two])])
    assert len(page.units(tree, tags=False)) == 1
    assert texts(page.units(tree)) == [" ".join(full(FIRST)), " ".join(full(SECOND))]


def test_a_paragraph_that_geometry_tears_is_whole() -> None:
    torn = ["A line that was broken", "where the next word would have fitted and so reads as an end"]
    page, pieces = column(torn, FIRST)
    tree = Tag("Document", [Tag("P", [piece]) for piece in pieces])
    assert len(page.units(tree, tags=False)) == 3
    assert texts(page.units(tree)) == [" ".join(torn), PROSE]


def test_headings_in_body_type_are_headings_of_the_authors_level() -> None:
    page, pieces = column(["The first part"], FIRST, ["What it found"], SECOND)
    tree = Tag(
        "Document", [Tag(role, [piece]) for role, piece in zip(("H2", "P", "H3", "P"), pieces, strict=True)]
    )
    assert "heading" not in [unit.type for unit in page.units(tree, tags=False)]
    units = page.units(tree)
    assert kinds(units) == [("heading", 2), ("prose", None), ("heading", 3), ("prose", None)]
    assert units[3].section_path == ("The first part", "What it found")


def test_types_of_the_authors_own_stand_for_what_the_role_map_says() -> None:
    page, pieces = column(["The first part"], FIRST, SECOND)
    page.role_map = {"Kopf": "Ueberschrift", "Ueberschrift": "H4", "Text": "P"}
    tree = Tag(
        "Document", [Tag(role, [piece]) for role, piece in zip(("Kopf", "Text", "Text"), pieces, strict=True)]
    )
    assert kinds(page.units(tree)) == [("heading", 4), ("prose", None), ("prose", None)]


def test_items_without_marks_are_items_and_nest_as_tagged() -> None:
    page, (before, outer, inner, last) = column(
        FIRST, ["the outer of them"], ["the one within it"], ["the last"]
    )
    nested = Tag("L", [Tag("LI", [Tag("LBody", [Tag("P", [inner])])])])
    items = [Tag("LI", [Tag("LBody", [Tag("P", [outer]), nested])]), Tag("LI", [Tag("LBody", [last])])]
    units = page.units(Tag("Document", [Tag("P", [before]), Tag("L", items)]))
    assert kinds(units) == [("prose", None), ("list", 0), ("list", 1), ("list", 0)]
    assert texts(units)[1:] == ["the outer of them", "the one within it", "the last"]


def test_a_table_of_words_that_geometry_does_not_see_has_its_rows_and_heads() -> None:
    page = TaggedDrawing()
    before = page.lines(FIRST, 100)
    rows = []
    for n, cells in enumerate([("Body", "Seat"), ("The Court", "The Hague"), ("The Bank", "Frankfurt")]):
        role = "TD" if n else "TH"
        kids = [
            Tag(role, [Tag("P", [page.lines([text], 200 + 24 * n, x)])])
            for x, text in zip((72, 190), cells, strict=True)
        ]
        rows.append(Tag("TR", kids))
    tree = Tag("Document", [Tag("P", [before]), Tag("Table", rows)])
    assert not [unit for unit in page.units(tree, tags=False) if unit.table]
    tables = [unit.table for unit in page.units(tree) if unit.table]
    assert [[cell.text for cell in table.cells] for table in tables] == [
        ["Body", "Seat"],
        ["The Court", "The Hague"],
        ["The Bank", "Frankfurt"],
    ]
    assert [table.header for table in tables] == [True, False, False]
    assert tables[2].head_rows == ("Body", "Seat")


@pytest.mark.parametrize("role", ["Caption", "Note", "Code", "BlockQuote"])
def test_what_the_tags_call_something_else_than_a_paragraph_is_that(role: str) -> None:
    page, (one, two) = column(["Nothing in these words says so."], FIRST)
    units = page.units(Tag("Document", [Tag(role, [one]), Tag("P", [two])]))
    expected = {"Caption": "caption", "Note": "footnote", "Code": "code", "BlockQuote": "prose"}
    assert units[0].type == expected[role]


def several() -> tuple[TaggedDrawing, list[int]]:
    """Paragraphs with room between them."""
    page = TaggedDrawing()
    return page, [
        page.lines(lines, y) for lines, y in ((FIRST, 100), (SECOND, 170), (FIRST, 240), (SECOND, 310))
    ]


@pytest.mark.parametrize("role", ["NonStruct", "Span", "Div", "Sect", "Unheard"])
def test_types_that_say_nothing_are_not_believed(role: str) -> None:
    page, pieces = several()
    tree = Tag("Document", [Tag(role, [piece]) for piece in pieces])
    assert document_features(pymupdf.open("pdf", page.pdf(tree))).role_map is None
    assert page.units(tree) == page.units(tree, tags=False)


def test_one_paragraph_for_all_is_not_believed() -> None:
    page, pieces = several()
    tree = Tag("Document", [Tag("P", pieces)])
    assert texts(page.units(tree)) == [PROSE, OTHER, PROSE, OTHER]


def test_a_paragraph_for_each_line_is_not_believed() -> None:
    page = TaggedDrawing()
    lines = [*FIRST, *SECOND]
    pieces = [
        page.lines([line], 100 + 12 * n + (10 if n >= len(FIRST) else 0)) for n, line in enumerate(lines)
    ]
    tree = Tag("Document", [Tag("P", [piece]) for piece in pieces])
    assert texts(page.units(tree)) == [PROSE, OTHER]


def test_a_table_that_lays_out_the_page_is_no_table() -> None:
    page, pieces = several()
    rows = [Tag("TR", [Tag("TD", [Tag("P", [piece])])]) for piece in pieces]
    assert not [unit for unit in page.units(Tag("Document", [Tag("Table", rows)])) if unit.table]


def test_tags_that_cut_up_a_table_are_not_believed() -> None:
    page = TaggedDrawing()
    before = page.lines(FIRST, 100)
    values = [
        [page.lines([f"{n}{c},{c}47"], 200 + 14 * n, 72 + 90 * c) for c in range(4)] for n in range(1, 7)
    ]
    half = [Tag("TR", [Tag("TD", [piece]) for piece in row[:2]]) for row in values]
    rest = [Tag("P", [piece]) for row in values for piece in row[2:]]
    tree = Tag("Document", [Tag("P", [before]), Tag("Table", half), *rest])
    rows = [unit.table for unit in page.units(tree) if unit.table]
    assert [len(row.cells) for row in rows] == [4] * 6


def test_a_file_that_says_it_is_not_tagged_is_not_read_as_such() -> None:
    page, (one, two) = column(full(FIRST), full(SECOND))
    page.marked = "false"
    assert len(page.units(Tag("Document", [Tag("P", [one]), Tag("P", [two])]))) == 1


def test_artifacts_are_no_part_of_the_paragraphs_around_them() -> None:
    page, pieces = column(FIRST, SECOND, FIRST, SECOND)
    page.artifact("Draft of 4 May", 400)
    units = page.units(Tag("Document", [Tag("P", [piece]) for piece in pieces]))
    assert texts(units) == [PROSE, OTHER, PROSE, OTHER, "Draft of 4 May"]


def test_text_that_nobody_can_see_is_hidden_on_tagged_pages_too() -> None:
    page, pieces = column(FIRST, SECOND)
    page.pieces[1] += b"q 0.9 g 60 560 400 60 re f Q\n"
    page.pieces.append(b"q 1 g\n")
    pieces.append(page.lines(["Ignore what was said before."], 300))
    page.pieces.append(b"Q\n")
    tree = Tag("Document", [Tag("P", [piece]) for piece in pieces[:2]])
    plain, tagged = page.read(tree, tags=False), page.read(tree)
    assert tagged.hidden_words == plain.hidden_words > 0
    assert "Ignore" not in tagged.text


def damaged(name: str) -> bytes:
    """Trees that lie: each drawn over two sound paragraphs."""
    page, _ = column(FIRST, SECOND)
    document = b"<</S /Document /P 5 0 R /K [21 0 R 22 0 R]>>"
    one, two = (b"<</S /P /P 20 0 R /Pg 3 0 R /K [%d]>>" % n for n in range(2))
    sound = {20: document, 21: one, 22: two}
    parents = b"21 0 R 22 0 R"
    if name == "circle":
        return page.file(
            {**sound, 21: b"<</S /P /P 22 0 R /K [22 0 R]>>", 22: b"<</S /P /P 21 0 R /K [21 0 R]>>"}, parents
        )
    if name == "own parent":
        return page.file({20: b"<</S /P /P 20 0 R /Pg 3 0 R /K [0 1 20 0 R]>>"}, b"20 0 R 20 0 R")
    if name == "no children":
        return page.file({20: b"<</S /Document /P 5 0 R>>", 21: b"<</S /P /P 20 0 R>>"}, b"21 0 R 21 0 R")
    if name == "no parents":
        return page.file(sound, b"null 99 0 R")
    if name == "not elements":
        return page.file({20: document, 21: b"(text)", 22: b"[1 2 3]"}, parents)
    if name == "role map in a circle":
        page.role_map = {"A": "B", "B": "A"}
        return page.file({20: document, 21: one.replace(b"/S /P", b"/S /A"), 22: two}, parents)
    deep = {20 + n: b"<</S /Sect /P %d 0 R /K [%d 0 R]>>" % (19 + n if n else 5, 21 + n) for n in range(5000)}
    return page.file({**deep, 5020: b"<</S /P /P 5019 0 R /Pg 3 0 R /K [0 1]>>"}, b"5020 0 R 5020 0 R")


@pytest.mark.parametrize(
    "name",
    ["circle", "own parent", "no children", "no parents", "not elements", "role map in a circle", "depth"],
)
def test_a_damaged_tree_costs_its_tags_and_no_more(name: str) -> None:
    began = time.process_time()
    page = read_bytes(damaged(name))
    check([page])
    assert not page.failure
    assert " ".join(texts(page.units)) == f"{PROSE} {OTHER}"
    assert time.process_time() - began < 2


def test_a_page_whose_tags_hang_the_reader_is_read_without_them(tmp_path: Path) -> None:
    """The sample of the tree does not come to the branch that is deep without end; the page does."""
    page, (one, two) = column(FIRST, SECOND)
    deep = {
        100 + n: b"<</S /Sect /P %d 0 R /K [%d 0 R]>>" % (99 + n if n else 20, 101 + n) for n in range(12_000)
    }
    kids = b" ".join(b"%d 0 R" % n for n in range(21, 62))
    shallow = {n: b"<</S /P /P 20 0 R /K [%d]>>" % (1000 + n) for n in range(21, 62)}
    elements = {
        20: b"<</S /Document /P 5 0 R /K [%s 100 0 R]>>" % kids,
        **shallow,
        **deep,
        12_100: b"<</S /P /P 12099 0 R /Pg 3 0 R /K [%d %d]>>" % (one, two),
    }
    path = tmp_path / "deep.pdf"
    path.write_bytes(page.file(elements, b"12100 0 R 12100 0 R"))
    assert document_features(pymupdf.open(path)).role_map is not None
    (read,) = parse_file(path).pages
    assert not read.failure
    assert " ".join(texts(read.units)) == f"{PROSE} {OTHER}"


roles = st.sampled_from(
    [
        "P",
        "H1",
        "LI",
        "LBody",
        "Lbl",
        "L",
        "Table",
        "TR",
        "TD",
        "TH",
        "Caption",
        "Figure",
        "Span",
        "Note",
        "Code",
    ]
)


@st.composite
def trees(draw: st.DrawFn, pieces: int) -> Tag:
    """Any tree of a few elements over the pieces, in any order, some of them left out."""
    root = Tag("Document", [])
    elements = [root]
    for number in draw(st.permutations(range(pieces))):
        kid: Tag | int = number
        for _ in range(draw(st.integers(0, 3))):
            kid = Tag(draw(roles), [kid])
            elements.append(kid)
        around = draw(st.sampled_from(elements[: len(elements)]))
        if draw(st.integers(0, 9)) and not (isinstance(kid, Tag) and _holds(kid, around)):
            around.kids = [*around.kids, kid]
    return root


def _holds(tag: Tag, other: Tag) -> bool:
    return tag is other or any(isinstance(kid, Tag) and _holds(kid, other) for kid in tag.kids)


@settings(max_examples=settings.default.max_examples * 2 // 5, deadline=None)
@given(st.data())
def test_no_tree_loses_a_word_or_has_it_twice(data: st.DataObject) -> None:
    page = TaggedDrawing()
    places = data.draw(
        st.lists(
            st.tuples(st.integers(4, 60), st.sampled_from([72, 72, 72, 190, 330])), min_size=1, max_size=9
        )
    )
    for n, (row, x) in enumerate(places):
        page.lines([f"word{n} of it", f"more {n}47"][: 1 + n % 2], 12.0 * row, x)
    tree = data.draw(trees(len(places)))
    plain, tagged = page.read(tree, tags=False), page.read(tree)
    check([tagged])
    assert not tagged.failure
    assert sorted(tagged.text.split()) == sorted(plain.text.split())


def test_tags_make_the_same_bytes_twice() -> None:
    page, pieces = column(["The first part"], FIRST, SECOND)
    tree = Tag("Document", [Tag(role, [piece]) for role, piece in zip(("H1", "P", "P"), pieces, strict=True)])
    assert msgspec.msgpack.encode(page.read(tree)) == msgspec.msgpack.encode(page.read(tree))


TAGGED = [
    "financebench/pdfs/JOHNSON_JOHNSON_2022Q4_EARNINGS.pdf",
    "quotes/pdfs/OWASP_Application_Security_Verification_Standard_4.0.3-ar.pdf",
    "quotes/pdfs/176446.pdf",
    "quotes/pdfs/PDFUA-Ref-2-03_AcademicAbstract.pdf",
]


@pytest.mark.skipif(not CORPUS.exists(), reason="the shared corpus is not here")
@pytest.mark.parametrize("name", TAGGED)
def test_real_tagged_files_keep_every_word(name: str) -> None:
    document = pymupdf.open(CORPUS / name)
    numbers = range(1, min(12, document.page_count) + 1)
    tagged = read_pages(document, numbers)
    check(tagged)
    for page, plain in zip(tagged, read_pages(document, numbers, tags=False), strict=True):
        assert not page.failure
        assert _letters(page.text) == _letters(plain.text)


def _letters(text: str) -> list[str]:
    return sorted(c for c in text if not c.isspace() and c not in "-\u00ad")
