"""What is true of a whole file and asked for each of its pages: found once."""

from __future__ import annotations

from typing import NamedTuple

import pymupdf

from documents.pdf.visibility import hides_layers


class Traits(NamedTuple):
    """``labels``: its pages have numbers of their own. ``hides_layers``: some optional content is off."""

    labels: bool = True
    hides_layers: bool = True


def traits_of(document: pymupdf.Document) -> Traits:
    """The file's traits; where they cannot be told, those that leave the question to each page."""
    try:
        return Traits(bool(document.get_page_labels()), hides_layers(document))
    except Exception:  # MuPDF raises many kinds; a damaged catalog is no reason to read no page
        return Traits()
