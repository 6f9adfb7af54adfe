"""Try the rows of docs/specification.md that the API can show, and print a table of them.

    PINCITE_URL=http://localhost:8000 PINCITE_TOKEN=pin_… python examples/specification_rows.py

The token needs the rights read, write and ask. A small import is made, and deleted in the end. Exit code 1 if
a row is not as the table says.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

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


@dataclass
class Api:
    """The API, with the document that is imported for the walk."""

    client: httpx.Client
    document: str = ""

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

    def units(self) -> list[Any]:
        found: list[Any] = self.get(f"documents/{self.document}/units/")["results"]
        return found

    def metadata(self) -> list[Any]:
        chunks = self.get(f"documents/{self.document}/chunks/")["results"]
        return [self.get(f"chunks/{chunk['id']}/")["metadata"] for chunk in chunks]

    def first_anchor(self) -> Any:
        return self.metadata()[0]["citation"]


def begin(api: Api) -> None:
    answer = api.post("documents/import/", {"title": TITLE, "blocks": BLOCKS})
    answer.raise_for_status()
    api.document = answer.json()["id"]
    end = time.monotonic() + LONGEST_WAIT
    while api.get(f"documents/{api.document}/")["status"] != "ready":
        if time.monotonic() > end:
            raise SystemExit("The import was not read in time.")
        time.sleep(0.5)


def unit_of(api: Api, words: str) -> Any:
    return next(unit for unit in api.units() if words in unit["content"])


def text_matches_offsets(api: Api) -> bool:
    page = api.get(f"documents/{api.document}/pages/1/")["text"]
    on_page = [unit for unit in api.units() if unit["page_number"] == 1]
    return all(page[unit["char_start"] : unit["char_end"]] == unit["content"] for unit in on_page)


def filtered(api: Api, question: str) -> Any:
    return api.search(question)["filters"]


Check = Callable[[Api], object]
ROWS: dict[str, tuple[str, Check]] = {
    "000.3–000.9": ("units/", lambda api: api.units()[0].keys() >= UNIT),
    "000.5": ("pages/1/ and units/", text_matches_offsets),
    "000.14": ("search/ chunk_types mixed", lambda api: api.own_hits("pilot", chunk_types=["mixed"])),
    "000.26": ("search/", lambda api: api.own_hits("pilot")[0]["units"][0].keys() >= UNIT),
    "000.28": ("search/ limit 1", lambda api: len(api.search("quay", limit=1)["hits"]) <= 1),
    "000.29": ("citations/<unit>/", lambda api: api.get(f"citations/{api.units()[0]['id']}/")["content"]),
    "000.30": (
        "citations/<unit>/context/",
        lambda api: api.get(f"citations/{api.units()[0]['id']}/context/"),
    ),
    "000.31": (
        "citations/<unit>/siblings/",
        lambda api: api.get(f"citations/{api.units()[0]['id']}/siblings/"),
    ),
    "001.8": (
        "documents/<id>/",
        lambda api: {"status", "page_count", "metadata"} <= api.get(f"documents/{api.document}/").keys(),
    ),
    "001.12": ("jobs/", lambda api: api.get("jobs/")["results"]),
    "002.1–002.7": (
        "chunks/<id>/",
        lambda api: (
            {
                "media_id",
                "file_name",
                "chunk_index",
                "total_chunks",
                "start_char",
                "end_char",
                "chunk_type",
                "section_path",
            }
            <= {name for known in api.metadata() for name in known}
        ),
    ),
    "002.8": (
        "chunks/<id>/",
        lambda api: all(known["ancestry_titles"].count(TITLE) == 1 for known in api.metadata()),
    ),
    "002.10": ("import/, units/", lambda api: unit_of(api, "low tide")["code_language"] == "python"),
    "002.15": ("chunks/<id>/", lambda api: api.first_anchor()["line_end"] > api.first_anchor()["line_start"]),
    "002.16": ("import/, units/", lambda api: unit_of(api, "fourth")["place"]),
    "002.18": (
        "chunks/<id>/",
        lambda api: (
            (api.first_anchor()["start_timestamp_ms"], api.first_anchor()["end_timestamp_ms"])
            == (2000, 729250)
        ),
    ),
    "002.19": ("chunks/<id>/", lambda api: api.first_anchor()["bbox_quad"][0] == {"x": 0.1, "y": 0.1}),
    "002.24": ("import/, units/", lambda api: unit_of(api, "412")["unit_type"] == "table"),
    "002.31": ("search/ fts_level media", lambda api: api.own_hits("pilot", fts_level="media")),
    "002.34": (
        "search/ chunk_types code",
        lambda api: all(
            "code" in {unit["unit_type"] for unit in api.get(f"chunks/{hit['chunk']}/")["units"]}
            for hit in api.search("low tide", chunk_types=["code"])["hits"]
        ),
    ),
    "002.35": ("search/", lambda api: api.own_hits("pilot")[0].keys() >= HIT),
    "003.13 results": (
        "search/",
        lambda api: "results" in str(filtered(api, "What did the Results section say about mortality?")),
    ),
    "003.13 methods": ("search/", lambda api: "methods" in str(filtered(api, "What methods were used?"))),
    "003.13 table": ("search/", lambda api: "table" in str(filtered(api, "Show me the data from Table 2"))),
    "003.28": ("search/ without words", lambda api: api.post("search/", {"query": ""}).status_code == 400),
    "003.37": ("searches/", lambda api: api.get("searches/")["results"]),
    "order of blocks": (
        "import/, units/",
        lambda api: (
            [unit["page_number"] for unit in api.units()]
            == sorted(unit["page_number"] for unit in api.units())
            and unit_of(api, "crane")["page_number"] == 4
        ),
    ),
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
