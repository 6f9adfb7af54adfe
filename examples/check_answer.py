"""Checks what another program wrote (any RAG pipeline), sentence by sentence, against a PDF.

``check_answer.py FILE.pdf < answer.txt`` prints each sentence with its page, or with what the page says
otherwise. The file is not kept. Ends with 1 if a sentence is not borne out.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import httpx

file = Path(sys.argv[1])
sentences = [part.strip() for part in re.split(r"(?<=[.!?])\s+", sys.stdin.read()) if part.strip()]
answer = httpx.post(
    f"{os.environ['PINCITE_URL']}/api/verify/file/",
    headers={"Authorization": f"Bearer {os.environ['PINCITE_TOKEN']}"},
    files={"file": (file.name, file.read_bytes(), "application/pdf")},
    data={"claims": json.dumps([{"claim": sentence} for sentence in sentences])},
    timeout=120,
)
answer.raise_for_status()
results = answer.json()["results"]
for sentence, result in zip(sentences, results, strict=True):
    where = f"p. {result['page']}" if result["verified"] else result["reason"] or "not borne out"
    print(f"{'✓' if result['verified'] else '✗'} {sentence} ({where})")
sys.exit(0 if all(result["verified"] for result in results) else 1)
