"""What is true of a whole file and asked for each of its pages: found once."""

from __future__ import annotations

from typing import NamedTuple

import pymupdf

from documents.pdf.fast.tags.tree import RoleMap, readable_tags
from documents.pdf.visibility import hides_layers


class Traits(NamedTuple):
    """What the reading of a page depends on.

    Attributes:
        labels: its pages have numbers of their own.
        hides_layers: some optional content is off.
        role_map: what its own structure types stand for; None where its tags are not read.
    """

    labels: bool = True
    hides_layers: bool = True
    role_map: RoleMap | None = None


def traits_of(document: pymupdf.Document, tags: bool = True) -> Traits:
    """The file's traits; where they cannot be told, those that leave the question to each page."""
    try:
        return Traits(
            bool(document.get_page_labels()),
            hides_layers(document),
            readable_tags(document) if tags else None,
        )
    except Exception:  # MuPDF raises many kinds; a damaged catalog is no reason to read no page
        return Traits()
