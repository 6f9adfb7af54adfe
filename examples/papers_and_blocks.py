"""Adds papers and another parser's blocks, asks about these, keeps a note, exports with references."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import httpx

api = httpx.Client(
    base_url=os.environ["PINCITE_URL"] + "/api",
    headers={"Authorization": f"Bearer {os.environ['PINCITE_TOKEN']}"},
    timeout=120,
)
BIBLIOGRAPHY = """
@article{tides, title = {Tides of Estuaries}, author = {Doe, Jane and Roe, Richard}, year = {1998},
  journal = {Journal of Coasts}, doi = {10.5555/tides.1998}, abstract = {Tides turn later upstream.}}
"""
BLOCKS = [
    {"type": "heading", "text": "Harvest review", "slide": 4},
    {"type": "text", "text": "The orchard gave 412 crates of pears in 2031.", "slide": 4},
    {"type": "table", "rows": [["Crop", "Crates"], ["Pears", "412"]], "sheet": "Q2", "row": 6},
    {"type": "audio", "text": "We begin with the pears.", "start_ms": 724_000, "end_ms": 731_000},
]


def get(path: str, **query: Any) -> Any:
    return api.get(path, params=query).raise_for_status().json()


def post(path: str, **body: Any) -> Any:
    return api.post(path, json=body).raise_for_status().json()


# Papers of a list become documents; each gives its reference in a CSL style.
for paper in post("/papers/import/", text=BIBLIOGRAPHY):
    line = get(f"/documents/{paper['id']}/reference/", style="apa")["text"]
    print(f"paper: {line} (record: {paper['metadata']['paper']['venue']})")

# Papers on a topic, and those around a paper, come from the catalogues, which may not answer.
for path, query in (
    ("/papers/search/", {"q": "tides of estuaries"}),
    (f"/documents/{paper['id']}/citing/", {}),
    (f"/documents/{paper['id']}/references/", {}),
):
    listed = api.get(path, params=query)
    found = [row["title"] for row in listed.json()] if listed.is_success else listed.json()["message"]
    print(f"{path.split('/')[-2]}: {found}")
if len(sys.argv) > 2:  # the paper's own file takes the place of its record
    with Path(sys.argv[2]).open("rb") as pdf:
        sent = api.post(f"/documents/{paper['id']}/pdf/", files={"file": pdf}).raise_for_status().json()
    print(f"full text: {sent['status']}")
    again = api.post(f"/documents/{paper['id']}/retry/")
    print(f"read again: {'asked for' if again.is_success else again.json()['message']}")

# Blocks are checked at once; what is wrong is said of each. A worker makes the document, as its job says.
refused = api.post("/documents/import/", json={"blocks": [{"text": "a"}, {"text": "b", "page": -1}]})
print(f"refused: {refused.json()['message']} {refused.json()['fields']}")
document = post("/documents/import/", title="Harvest", blocks=BLOCKS)["id"]
(job,) = get("/jobs/", document=document)["results"]
while job["state"] in ("waiting", "running"):
    time.sleep(0.2)
    job = get(f"/jobs/{job['id']}/")
print(f"{job['kind']}: {job['state']} after {job['seconds']} s")
for unit in get(f"/documents/{document}/units/")["results"]:
    print(f"    {unit['place']}: {unit['content']!r}")

# An answer cites the slide; the whole conversation is exported with its references.
conversation = post("/conversations/", documents=[document])["id"]
answer = post(f"/conversations/{conversation}/messages/", question="How many crates of pears?")["answer"]
places = {citation["place"] for citation in answer["citations"]}
print(f"cited: {', '.join(sorted(places))}")
for form in ("md", "html", "docx"):
    file = api.get(f"/conversations/{conversation}/export/", params={"format": form, "style": "ieee"})
    if len(sys.argv) > 1:
        Path(sys.argv[1]).with_suffix(f".{form}").write_bytes(file.raise_for_status().content)
    print(f"{form}: {len(file.raise_for_status().content)} bytes of {file.headers['Content-Type']}")

# A note is saved by its revision; what it held before stays.
note = post("/notes/", title="Pears", content="412 crates.", document=document)
changed = {"content": "412 crates in 2031.", "revision": note["revision"]}
api.patch(f"/notes/{note['id']}/", json=changed).raise_for_status()
versions = get(f"/notes/{note['id']}/versions/")["results"]
kept = get(f"/notes/{note['id']}/")["content"]
print(f"note: {kept} (before: {versions[0]['content']})")
