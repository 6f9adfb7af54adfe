"""Searches, asks with search settings of its own, and follows citations to their chunks."""

from __future__ import annotations

import os
import sys
from typing import Any

import httpx

api = httpx.Client(
    base_url=os.environ["PINCITE_URL"] + "/api",
    headers={"Authorization": f"Bearer {os.environ['PINCITE_TOKEN']}"},
    timeout=120,
)
question, *documents = sys.argv[1:]


def get(path: str, **query: Any) -> Any:
    return api.get(path, params=query).raise_for_status().json()


def post(path: str, **body: Any) -> Any:
    return api.post(path, json=body).raise_for_status().json()


# Hits are whole: units with text, offsets, lines and boxes, the chunk with its neighbours, the score's parts.
strategies = {"vector_limit": 20, "keyword_limit": 20, "top_k": 6, "threshold": 0.1, "fts_level": "chunk"}
found = post("/search/", query=question, documents=documents, rag_config=strategies)
for hit in found["hits"]:
    why = ", ".join(f"{rank['rank']}. by {rank['list']}" for rank in hit["why"])
    print(f"hit: {hit['file_name']}, p. {hit['page']}, {len(hit['units'])} units ({why})")
    print(
        f"    similarity {hit['similarity']}, chunks beside it {hit['previous_chunk']}, {hit['next_chunk']}"
    )
print(found["message"] or f"{found['total']} passages")

# A question searched in its own way: strategies, depth and filters, kept with the answer.
conversation = post("/conversations/", documents=documents, rag_config={"compression": False})["id"]
config = {
    **strategies,
    "multi_query": True,
    "hyde": True,
    "self_query": True,
    "rerank": True,
    "decomposition": True,
}
filters = {"page_from": 1, "documents": documents}
asked = post(
    f"/conversations/{conversation}/messages/", question=question, rag_config={**config, "filters": filters}
)
answer = asked["answer"]
print(f"answer: {answer['text']}")
print(f"searched with {answer['rag_config']}")

# From a citation to its words, its retrieval chunk and the other units of that chunk.
for number, cited in enumerate(answer["citations"], 1):
    citation = get(f"/citations/{cited['id']}/")
    box = citation["region"]["bbox"]
    print(f"[{number}] p. {citation['page']} at x {box['x']:.0f}, y {box['y']:.0f}: “{citation['quote']}”")
    context = get(f"/citations/{cited['id']}/context/", neighbours=1)
    siblings = get(f"/citations/{cited['id']}/siblings/")["results"]
    known = get(f"/chunks/{context['chunk']['id']}/")["metadata"]
    print(f"    in chunk {known['chunk_index'] + 1} of {known['total_chunks']} ({known['chunk_type']}),")
    print(f"    characters {known['start_char']}–{known['end_char']}, beside {len(siblings)} other units")
    assert get(f"/units/{context['unit']['id']}/context/")["chunk"]["id"] == context["chunk"]["id"]

last = get("/searches/")["results"][0]
print(f"kept in the history: “{last['query']}” ({last['query_type']}, {last['source']})")
