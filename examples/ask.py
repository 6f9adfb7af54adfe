"""Asks a question, prints the answer as it is written, then each citation with its page and verdict."""

from __future__ import annotations

import json
import os
import sys

import httpx

api = httpx.Client(
    base_url=os.environ["PINCITE_URL"] + "/api",
    headers={"Authorization": f"Bearer {os.environ['PINCITE_TOKEN']}"},
    timeout=120,
)
question, *documents = sys.argv[1:]
conversation = api.post("/conversations/", json={"documents": documents}).raise_for_status().json()["id"]

with api.stream(
    "POST",
    f"/conversations/{conversation}/messages/",
    json={"question": question},
    headers={"Accept": "text/event-stream"},
) as stream:
    stream.raise_for_status()
    kind = ""
    for line in stream.iter_lines():
        if line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data: "):
            event = json.loads(line[6:])
            if kind == "text":
                print(event["text"], end="", flush=True)
            elif kind == "done":
                print(f"\n\n{event['summary']['text']}")
                for cited in event["citations"]:
                    print(f"[{cited['number']}] p. {cited['page']} {cited['verdict']}: “{cited['quote']}”")
                    print(f"    citation {cited['id']}")
