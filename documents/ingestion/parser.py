"""Parse a document within the configured limits: pages, chunks and metadata.

Metadata are title, authors, year, identifiers and language, from the file and its first pages.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec
import py3langid
from django.conf import settings
from django.db.models.fields.files import FieldFile

from documents.chunking import ChunkDraft, ChunkSizes, chunk_pages
from documents.failures import IngestionFailure
from documents.importers.block_import import read_import
from documents.ingestion.facts import FIRST_PAGES, Fact, facts_of
from documents.ingestion.leases import Lease
from documents.models import Document
from documents.models.content import MOST_TRIES
from documents.papers.bibliography import DOI, bare_arxiv_id, bare_doi
from pdf.api import parse_file
from pdf.failures import FailureCode
from pdf.sandbox.messages import Limits
from pdf.structure import ParsedDocument, ParsedUnit, most_frequent_failure
from text.languages import languages_with
from text.terms import UNSPACED, stop_words


def parse_limits() -> Limits:
    return Limits(
        file_bytes=settings.UPLOAD_MAX_BYTES,
        pages=settings.PARSE_MAX_PAGES,
        words=settings.PARSE_MAX_WORDS,
        memory_bytes=settings.PARSE_MEMORY_BYTES,
        base_seconds=settings.PARSE_BASE_SECONDS,
        page_seconds=settings.PARSE_PAGE_SECONDS,
        ocr_memory_bytes=settings.PARSE_OCR_MEMORY_BYTES,
        tesseract=settings.PARSE_TESSERACT,
        readers=settings.PARSE_READERS,
    )


def chunk_sizes() -> ChunkSizes:
    return ChunkSizes(
        target_tokens=settings.CHUNK_TARGET_TOKENS,
        max_tokens=settings.CHUNK_MAX_TOKENS,
        min_units=settings.CHUNK_MIN_UNITS,
        max_units=settings.CHUNK_MAX_UNITS,
    )


PROGRESS_SECONDS = 1.0


class Content(msgspec.Struct, frozen=True):
    """Everything that is stored from a document's file."""

    parsed: ParsedDocument
    chunks: tuple[ChunkDraft, ...]
    title: str
    stage_seconds: dict[str, float]
    description: DocumentMetadata


def read_document(lease: Lease, document: Document, *, shows_progress: bool = True) -> Content:
    """Parse the document in the sandbox and chunk it. Raises ParseFailure, IngestionFailure, LostLease.

    ``shows_progress``: write the number of parsed pages to the document's row.

    Pages that need OCR are only marked (``ParsedPage.awaits``) for ``documents.ingestion.recognition``.
    """
    if document.is_imported:
        parsed = read_import(document, read_file(lease, document, shows_progress) if document.file else None)
    else:
        parsed = read_file(lease, document, shows_progress)
    if not any(page.units or page.awaits for page in parsed.pages):
        raise IngestionFailure(FailureCode.NO_TEXT, most_frequent_failure(parsed.pages))
    return content_of(parsed, document.title if document.is_imported else "", document)


def content_of(parsed: ParsedDocument, title: str, document: Document | None = None) -> Content:
    """Chunk the pages and extract metadata. ``title`` '' uses the document's or the extracted title."""
    description = extract_metadata(parsed)
    title = title or (title_of(document, description) if document else description.title)
    start = time.perf_counter()
    chunks = chunk_pages(parsed.pages, title, chunk_sizes())
    stages = {f"read: {stage}": round(spent, 3) for stage, spent in parsed.stage_seconds.items()}
    stages["chunk"] = round(time.perf_counter() - start, 3)
    return Content(parsed, tuple(chunks), title, stages, description)


def read_file(lease: Lease, document: Document, shows_progress: bool = True) -> ParsedDocument:
    """Parse the document's PDF. Raises ParseFailure, LostLease."""
    with local_file(document.file) as path:
        return parse_file(
            path,
            limits=parse_limits(),
            recognised=recognised_before(document),
            unrecognised=given_up_before(document),
            recognise=False,
            pictures=settings.PARSE_PICTURES and not document.is_imported,
            on_progress=progress_of(lease, total="page_count") if shows_progress else None,
        )


def recognised_before(document: Document) -> dict[int, bytes]:
    """Return stored OCR results by page number."""
    pages = document.pages.exclude(recognised=b"").values_list("number", "recognised")
    return {number: bytes(packed) for number, packed in pages}


def given_up_before(document: Document) -> dict[int, str]:
    """Return the failures of pages whose OCR was given up, by page number."""
    tried = document.pages.filter(tries__gte=MOST_TRIES, recognised=b"")
    return dict(tried.values_list("number", "failure"))


def title_of(document: Document, found: DocumentMetadata) -> str:
    """Return the document's title; the printed one replaces a title made from the file's name.

    A title from a bibliographic record is kept.
    """
    if "paper" in document.metadata:
        return document.title
    named_after_file = document.title == Document.title_from(document.original_name)
    return found.title if named_after_file and found.title else document.title


def progress_of(lease: Lease, total: str = "") -> Callable[[int, int], None]:
    """Return a callback that writes progress to the row, at most once a second; it may raise LostLease.

    ``total`` names the column for the total.
    """
    written = time.monotonic()

    def write(done: int, whole: int) -> None:
        nonlocal written
        if time.monotonic() - written >= PROGRESS_SECONDS:
            lease.update(progress=done / max(whole, 1), **({total: whole} if total else {}))
            written = time.monotonic()

    return write


@contextmanager
def local_file(file: FieldFile) -> Iterator[Path]:
    """Yield a local path of the stored file; a temporary copy when the storage is remote."""
    try:
        path = Path(file.path)
    except NotImplementedError:
        path = None
    if path is not None:
        yield path
        return
    with NamedTemporaryFile(suffix=".pdf") as copy:
        for part in file.chunks():
            copy.write(part)
        copy.flush()
        yield Path(copy.name)


# --- Metadata: from the file, and from the first pages ---


NOT_A_TITLE = re.compile(
    r"^(untitled|document|slide|title|none|null|page|layout|folie|diapositiv[ae]|unbenannt|sans titre|"
    r"senza titolo|sin título|sem título|без названия|無題(?:のプレゼンテーション)?)[\s_-]*\d*$"
    r"|^(microsoft |powerpoint |word |presentation)"
    # Office's names of new presentations
    r"|^(?=.*powerpoint).*(pr[eéä]s[ae]n[tz]|apresenta|プレゼン|презентац|演示).{0,32}$"
    r"|:$"  # the label of a field, the opening of a letter
    r"|^(dear|to:|attn\b|attention:)"
    r"|^(mr|mrs|ms|dr|prof|herrn?|frau|monsieur|madame|mme|m|señora?|sra?|sig|signora)\b\.?(\s\w[\w.'’-]*){2,4}$"
    r"|^(table of )?contents$"
    r"|^about( (us|the|this|our)\b|$)|^(overview|agenda|welcome|background|index)$"
    r"|^(abstract|summary|introduction|foreword|preface|disclaimer|keywords)$"
    r"|^(zusammenfassung|inhalt(sverzeichnis)?|einleitung|vorwort|impressum|résumé|sommaire|resumen|índice)$"
    r"|^(for )?(immediate|media|press|news) release\b.{0,20}$|^(confidential|draft|preliminary|internal)$"
    r"|^(communiqué de presse|pressemitteilung|comunicado de prensa|comunicato stampa)$"
    r"|^(item|part|chapter|section|appendix|annex|exhibit|kapitel|chapitre) ([\dIVX]+[A-Z]?|[A-Z])\b"
    r"|^\d{1,2}(\.\d+)*\.\s+\w|^\d{1,2}(\.\d+)+\s+\w|^第.{1,3}[章节節]"
    r"|\.(pdf|docx?|dvi|tex|indd|qxd|pptx?|xlsx?|html?|rtf|fm|p65|e?ps|ai|cdr|psd|svg|odt|odp)$"
    r"|^[\W\d_]+$"
    r"|^(about:|\w+://|www\.)\S*$"  # the address of a page that was printed
    r"|\b\d{1,2}/\d{1,2}/(19|20)?\d\d\b",  # generated: "10-K - 02/07/2019 - …", "Invoice 3/4/21"
    re.IGNORECASE,
)
# Issuing authorities and names of forms are too generic to be titles.
WORDS = r"(?:[^\W\d_][\w'’.&-]*,?\s+)"
AN_AUTHORITY = re.compile(
    rf"^{WORDS}{{0,7}}(commission|ministry|agency|authority|parliament|supreme court)"
    rf"(\s+(of|for)\s+{WORDS}{{0,4}}[\w.]+)?$"
    rf"|^{WORDS}{{0,4}}(department|ministry|state|commonwealth|government|republic) of {WORDS}{{0,5}}[\w.]+$"
    r"|^(the )?united (states|kingdom|nations)( of america)?$"
    r"|^(united states )?securities and exchange commission\b",
    re.IGNORECASE,
)
A_FORM = re.compile(
    r"^(form|schedule|formular|formulaire)\s+(n[o°]\.?\s*)?[A-Z]{0,4}[\s-]?\d+[\w-]*(/\w+)?\b.{0,20}$"
    r"|^\d{1,2}-[KQF](/A)?$"
    r"|^\W*(mark one\W*)?(annual|quarterly|current|transition|interim) report pursuant to\b",
    re.IGNORECASE,
)
# Prompt injection: text addressed to a language model.
PROMPT_INJECTION = re.compile(
    r"\b(ignore|disregard|forget|override|bypass)\b.{0,40}\b(previous|prior|above|earlier|all|your|the|any)\b"
    r".{0,30}\b(instructions?|rules?|prompts?|messages?|directions?|guidelines?)\b"
    r"|<\s*/?\s*(system|assistant|user|instructions?|prompt)\b|<\|.*\|>|\[/?INST\]"
    r"|^\W*(system|assistant|developer|user|human)( prompt| message)?\s*:"
    r"|\b(answer|respond to|reply to)\b.{0,20}\b(every|all|any|each)\b.{0,20}\b(questions?|prompts?)\b"
    r"|\b(answer|respond|reply|output|print)\b.{0,20}\b(exactly|only|always|with)\b"
    r"|\byou (must|will|should) (now |always |never )?(act|answer|respond|reply|obey|say|cite|ignore)\b"
    r"|\byou are (now )?(a|an) "
    r"|\b(reveal|repeat|show|print)\b.{0,20}\b(system )?prompt\b"
    r"|忽略.{0,12}(指令|指示|说明|規則|规则)|無視.{0,6}(指示|命令)|(指示|命令).{0,6}無視"
    r"|ignor(iere|ez|a|e|uj).{0,30}(anweisung|instruction|instruccion|istruzion|instruç)",
    re.IGNORECASE | re.DOTALL,
)
# A section on the publisher, which reports and press releases have: "About Acme" above "Acme is a …".
ABOUT = re.compile(
    r"^(?:about|über|à propos d[e’']|acerca de|informazioni su|关于|關於)\s*(.+)", re.IGNORECASE
)
MOST_WORDS_ABOVE = 60  # a title, such as address, date, names; a heading below more is a section's
TITLE_WORDS = 30
LARGER = 1.25  # times the type of a heading: a line above it is the title, also if bookmarks omit it
LONGEST_TITLE, MOST_TITLE_LINES, LONGEST_AUTHOR = 250, 3, 100
NOT_AN_AUTHOR = re.compile(r"^(admin\w*|user|owner|unknown|author|anonymous|none|pc|\W*)$|[@\\/]", re.I)
ARXIV_STAMP = re.compile(r"arXiv:\d{4}\.\d{4,5}(?:v\d+)?\s*\[[\w.-]+\]")
NAME = r"[^\W\d_a-z][\w'’-]*[a-z][\w'’-]*"  # a lower-case letter is required: headings may be all capitals
PERSON = re.compile(rf"(?:{NAME}|[A-Z]\.(?:\s?-?[A-Z]\.)*)(?:\s(?:{NAME}|[A-Z]\.|de|la|van|von|der)){{1,4}}")
FOOTNOTE_MARK = re.compile(r"[\d*†‡§¶∗⋆]+(?:\s*,\s*[\d*†‡§¶∗⋆]+)*")
PUBLICATION_YEAR = re.compile(r"\b(19[5-9]\d|20[0-4]\d)\b")  # narrower than ``text.numbers.YEAR``
SAMPLE_CHARACTERS, SAMPLE_PAGES = 20_000, 40
FEWEST_WORDS = 30  # for language detection
LEAST_FUNCTION_WORDS = 0.08  # share in running text of a language; lists of names or numbers have fewer


class DocumentMetadata(msgspec.Struct, frozen=True):
    """Extracted metadata; '', None or () where nothing plausible was found."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    language: str = ""
    doi: str = ""
    arxiv_id: str = ""
    facts: tuple[Fact, ...] = ()


def extract_metadata(parsed: ParsedDocument) -> DocumentMetadata:
    language = language_of(parsed)
    facts = facts_of(parsed, language, names_in(parsed.metadata.get("author", "")))
    return DocumentMetadata(
        title=printed_title(parsed),
        authors=authors_of(parsed, facts),
        year=year_of(parsed),
        language=language,
        facts=facts,
        doi=doi_of(parsed),
        arxiv_id=arxiv_id_of(parsed),
    )


def printed_title(parsed: ParsedDocument) -> str:
    """Return the metadata's title unless generated, else the first heading of the first two pages.

    Of a paper without such a heading, the line above the abstract. '' for a form, whose headings only name
    its fields: the file's name is better.
    """
    headings = [] if is_form(parsed) else first_headings(parsed)
    candidates = [parsed.metadata.get("title", ""), *headings, line_above_abstract(parsed)]
    return next((printable_line(title) for title in candidates if is_title(title)), "")


def line_above_abstract(parsed: ParsedDocument) -> str:
    """Return the first paragraph of page 1 where it is short and above an abstract; else ''."""
    units = parsed.pages[0].units if parsed.pages else ()
    has_abstract = any(unit.section_type == "abstract" for unit in units[1:])
    is_line = has_abstract and units[0].type == "prose" and 4 <= len(units[0].text.split()) <= TITLE_WORDS
    return units[0].text if is_line else ""


def is_form(parsed: ParsedDocument) -> bool:
    """Return whether a line of the first page is only the name of a form, such as FORM 10-K."""
    lines = parsed.pages[0].text.splitlines() if parsed.pages else []
    return any(map(A_FORM.match, map(printable_line, lines)))


def first_headings(parsed: ParsedDocument) -> Iterator[str]:
    """Yield the headings above the text by level, then by page, then by size of type."""
    headings, words = [], 0
    units = [(number, unit) for number, page in enumerate(parsed.pages[:2]) for unit in page.units]
    for (number, unit), (_, below) in zip(units, [*units[1:], (0, None)], strict=False):
        if unit.type != "heading":
            words += len(unit.text.split())
        elif words <= MOST_WORDS_ABOVE and not is_about_publisher(unit, below):
            headings.append((unit.level or 6, number, -type_size(unit), unit.text))
    ranked = [(_rank(n, headings), *heading) for n, heading in enumerate(headings)]
    yield from (text for *_, text in sorted(ranked, key=itemgetter(0, 2, 3)))


def _rank(n: int, headings: Sequence[tuple[int, int, int, str]]) -> int:
    """Return the level of a heading, or of one below it on its page in clearly smaller type, if higher.

    Bookmarks often name a cover's small print, and not the title above it.
    """
    level, number, size, _ = headings[n]
    below = [other[0] for other in headings[n + 1 :] if other[1] == number and size <= other[2] * LARGER]
    return min([level, *below])


def is_about_publisher(heading: ParsedUnit, below: ParsedUnit | None) -> bool:
    """Return whether the text below begins with the words of the heading."""
    about = ABOUT.match(printable_line(heading.text))
    return bool(about and below and printable_line(below.text).casefold().startswith(about[1].casefold()))


def type_size(heading: ParsedUnit) -> int:
    """Return the height of the first line in points. Levels stop at 6, so headings of a cover can tie."""
    return round(heading.rects[0].height) if heading.rects else 0


def is_title(text: str) -> bool:
    line = printable_line(text)
    if not 4 <= len(line) <= LONGEST_TITLE or len(text.strip().splitlines()) > MOST_TITLE_LINES:
        return False
    if is_list_of_people(line):
        return False
    excluded = (NOT_A_TITLE, PROMPT_INJECTION, AN_AUTHORITY, A_FORM)
    return "\ufffd" not in line and not any(pattern.search(line) for pattern in excluded)


def is_list_of_people(line: str) -> bool:
    """Return whether a heading is a list of authors: at least three names, or two with note marks."""
    plain = FOOTNOTE_MARK.sub("", line)
    names = names_in(plain)
    return len(names) > (1 if plain != line else 2) and all(map(PERSON.fullmatch, names))


def printable_line(text: str) -> str:
    """Return the text in one line, without NUL, which PostgreSQL cannot store."""
    return " ".join(text.replace("\x00", " ").split())


def authors_of(parsed: ParsedDocument, facts: Sequence[Fact]) -> tuple[str, ...]:
    """Return the authors that the document prints; of a paper, or without text, those of its metadata.

    Elsewhere metadata often name the person, the service or the computer that made the file.
    """
    printed = [fact.value for fact in facts if fact.kind == "author"]
    has_text = any(page.units for page in parsed.pages[:FIRST_PAGES])
    if not printed and (not has_text or is_paper(parsed)):
        printed = names_in(parsed.metadata.get("author", "")) or names_below_title(parsed)
    return tuple(printed[:50])


A_COMPANY = re.compile(
    r"\b(Inc|Incorporated|Ltd|Limited|LLC|LLP|PLC|Corp|Corporation|Co|Company|GmbH|AG|Sons|"
    r"Partners|Associates)\b"
)
ONE_WORD = re.compile(r"[^\W\d_][\w'’-]*")
# What follows a comma within one name.
OF_ONE_NAME = r"(?=(?:an?|the|[a-z]+ of)\s|(?:Inc|Ltd|LLC|LLP|PLC|Corp|Co|GmbH|AG|Jr|Sr|Ph\.?D)\b)"


def names_in(text: str) -> list[str]:
    """Return the names in a list. A company's name may contain "&", or a comma before its form: ", Inc.".

    Surnames alone before one with "&" are one firm: "Rowe, Lind & Okafor LLP".
    """
    line = printable_line(text)
    if PROMPT_INJECTION.search(line):
        return []
    joint = "" if A_COMPANY.search(line) else r"|\band\b|&"
    parts = re.split(rf"\s*(?:;|,(?!\s*{OF_ONE_NAME})(?:\s*and\b)?{joint})\s*", line)
    *partners, last = parts
    if not joint and "&" in last and ";" not in line and all(map(ONE_WORD.fullmatch, partners)):
        parts = [line]
    return [part for part in parts if 2 < len(part) <= LONGEST_AUTHOR and not NOT_AN_AUTHOR.search(part)]


def names_below_title(parsed: ParsedDocument) -> list[str]:
    """Return the names in the first line of prose on page 1, if it has only names."""
    units = parsed.pages[0].units if parsed.pages else ()
    prose = next((unit.text for unit in units if unit.type == "prose"), "")
    names = names_in(FOOTNOTE_MARK.sub("", prose.partition("\n")[0]))
    return names if all(map(PERSON.fullmatch, names)) else []


def is_paper(parsed: ParsedDocument) -> bool:
    """Return whether the first pages have an abstract or an identifier."""
    sections = {unit.section_type for page in parsed.pages[:2] for unit in page.units}
    return "abstract" in sections or bool(doi_of(parsed, True) or arxiv_id_of(parsed))


def doi_of(parsed: ParsedDocument, with_cited: bool = False) -> str:
    """Return the metadata's DOI, else the only one on the first page; several belong to cited papers.

    ``with_cited``: that of a work cited in a sentence, too, which shows that the document is a paper.
    """
    values = (parsed.metadata.get(name, "") for name in ("doi", "subject", "keywords", "title"))
    if found := next(filter(None, map(bare_doi, values)), ""):
        return found
    text = parsed.pages[0].text if parsed.pages else ""
    printed = {
        bare_doi(match.group()) for match in DOI.finditer(text) if with_cited or not _is_cited(text, match)
    }
    return printed.pop() if len(printed) == 1 else ""


def _is_cited(text: str, doi: re.Match[str]) -> bool:
    """Return whether a DOI ends brackets in the middle of a sentence."""
    return ")" in doi.group()[-2:] and bool(re.match(r"[^\S\n]+[a-z]", text[doi.end() : doi.end() + 20]))


def arxiv_id_of(parsed: ParsedDocument) -> str:
    """Return the id that arXiv stamps on the first page: ``arXiv:1706.03762v5 [cs.CL]``."""
    found = ARXIV_STAMP.search(parsed.pages[0].text) if parsed.pages else None
    return bare_arxiv_id(found.group()) if found else ""


def year_of(parsed: ParsedDocument) -> int | None:
    """Return the most frequent year on the first page, else the file's creation year.

    Of equally frequent years, take the latest that is not after it: others are of births, or of future terms.
    """
    named = Counter(PUBLICATION_YEAR.findall(parsed.pages[0].text if parsed.pages else ""))
    made = PUBLICATION_YEAR.search(parsed.metadata.get("creationDate", "")[2:6])
    latest = made.group() if made else "9999"
    found = max(named, key=lambda year: (named[year], year <= latest, year), default=made and made.group())
    return int(found) if found else None


def language_of(parsed: ParsedDocument) -> str:
    """Return the ISO 639-1 code detected in the text, else the file's own declaration.

    py3langid classifies a sample of the whole document, since the first pages may be in English. Where the
    text has too few function words of the result, or is no running text, the declaration is used.
    """
    written = re.findall(r"[^\W\d_]+", sample_of(parsed))
    words = [word.lower() for word in written]
    declared = parsed.language.lower().replace("_", "-")[:12]
    if len("".join(words)) < FEWEST_WORDS * 4:
        return declared
    found = str(py3langid.classify(" ".join(words))[0])
    found = {"nb": "no", "nn": "no"}.get(found, found)
    if not stop_words(found) and not is_running_text(written):
        return declared
    if not stop_words(found) or UNSPACED.search("".join(words)[:2000]):
        return found
    counts = Counter(words)
    if share_of(counts, found) >= LEAST_FUNCTION_WORDS / 2:
        return found
    best = max(sorted(languages_with("stopwords.txt")), key=lambda code: share_of(counts, code))
    return best if share_of(counts, best) >= LEAST_FUNCTION_WORDS else declared


def is_running_text(words: Sequence[str]) -> bool:
    """Return whether at least a third of the cased words are in lower case; in tables fewer are."""
    cased = [word for word in words if word.upper() != word.lower()]
    return 3 * sum(word.islower() for word in cased) >= len(cased)


def share_of(counts: Counter[str], language: str) -> float:
    """Return the share of words that are function words of the language."""
    return sum(counts[word] for word in stop_words(language)) / (counts.total() or 1)


def sample_of(parsed: ParsedDocument) -> str:
    """Return text from pages throughout the document."""
    step = max(1, len(parsed.pages) // SAMPLE_PAGES)
    pages = [page.text for page in parsed.pages[::step]]
    each = max(400, SAMPLE_CHARACTERS // (len(pages) or 1))
    return " ".join(text[:each] for text in pages)[:SAMPLE_CHARACTERS]
