"""Documents for endurance: each different from all others, and the same on every run."""

from __future__ import annotations

import pymupdf

LINES = 45


def sample_pdf(serial: int, pages: int) -> bytes:
    """A PDF of so many pages of plain text."""
    document = pymupdf.open()
    for number in range(1, pages + 1):
        page = document.new_page()
        page.insert_text((72, 72), f"Report {serial}, part {number}", fontname="hebo", fontsize=16)
        lines = [
            f"Line {line} of part {number}: measure {line * number} was {line + number}.50 pounds."
            for line in range(LINES)
        ]
        page.insert_text((72, 100), lines, fontname="helv", fontsize=10, lineheight=1.4)
    return bytes(document.tobytes(no_new_id=True))
