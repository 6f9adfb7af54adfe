"""Verify a claim on a page of a PDF: no server, no database, no Django.

    python examples/verify_a_claim.py report.pdf 5 "The fee was raised to 12 euros in 2023."

From the folder of the code, with its packages (`make install`).
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from citing import verify
from pdf.api import parse_file


def main(path: str, page: str, claim: str) -> None:
    pages = parse_file(Path(path)).pages
    found = verify(claim, pages[int(page) - 1])
    print(found.verdict, found.reason)
    print(f"“{found.quote}” on page {found.page}")
    for rect in found.rects:
        print(*(round(side, 1) for side in rect))


if __name__ == "__main__":
    main(*sys.argv[1:])
