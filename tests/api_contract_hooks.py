"""Read by schemathesis in its own process: what a part of type application/pdf holds."""

from __future__ import annotations

import schemathesis
from hypothesis import strategies as st

from tests.drawing import draw_pdf

PDFS = [draw_pdf(f"Page of file number {number}.") for number in range(20)]
schemathesis.openapi.media_type("application/pdf", st.sampled_from(PDFS))
