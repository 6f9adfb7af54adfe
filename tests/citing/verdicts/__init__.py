"""Claims and their passages, one a line: ``lang``, ``passage``, ``claim``, and whether it is ``verified``."""

from __future__ import annotations

import json
from pathlib import Path


def cases_in(name: str) -> list[dict[str, str]]:
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
