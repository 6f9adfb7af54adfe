"""Citing: a claim and pages in, a verdict and rectangles out. Imports neither Django nor a database.

``marker_decoder`` and ``foreign_markers`` read what a model writes, ``claim_spans`` splits it into claims,
``anchoring`` finds words on a page, ``comparison`` compares them with a claim, ``verdict`` judges it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citing.claims import Verification
    from pdf.structure import ParsedPage


def verify(claim: str, page: ParsedPage, *, quote: str = "", question: str = "") -> Verification:
    """Return whether the page bears the claim out, and where. Raises ValueError for an empty page.

    Args:
        claim: one sentence.
        page: of ``pdf.api.parse_file(path).pages``.
        quote: words that should be on the page as they are written; they are located.
        question: what was asked; it chooses among equal values.

    Returns:
        Its ``verdict`` is among ``citing.claims.VERIFIED``, or ``found``, ``partial`` or ``unsupported``;
        its ``rects`` are in page space.
    """
    from citing.batch import verify_on_page  # the languages' tables take a second, which not all need
    from citing.claims import Claim

    return verify_on_page(Claim(claim, quote, question), page)
