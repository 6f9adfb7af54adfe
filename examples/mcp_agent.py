"""An agent without a model: answers from documents over MCP, and says only what was verified.

``mcp_agent.py "QUESTION" ["NAME OF A DOCUMENT"]`` asks, has each claim of the answer verified once more, and
drops the others. ``mcp_agent.py --questions FILE.jsonl`` does so for questions in FinanceBench's format
(``question``, ``doc_name``, ``evidence`` with pages from 0), and ends with how many answers had a page of the
evidence. Needs `pip install mcp`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError(result.content[0].text)
    return dict(result.structured_content)


async def answer(client: Client, question: str, name: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Verified claims, each with its result of `verify`; none where no document has the name."""
    listed = await call(client, "list_documents", query=name, limit=1) if name else {"documents": []}
    documents = [row["id"] for row in listed["documents"]]
    if name and not documents:
        return []  # without a document the whole library would be asked
    asked = await call(client, "ask", question=question, documents=documents)
    said: dict[str, dict[str, Any]] = {}
    for cited in asked["citations"]:
        claim = cited["claim"] or cited["quote"]
        place = {"document": cited["document"], "page": cited["page"], "quote": cited["quote"]}
        verified = await call(client, "verify", claim=claim[:4000], **place)
        if verified["verified"]:
            said[claim] = verified
    return list(said.items())


async def main(arguments: list[str]) -> None:
    headers = {"Authorization": f"Bearer {os.environ['PINCITE_TOKEN']}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(f"{os.environ['PINCITE_URL']}/mcp", http_client=http)) as client,
    ):
        if arguments[0] != "--questions":
            for claim, verified in await answer(client, *arguments):
                print(f"{claim} (p. {verified['page']}, {verified['verdict']}) {verified['link']}")
            return
        rows = [json.loads(line) for line in Path(arguments[1]).read_text().splitlines()]
        answered = claims = hits = 0
        for row in rows:
            said = await answer(client, row["question"], row["doc_name"])
            evidence = {found["evidence_page_num"] + 1 for found in row["evidence"]}
            pages = [verified["page"] for _, verified in said]
            answered, claims = answered + bool(said), claims + len(said)
            hits += bool(evidence & set(pages))
            print(f"{row['doc_name']}: pages {pages}, evidence {sorted(evidence)}", flush=True)
        print(
            f"{answered} of {len(rows)} answered by {claims} claims, all verified; {hits} from evidence pages"
        )


asyncio.run(main(sys.argv[1:]))
