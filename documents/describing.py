"""Title, authors, year and language of a document, from its metadata and first page where they are sound."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from documents.pdf.structure import ParsedDocument

NOT_A_TITLE = re.compile(
    r"^(untitled|document\d*|slide \d+|title|none|null)$"
    r"|^(microsoft |powerpoint |word |presentation)"
    r"|\.(pdf|docx?|dvi|tex|indd|qxd|pptx?|xlsx?|html?|rtf|fm|p65)$"
    r"|^[\W\d_]+$",
    re.IGNORECASE,
)
NOT_AN_AUTHOR = re.compile(r"^(admin\w*|user|owner|unknown|author|anonymous|none|pc|\W*)$|[@\\/]", re.I)
YEAR = re.compile(r"\b(19[5-9]\d|20[0-4]\d)\b")
STOP_WORDS = {
    "en": "the of and to in is that for was with as by on",
    "de": "der die und das von zu den mit ist im für auf nicht",
    "fr": "le la les des et en du une est que dans pour par",
    "es": "el los las que en una por con para del es se al",
    "it": "il di che la per un una del della sono con nel gli",
    "pt": "o os que em uma para com não do da dos por ao",
    "nl": "de het een van en in dat op te voor zijn met niet",
}
SCRIPTS = [
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
]


class Description(msgspec.Struct, frozen=True):
    """What could be found out; '' or None or () where nothing sound was there."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    language: str = ""


def describe(parsed: ParsedDocument) -> Description:
    return Description(
        title=title_of(parsed),
        authors=authors_of(parsed),
        year=year_of(parsed),
        language=language_of(parsed),
    )


def title_of(parsed: ParsedDocument) -> str:
    """The metadata's title unless a program put it there, else the first heading of the first two pages."""
    candidates = [parsed.metadata.get("title", ""), *first_headings(parsed)]
    sound = (title for title in map(one_line, candidates) if is_title(title))
    return next(sound, "")[:500]


def first_headings(parsed: ParsedDocument) -> Iterator[str]:
    """The highest headings come first, then those further up."""
    headings = [unit for page in parsed.pages[:2] for unit in page.units if unit.type == "heading"]
    yield from (unit.text for unit in sorted(headings, key=lambda unit: unit.level or 6))


def is_title(text: str) -> bool:
    return 4 <= len(text) <= 300 and not NOT_A_TITLE.search(text) and "\ufffd" not in text


def one_line(text: str) -> str:
    return " ".join(text.replace("\x00", " ").split())


def authors_of(parsed: ParsedDocument) -> tuple[str, ...]:
    parts = re.split(r"\s*(?:;|,|\band\b|&)\s*", one_line(parsed.metadata.get("author", "")))
    names = [part for part in parts if 2 < len(part) <= 200 and not NOT_AN_AUTHOR.search(part)]
    return tuple(names[:50])


def year_of(parsed: ParsedDocument) -> int | None:
    """The year the first page names most often, else the year the file was made."""
    first = parsed.pages[0].text if parsed.pages else ""
    named = Counter(YEAR.findall(first)).most_common(1)
    made = YEAR.search(parsed.metadata.get("creationDate", "")[2:6])
    found = named[0][0] if named else made.group() if made else None
    return int(found) if found else None


def language_of(parsed: ParsedDocument) -> str:
    """ISO 639-1: what the words say, else what the file says."""
    text = " ".join(page.text for page in parsed.pages[:10])[:20_000]
    for language, script in SCRIPTS:
        if len(script.findall(text)) > 0.15 * len(text.replace(" ", "") or "x"):
            return language
    words = Counter(re.findall(r"[^\W\d_]+", text.lower()))
    shares = {name: sum(words[word] for word in stop.split()) for name, stop in STOP_WORDS.items()}
    best = max(shares, key=lambda name: shares[name])
    if shares[best] > 0.08 * words.total():
        return best
    return parsed.language.lower().replace("_", "-")[:12]
