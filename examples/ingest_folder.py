"""Uploads every PDF of a folder and waits until each is ready or has failed."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path

import httpx

api = httpx.Client(
    base_url=os.environ["PINCITE_URL"] + "/api",
    headers={"Authorization": f"Bearer {os.environ['PINCITE_TOKEN']}"},
    timeout=120,
)


def upload(path: Path) -> str | None:
    """The document's id. The same file sent again is not stored twice; 429 is waited out."""
    body = path.read_bytes()
    while True:
        answer = api.post(
            "/documents/",
            files={"file": (path.name, body, "application/pdf")},
            headers={"Idempotency-Key": hashlib.sha256(body).hexdigest()},
        )
        if answer.status_code == 429:
            time.sleep(int(answer.headers["Retry-After"]))
        elif answer.status_code == 409 and "Location" in answer.headers:
            return answer.headers["Location"].rstrip("/").rpartition("/")[2]
        elif answer.is_success:
            return answer.json()["id"]
        else:
            print(f"{path.name}: {answer.json()['message']}")
            return None


def wait(document: str) -> dict:
    while True:
        state = api.get(f"/documents/{document}/status/").raise_for_status().json()
        if state["status"] in ("ready", "failed"):
            return state
        time.sleep(0.5)


for path in sorted(Path(sys.argv[1]).glob("*.pdf")):
    if document := upload(path):
        state = wait(document)
        print(f"{path.name}: {state['status']} {state['page_count']} pages {state['failure_message']}")
