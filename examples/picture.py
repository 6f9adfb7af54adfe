"""Saves the picture of a citation: the page around the words, the passage pale, the words strong."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import httpx

citation, out = sys.argv[1:]
answer = httpx.get(
    f"{os.environ['PINCITE_URL']}/api/citations/{citation}/image/",
    params={"crop": True, "dpi": 144},
    headers={"Authorization": f"Bearer {os.environ['PINCITE_TOKEN']}"},
    timeout=60,
)
answer.raise_for_status()
Path(out).write_bytes(answer.content)
print(f"{out}: {len(answer.content)} bytes")
