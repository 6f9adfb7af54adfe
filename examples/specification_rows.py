"""Try the rows of docs/specification.md that the API can show, and print a table of them.

    PINCITE_URL=http://localhost:8000 PINCITE_TOKEN=pin_… python examples/specification_rows.py

The token needs the rights read, write and ask. A small import and a PDF drawn here are added, asked about and
deleted for good in the end. Exit code 1 if a row is not as the table says.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import pymupdf

BLOCKS = [
    {"type": "HEADING", "text": "Harbour log", "level": 1, "bbox": [0.1, 0.1, 0.5, 0.2]},
    {"type": "CODE", "text": "print('low tide')", "metadata": {"language": "python"}},
    {"block_type": "TABLE", "text": "|data|crates|\n|-|-|\n|Monday|412|"},
    {"type": "AUDIO", "text": "The pilot comes aboard.", "start_timestamp": 724.5},
    {
        "type": "AUDIO",
        "text": "The pilot leaves.",
        "start_timestamp": "00:00:02",
        "end_timestamp": "12:09,25",
    },
    {"type": "PARAGRAPH", "text": "The fourth slide shows the quay.", "metadata": {"slide": 4}},
    {"type": "PARAGRAPH", "text": "Beside it stands the crane."},
    {"type": "HEADING", "text": "Methods", "level": 1},
    {"type": "PARAGRAPH", "text": "These methods were used: all crates were counted by hand."},
    {"type": "HEADING", "text": "Results", "level": 1},
    {"type": "PARAGRAPH", "text": "Mortality among the pilots fell by a fifth, says table 2."},
]
TITLE = "Harbour log"
LONGEST_WAIT = 120  # seconds until the import is indexed
UNIT = {
    "content",
    "document",
    "page_number",
    "paragraph_index",
    "char_start",
    "char_end",
    "section_title",
    "unit_type",
    "created_at",
    "chunk",
    "region",
}
HIT = {"document_title", "file_name", "page", "page_start", "page_end", "section_path", "score", "similarity"}


QUESTION = "How many crates were stored in Bergen?"


@dataclass
class Api:
    """The API, with what is added for the walk: an import, a PDF, and an answer about the PDF."""

    client: httpx.Client
    document: str = ""
    pdf: str = ""
    answer: Any = None

    def get(self, path: str) -> Any:
        answer = self.client.get(path, follow_redirects=True)
        answer.raise_for_status()
        return answer.json()

    def post(self, path: str, body: object) -> httpx.Response:
        return self.client.post(path, json=body)

    def search(self, query: str, **options: Any) -> Any:
        answer = self.post("search/", {"query": query, **options})
        answer.raise_for_status()
        return answer.json()

    def own_hits(self, query: str, **options: Any) -> list[Any]:
        hits: list[Any] = self.search(query, documents=[self.document], **options)["hits"]
        return hits

    def units(self, document: str = "") -> list[Any]:
        return rows_of(self.get(f"documents/{document or self.document}/units/"))

    def chunks(self, document: str = "") -> list[Any]:
        listed = rows_of(self.get(f"documents/{document or self.document}/chunks/"))
        return [self.get(f"chunks/{chunk['id']}/") for chunk in listed]

    def metadata(self, document: str = "") -> list[Any]:
        return [chunk["metadata"] for chunk in self.chunks(document)]

    def first_anchor(self) -> Any:
        return self.metadata()[0]["citation"]


def drawn() -> bytes:
    """Return a PDF of three pages: a heading, two paragraphs, a list and a ruled table; one is turned."""
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.insert_text((72, 90), "Stores of the north", fontsize=20)
        page.insert_text((72, 130), "In Bergen 412 crates were stored in May. All of them were dry.")
        page.insert_text((72, 170), "In Narvik 96 crates were stored in June. None of them was dry.")
        for row, point in enumerate(("count the crates", "close the gate")):
            page.insert_text((84, 210 + 18 * row), f"\u2022 {point}")
        page = pdf.new_page()
        page.insert_text((72, 90), "Harbours", fontsize=16)
        for row, cells in enumerate((("Harbour", "Crates"), ("Bergen", "412"), ("Narvik", "96"))):
            for column, cell in enumerate(cells):
                box = pymupdf.Rect(72, 110, 192, 134) + (120 * column, 24 * row) * 2
                page.draw_rect(box)
                page.insert_text((box.x0 + 6, box.y0 + 16), cell)
        page = pdf.new_page()
        page.insert_text((72, 90), "A turned page.")
        page.set_rotation(90)
        return bytes(pdf.tobytes())


def begin(api: Api) -> None:
    answer = api.post("documents/import/", {"title": TITLE, "blocks": BLOCKS})
    api.document = answer.raise_for_status().json()["id"]
    files = {"file": (f"stores-{time.time_ns()}.pdf", drawn(), "application/pdf")}
    api.pdf = api.client.post("documents/", files=files).raise_for_status().json()["id"]
    wait_for(api, api.document, api.pdf)
    talk = api.post("conversations/", {"documents": [api.pdf]}).raise_for_status().json()["id"]
    asked = api.post(f"conversations/{talk}/messages/", {"question": QUESTION, "rag_config": {"top_k": 3}})
    api.answer = asked.raise_for_status().json()["answer"]


def wait_for(api: Api, *documents: str) -> None:
    end = time.monotonic() + LONGEST_WAIT
    while any(api.get(f"documents/{each}/")["status"] != "ready" for each in documents):
        if time.monotonic() > end:
            raise SystemExit("The documents were not read in time.")
        time.sleep(0.5)


def unit_of(api: Api, words: str) -> Any:
    return next(unit for unit in api.units() if words in unit["content"])


def text_matches_offsets(api: Api) -> bool:
    page = api.get(f"documents/{api.document}/pages/1/")["text"]
    on_page = [unit for unit in api.units() if unit["page_number"] == 1]
    return all(page[unit["char_start"] : unit["char_end"]] == unit["content"] for unit in on_page)


def whole_unit(api: Api) -> bool:
    unit = unit_of(api, "Mortality")
    chunk = api.get(f"chunks/{unit['chunk']}/")
    return (
        unit.keys() >= UNIT
        and unit["content"] == BLOCKS[-1]["text"]
        and (unit["document"], unit["section_title"], unit["unit_type"]) == (api.document, "Results", "prose")
        and unit["char_end"] - unit["char_start"] == len(unit["content"])
        and unit["id"] in {each["id"] for each in chunk["units"]}
        and datetime.fromisoformat(unit["created_at"]) <= datetime.now(UTC)
    )


def by_unit(api: Api) -> bool:
    """The unit, its chunk and its siblings, by the id that markers hold."""
    unit = unit_of(api, "Mortality")
    address = f"citations/{unit['id']}/"
    inside = [each["id"] for each in api.get(f"chunks/{unit['chunk']}/")["units"]]
    siblings = [each["id"] for each in rows_of(api.get(address + "siblings/"))]
    return (
        api.get(address)["content"] == unit["content"]
        and str(unit["chunk"]) in str(api.get(address + "context/"))
        and sorted(siblings) == sorted(each for each in inside if each != unit["id"])
    )


def rows_of(answer: Any) -> list[Any]:
    rows: list[Any] = answer if isinstance(answer, list) else answer["results"]
    return rows


def chunk_places(api: Api) -> bool:
    known = api.metadata()
    return (
        [each["chunk_index"] for each in known] == list(range(len(known)))
        and {each["total_chunks"] for each in known} == {len(known)}
        and {each["media_id"] for each in known} == {api.document}
        and all(each["start_char"] < each["end_char"] for each in known)
        and all(each["chunk_type"] in (*each["unit_types"], "mixed") for each in known)
    )


def only(api: Api, query: str, wanted: Callable[[Any], bool], **filters: Any) -> bool:
    """Whether there are hits in the import, all of them as wanted."""
    hits = api.own_hits(query, **filters)
    return bool(hits) and all(map(wanted, hits))


def has_unit(api: Api, kind: str) -> Callable[[Any], bool]:
    return lambda hit: kind in {unit["unit_type"] for unit in api.get(f"chunks/{hit['chunk']}/")["units"]}


def is_mixed(api: Api) -> Callable[[Any], bool]:
    return lambda hit: bool(api.get(f"chunks/{hit['chunk']}/")["metadata"]["chunk_type"] == "mixed")


def under(section: str) -> Callable[[Any], bool]:
    return lambda hit: section in hit["section_path"]


def whole_hit(api: Api) -> bool:
    hit = api.own_hits("pilot")[0]
    similarity = hit["similarity"]
    return (
        hit.keys() >= HIT
        and hit["document_title"] == TITLE
        and hit["page_start"] <= hit["page"] <= hit["page_end"]
        and hit["score"] > 0
        and (similarity is None or -1 <= similarity <= 1)
        and any("pilot" in unit["content"] for unit in hit["units"])
    )


def last_search_is_kept(api: Api) -> bool:
    api.search("a crane beside the quay")
    return bool(api.get("searches/")["results"][0]["query"] == "a crane beside the quay")


def is_imported(api: Api) -> bool:
    shown = api.get(f"documents/{api.document}/")
    pages = max(unit["page_number"] for unit in api.units())
    return shown["status"] == "ready" and shown["page_count"] == pages and isinstance(shown["metadata"], dict)


def job_is_done(api: Api) -> bool:
    jobs = [job for job in api.get("jobs/")["results"] if job["document"] == api.document]
    return bool(jobs) and all(job["state"] == "done" for job in jobs)


def cited(api: Api) -> Any:
    return api.get(f"citations/{api.answer['citations'][0]['id']}/")


def words_have_boxes(api: Api) -> bool:
    """Each word has its box in points and, as shown, in fractions of the page."""
    words = api.get(f"documents/{api.pdf}/pages/1/words/")
    return bool(words) and all(
        word["rect"][0] < word["rect"][2] and all(0 <= at <= 1 for at in word["display"]) for word in words
    )


def turned_page_as_shown(api: Api) -> bool:
    """On a page turned by 90 degrees the top of the sheet is at the right."""
    words = api.get(f"documents/{api.pdf}/pages/3/words/")
    return len(words) == 3 and all(word["display"][0] > 0.8 and word["rect"][1] < 100 for word in words)


def claims_are_compared(api: Api) -> bool:
    """Of two places with "412" the one meant is cited; a wrong number is noticed."""
    claims = ("In Bergen 412 crates were stored in May.", "In Bergen 413 crates were stored in May.")
    sent = {"document": api.pdf, "claims": [{"claim": claim} for claim in claims]}
    right, wrong = api.post("verify/", sent).raise_for_status().json()["results"]
    return (right["verdict"], right["page"], wrong["verdict"]) == ("exact", 1, "unsupported")


def quote_over_paragraphs(api: Api) -> bool:
    quote = {"quote": "All of them were dry. In Narvik 96 crates were stored"}
    found = api.post(f"documents/{api.pdf}/locate/", quote).raise_for_status().json()
    return len(found["parts"][0]["rects"]) == 2


def lists_of_hits(api: Api) -> set[str]:
    return {rank["list"] for hit in api.own_hits("pilot") for rank in hit["why"]}


def runs_what_is_asked(api: Api) -> bool:
    run = [
        {each["name"] for each in api.search("pilot", rag_config={"rerank": on})["strategies"] if each["ran"]}
        for on in (True, False)
    ]
    return run[0] - run[1] == {"rerank"}


def exported_alone(api: Api) -> bool:
    text = api.client.get(f"messages/{api.answer['id']}/export/?format=md").text
    return "[^1]: Stores of the north, p. 2, line 3" in text and "Bergen" in text


def whole_citation(api: Api) -> bool:
    found = cited(api)
    region, box = found["region"], found["bbox"]
    return (
        (found["document"], found["page"], found["quote"]) == (api.pdf, 2, "412")
        and (found["unit_text"], found["verdict"]) == ("Bergen\t412", "exact")
        and found["lines_on_page"] == [3, 3]
        and 192 < box["x0"] < box["x1"] < 312 < region["page_width"]
        and 134 < box["y0"] < box["y1"] < 158
    )


def markers_lead_to_units(api: Api) -> bool:
    content = api.answer["content"]
    return all(f"[[cite:{each['unit']}:{each['page']}]]" in content for each in api.answer["citations"])


def kinds_of_pdf(api: Api) -> bool:
    kinds = {unit["unit_type"] for unit in api.units(api.pdf)}
    return kinds >= {"heading", "prose", "list", "table"}


def chunk_holds_its_units(api: Api) -> bool:
    chunks = api.chunks(api.pdf)
    return bool(chunks) and all(
        unit["content"].split()[0] in chunk["content"] and chunk["page_start"] <= chunk["page_end"]
        for chunk in chunks
        for unit in chunk["units"]
    )


def streams(api: Api) -> bool:
    """The answer arrives as an event stream that ends with "done"."""
    path = f"conversations/{api.answer['conversation']}/messages/"
    with api.client.stream(
        "POST", path, json={"question": QUESTION}, headers={"Accept": "text/event-stream"}
    ) as stream:
        lines = list(stream.iter_lines())
    return stream.headers["content-type"].startswith("text/event-stream") and "event: done" in lines


def note_has_versions(api: Api) -> bool:
    note = api.post("notes/", {"title": TITLE}).raise_for_status().json()
    address = f"notes/{note['id']}/"
    fields = next(name for name in ("body", "content", "markdown") if name in note)
    for text in ("first", "second"):
        known = api.get(address)
        change = {fields: text, **({"revision": known["revision"]} if "revision" in known else {})}
        api.client.patch(address, json=change).raise_for_status()
    kept = api.get(address)[fields]
    versions = rows_of(api.get(address + "versions/"))
    api.client.delete(address)
    return bool(kept == "second" and versions)


def image_of_words(api: Api) -> bool:
    image = api.client.get(f"citations/{cited(api)['id']}/image/")
    return image.headers["content-type"] == "image/png" and image.content.startswith(b"\x89PNG")


def paper_is_found_by_what_it_says(api: Api) -> bool:
    """A paper known by its metadata: TLDR or abstract come first, its authors for their names."""
    paper = {
        "title": f"Tides {time.time_ns()}",
        "authors": ["June Harbour"],
        "abstract": "The range of tides rose.",
    }
    known = api.post("papers/", {**paper, "tldr": "Tides rise faster."}).raise_for_status().json()["id"]
    wait_for(api, known)
    try:
        first = [
            api.search(words, documents=[known])["hits"][0]["passage"] for words in ("tides rise", "Harbour")
        ]
    finally:
        api.client.delete(f"documents/{known}/")
    return "June" not in first[0] and "June" in first[1]


def imported_metadata(api: Api, block: dict[str, Any]) -> Any:
    """Return the metadata of the only chunk of an import, which is deleted again."""
    answer = api.post("documents/import/", {"title": "One block", "blocks": [block]}).raise_for_status()
    known = answer.json()["id"]
    try:
        wait_for(api, known)
        return api.metadata(known)[0]
    finally:
        api.client.delete(f"documents/{known}/")


KINDS = {
    "TEXT": "prose",
    "PARAGRAPH": "prose",
    "TEXTSECTION": "prose",
    "HEADING": "heading",
    "BULLET_LIST": "list",
    "NUMBERED_LIST": "list",
    "TABLE": "table",
    "TABLE_ROW": "table",
    "TABLE_CELL": "table",
    "CODE": "code",
    **dict.fromkeys(("IMAGE", "VIDEO", "AUDIO", "FILE"), "caption"),
}


def kinds_of_blocks(api: Api) -> bool:
    return all(
        imported_metadata(api, {"type": given, "text": "The gate."})["chunk_type"] == kind
        for given, kind in KINDS.items()
    )


def times_in_any_form(api: Api) -> bool:
    times = (724.5, "724.5", "00:12:04,500", "PT12M4.5S", "12m4.5s", "724500 ms")
    blocks = [{"type": "AUDIO", "text": "Aboard.", "start_timestamp": time} for time in times]
    return all(imported_metadata(api, block)["citation"]["start_timestamp_ms"] == 724_500 for block in blocks)


def cell_of_a_sheet(api: Api) -> bool:
    known = {"table_row": 2, "table_col": 1, "citation": {"sheet_name": "Q2"}}
    found = imported_metadata(api, {"type": "TABLE_CELL", "text": "412", "metadata": known})
    place = found["citation"]
    return (found["table_row"], found["table_col"]) == (2, 1) and (
        (place["sheet_name"], place["row_number"], place["column_number"]) == ("Q2", 3, 2)
    )


def failure_is_shown(api: Api) -> bool:
    files = {"file": (f"empty-{time.time_ns()}.pdf", b"%%PDF-1.7 %d" % time.time_ns(), "application/pdf")}
    sent = api.client.post("documents/", files=files)
    if sent.status_code != 201:
        return bool(sent.json()["message"])
    known = sent.json()["id"]
    end = time.monotonic() + LONGEST_WAIT
    while (shown := api.get(f"documents/{known}/"))["status"] != "failed" and time.monotonic() < end:
        time.sleep(0.5)
    jobs = [job["state"] for job in rows_of(api.get("jobs/")) if job["document"] == known]
    api.client.delete(f"documents/{known}/")
    return bool(shown["failure_message"]) and jobs == ["failed"]


def follow_up_is_stored(api: Api) -> bool:
    """A second question is stored as a follow-up, with the answer that it follows as its parent."""
    path = f"conversations/{api.answer['conversation']}/messages/"
    api.post(path, {"question": "And in Narvik?"}).raise_for_status()
    stored = rows_of(api.get("searches/"))[0]
    return (stored["query_type"], stored["source"]) == ("follow_up", "chat") and bool(stored["parent"])


def one_document_for_one_paper(api: Api) -> bool:
    paper = {"title": f"Tides of {time.time_ns()}", "doi": f"10.1234/tides.{time.time_ns()}"}
    first, second = (api.post("papers/", paper) for _ in range(2))
    known = first.raise_for_status().json()["id"]
    api.client.delete(f"documents/{known}/")
    return second.status_code == 409 or second.json()["id"] == known


def goes_with_its_document(api: Api) -> bool:
    unit = api.units(api.pdf)[0]["id"]
    found = [{hit["document"] for hit in api.search(QUESTION)["hits"]}]
    api.client.delete(f"documents/{api.pdf}/").raise_for_status()
    found.append({hit["document"] for hit in api.search(QUESTION)["hits"]})
    return [api.pdf in each for each in found] == [True, False] and (
        api.client.get(f"units/{unit}/").status_code == 404
    )


Check = Callable[[Api], object]
ROWS: dict[str, tuple[str, Check]] = {
    "000.1, 001.3, 004.11, 004.18": ("documents/, pages/1/words/", words_have_boxes),
    "000.2, 000.8, 000.19, 000.35": ("units/", kinds_of_pdf),
    "000.10–000.13, 000.15": ("chunks/<id>/", chunk_holds_its_units),
    "000.32, 004.1, 004.2": ("messages/: content, citations", markers_lead_to_units),
    "000.33, 001.20–001.22, 003.22, 004.3, 004.9": ("citations/<id>/", whole_citation),
    "001.1, 001.2, 001.13": (
        "POST documents/, jobs/",
        lambda api: (
            [(job["kind"], job["state"]) for job in api.get("jobs/")["results"] if job["document"] == api.pdf]
            == [("read", "done")]
        ),
    ),
    "001.10, 003.21": (
        "conversations/<id>/",
        lambda api: api.get(f"conversations/{api.answer['conversation']}/")["documents"] == [api.pdf],
    ),
    "003.11, 003.19": ("messages/: rag_config", lambda api: api.answer["rag_config"]["top_k"] == 3),
    "003.17": (
        "search/",
        lambda api: len({hit["chunk"] for hit in api.own_hits("pilot")}) == len(api.own_hits("pilot")),
    ),
    "003.26": ("messages/ as text/event-stream", streams),
    "003.28 answers": (
        "messages/ without words",
        lambda api: (
            api.post(f"conversations/{api.answer['conversation']}/messages/", {"question": " "}).status_code
            == 400
        ),
    ),
    "003.40, 003.41": ("notes/, versions/", note_has_versions),
    "003.42, 003.43": ("POST papers/, search/", paper_is_found_by_what_it_says),
    "003.54": (
        "documents/<id>/reference/",
        lambda api: api.get(f"documents/{api.pdf}/reference/")["text"],
    ),
    "004.8, 004.21": ("citations/<id>/image/", image_of_words),
    "001.14": ("POST documents/ of a broken file", failure_is_shown),
    "000.27": (
        "search/: similarity",
        lambda api: all(
            hit["similarity"] is None or hit["similarity"] > 0.1 for hit in api.own_hits("pilot")
        ),
    ),
    "002.9, 002.13": (
        "chunks/<id>/",
        lambda api: all(
            known["language"] == "en" and known["context_header"] for known in api.metadata(api.pdf)
        ),
    ),
    "002.11": (
        "chunks/<id>/",
        lambda api: "bullet" in {known.get("list_style") for known in api.metadata(api.pdf)},
    ),
    "002.12, 002.17": ("import/, chunks/<id>/", cell_of_a_sheet),
    "002.18 forms": ("import/, chunks/<id>/", times_in_any_form),
    "002.20": (
        "chunks/<id>/",
        lambda api: all(len(json.dumps(known)) < 2000 for known in api.metadata(api.pdf)),
    ),
    "002.22–002.27, 002.29": ("import/, chunks/<id>/", kinds_of_blocks),
    "003.20, 003.38": ("messages/, searches/", follow_up_is_stored),
    "003.45": ("POST papers/ twice", one_document_for_one_paper),
    "card.5": ("schema/", lambda api: api.client.get("schema/").status_code == 200),
    "000.3–000.9": ("units/, chunks/<id>/", whole_unit),
    "000.5": ("pages/1/ and units/", text_matches_offsets),
    "000.14": (
        "search/ chunk_types mixed",
        lambda api: only(api, "pilot", is_mixed(api), chunk_types=["mixed"]),
    ),
    "000.26, 002.35": ("search/", whole_hit),
    "000.28": ("search/ limit 1", lambda api: len(api.own_hits("pilot", limit=1)) == 1),
    "000.29–000.31": ("citations/<unit>/, context/, siblings/", by_unit),
    "001.8": ("documents/<id>/", is_imported),
    "001.12": ("jobs/", job_is_done),
    "002.1–002.7": ("chunks/<id>/", chunk_places),
    "002.8": (
        "chunks/<id>/",
        lambda api: all(known["ancestry_titles"].count(TITLE) == 1 for known in api.metadata()),
    ),
    "002.10": ("import/, units/", lambda api: unit_of(api, "low tide")["code_language"] == "python"),
    "002.15": ("chunks/<id>/", lambda api: api.first_anchor()["line_end"] > api.first_anchor()["line_start"]),
    "002.16": ("import/, units/", lambda api: unit_of(api, "fourth")["place"] == "slide 4"),
    "002.18": (
        "chunks/<id>/",
        lambda api: (
            (api.first_anchor()["start_timestamp_ms"], api.first_anchor()["end_timestamp_ms"])
            == (2000, 729250)
        ),
    ),
    "002.19": ("chunks/<id>/", lambda api: api.first_anchor()["bbox_quad"][0] == {"x": 0.1, "y": 0.1}),
    "002.24": ("import/, units/", lambda api: unit_of(api, "412")["unit_type"] == "table"),
    "002.31": (
        "search/ fts_level media",
        lambda api: only(api, "pilot", lambda hit: hit["document"] == api.document, fts_level="media"),
    ),
    "002.34, 003.15": (
        "search/ chunk_types code",
        lambda api: only(api, "low tide", has_unit(api, "code"), chunk_types=["code"]),
    ),
    "002.34 pages": (
        "search/ page_from, page_to",
        lambda api: only(api, "slide crane", lambda hit: hit["page"] == 4, page_from=4, page_to=4),
    ),
    "002.34 sections": (
        "search/ sections",
        lambda api: only(api, "crates", under("Methods"), sections=["Methods"]),
    ),
    "003.13 results": (
        "search/",
        lambda api: only(api, "What did the Results section say about mortality?", under("Results")),
    ),
    "003.13 methods": ("search/", lambda api: only(api, "What methods were used?", under("Methods"))),
    "003.13 table": (
        "search/",
        lambda api: (
            {"stated place"}
            < {
                rank["list"]
                for hit in api.own_hits("Show me the data from Table 2")
                if has_unit(api, "table")(hit)
                for rank in hit["why"]
            }
        ),
    ),
    "003.28": ("search/ without words", lambda api: api.post("search/", {"query": ""}).status_code == 400),
    "003.37": ("searches/", last_search_is_kept),
    "order of blocks": (
        "import/, units/",
        lambda api: (
            [unit["page_number"] for unit in api.units()]
            == sorted(unit["page_number"] for unit in api.units())
            and unit_of(api, "crane")["page_number"] == 4
        ),
    ),
    "000.38, 004.19": ("pages/3/words/", turned_page_as_shown),
    "000.37, 004.10, 004.17": ("verify/", claims_are_compared),
    "004.13": ("documents/<id>/locate/", quote_over_paragraphs),
    "004.22": ("messages/<id>/export/", exported_alone),
    "000.25, 002.33, 003.3–003.5, 003.7": (
        "search/: why",
        lambda api: lists_of_hits(api) >= {"question", "meaning of question"},
    ),
    "003.18": ("search/: rag_config", runs_what_is_asked),
    "000.18, 001.7": (
        "units/: lines, region",
        lambda api: (
            [unit["lines"][0] for unit in api.units(api.pdf) if unit["unit_type"] == "prose"][:2] == [2, 3]
            and all(unit["region"]["rects"] for unit in api.units(api.pdf))
        ),
    ),
    "003.27, 003.32, 003.35": (
        "messages/: citations, html",
        lambda api: all(
            each["document_title"] and f"/documents/{api.pdf}/?page={each['page']}" in api.answer["html"]
            for each in api.answer["citations"]
        ),
    ),
    "000.16, 002.32": ("DELETE documents/<id>/, units/<id>/, search/", goes_with_its_document),
}


def tried(api: Api) -> Iterator[tuple[str, str, str]]:
    """Yield row, call and result of each check."""
    for row, (called, check) in ROWS.items():
        try:
            said = "yes" if check(api) else "no"
        except (httpx.HTTPError, IndexError, KeyError, StopIteration) as error:
            said = f"no: {type(error).__name__} {str(error)[:80]}"
        yield row, called, said


def main() -> int:
    address = os.environ["PINCITE_URL"] + "/api/"
    headers = {"Authorization": f"Bearer {os.environ['PINCITE_TOKEN']}"}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        api = Api(client)
        begin(api)
        results = list(tried(api))
        client.delete(f"documents/{api.document}/")
    print("| row | called | as specified |\n|---|---|---|")
    for result in results:
        print(f"| {' | '.join(result)} |")
    return int(any(not said.startswith("yes") for _, _, said in results))


if __name__ == "__main__":
    sys.exit(main())
