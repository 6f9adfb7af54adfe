"""Hooks for schemathesis, which loads them in its own process: examples of PDF uploads."""

from __future__ import annotations

import schemathesis
from hypothesis import strategies as st

from tests.drawing import draw_pdf

PDFS = [draw_pdf(f"Page of file number {number}.") for number in range(20)]
schemathesis.openapi.media_type("application/pdf", st.sampled_from(PDFS))
