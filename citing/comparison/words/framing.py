"""Plainer forms of a claim: without what a writer puts around a statement, and written out.

A model says "According to the lease, the rent is approx. €500 (500 euros)" where the page says "The rent is
about €500". The words of the frame are on no page, so they are taken off before the claim is compared again.
Each rule is an object with an example that it makes true and one that must stay unverified.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from text.languages import base_language, language_data
from text.semantics import lexicon

_CHARACTERS_OF_NAME = r"[\w'’.&-]+"
_MOST_WORDS_BEFORE = 4  # of the name of a source: "the company's 2023 annual report"
_BULLET = re.compile(r"^[ \t]*[-*•–][ \t]", re.MULTILINE)  # no minus: "- 0.4 million shares"
_LONGEST_FRAME = 160  # characters
_YEAR_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Framing:
    """A rule that makes a claim plainer.

    Attributes:
        plainer: the rule: claim, what is known of the page (its text, title and headings) and language.
        holds: a claim and a page that says it.
        stays: a claim that looks alike, and a page that does not say it.
        title: of the document of both.
    """

    name: str
    sentence: str
    plainer: Callable[[str, str, str], str]
    holds: tuple[str, str]
    stays: tuple[str, str]
    title: str = ""


def without_frame(sentence: str, known: str, language: str) -> str:
    """Return the claim with spaces in place of a frame that only names the source; places stay.

    ``known``: the passage with its title and headings.
    """
    sentence = _BULLET.sub(lambda found: found[0][:-2] + "  ", sentence)
    return _without_report(
        _without_lead_in(sentence, known, base_language(language)), known, base_language(language)
    )


def written_out(sentence: str, known: str, language: str) -> str:
    """Return the claim in the page's words: abbreviations written out, repeated amounts taken off."""
    for rule in RULES:
        sentence = rule.plainer(sentence, known, base_language(language))
    return sentence


@dataclass(frozen=True, slots=True)
class _Words:
    """The data of a language: patterns of frames, and abbreviations."""

    lead_in: re.Pattern[str] | None
    report: re.Pattern[str] | None
    abbreviations: dict[str, str]
    abbreviated: re.Pattern[str] | None


@lru_cache(maxsize=32)
def _words_of(language: str) -> _Words:
    data = tomllib.loads(language_data(language, "framing.toml"))
    if not data:
        return _Words(None, None, {}, None)
    listed = {
        name: "|".join(_escaped(data.get(name, "")))
        for name in ("opens", "sources", "of", "says", "that", "answers")
    }
    company = "|".join(_escaped("|".join(sorted(lexicon(language).company))))
    name = rf"(?P<name>(?:{_CHARACTERS_OF_NAME}\s+){{0,{_MOST_WORDS_BEFORE}}}?)"
    of = rf"(?P<of>(?:\s+(?:{listed['of']})(?:\s+{_CHARACTERS_OF_NAME}){{1,{_MOST_WORDS_BEFORE}}})?)"
    number = r"(?:\s+(?P<number>[\dIVX][\w.()-]*))?"
    ends = r"\s*,\s*" if data.get("comma", True) else r"(?:\s*,)?\s+"
    lead_in = (
        rf"\s*(?:(?:{listed['opens']})\s+{name}(?:{listed['sources']}){number}{of}(?:\s+provided)?{ends}"
        rf"|(?:{listed['answers']})(?:\s*[:,–—]|\s-)\s*"
        rf"|as\s+(?:(?:the|this)\s+)?(?:{listed['sources']})(?:\s+[\dIVX][\w.()-]*)?\s+(?:{listed['says']})\s*,\s*)"
    )
    said = (
        rf"\s*{name}(?:{listed['sources']}|{company}){number}\s+(?:\w+\s+)?(?:{listed['says']})\s*,?"
        rf"\s+(?:{listed['that']})\s+"
    )
    abbreviations = {key.casefold(): value for key, value in data.get("abbreviations", {}).items()}
    keys = "|".join(_escaped("|".join(sorted(abbreviations, key=len, reverse=True))))
    return _Words(
        re.compile(lead_in, re.IGNORECASE),
        re.compile(said, re.IGNORECASE) if listed["says"] else None,
        abbreviations,
        re.compile(rf"(?<![\w.])(?:{keys})(?!\w)", re.IGNORECASE) if keys else None,
    )


def _escaped(listed: str) -> list[str]:
    return [
        re.escape(phrase.strip()).replace(r"\ ", r"\s+") for phrase in listed.split("|") if phrase.strip()
    ]


def _without_lead_in(sentence: str, known: str, language: str) -> str:
    return _without(_words_of(language).lead_in, sentence, known, language)


def _without_report(sentence: str, known: str, language: str) -> str:
    return _without(_words_of(language).report, sentence, known, language)


def _without(frame: re.Pattern[str] | None, sentence: str, known: str, language: str) -> str:
    """Return the sentence with spaces in place of the frame, if the page knows its names and years."""
    found = frame.match(sentence[:_LONGEST_FRAME]) if frame else None
    if found is None or not sentence[found.end() :].strip():
        return sentence
    said = known.casefold()
    words = lexicon(language)
    for name in f"{found['name'] or ''} {found['number'] or ''} {found.groupdict().get('of') or ''}".split():
        told = name[:1].isupper() or (any(map(str.isdigit, name[:4])) and len(name) >= _YEAR_DIGITS)
        if told and name.casefold() not in words.articles and _core(name) not in said:
            return sentence
    return " " * found.end() + sentence[found.end() :]


def _core(name: str) -> str:
    return name.casefold().removesuffix("'s").removesuffix("’s").strip(".,'’")


def _written_out(sentence: str, known: str, language: str) -> str:
    words = _words_of(language)
    if words.abbreviated is None:
        return sentence
    return words.abbreviated.sub(lambda found: words.abbreviations[found[0].casefold()], sentence)


_DEFINED_AS = re.compile(r"(?P<long>(?:[^\W\d_]\w*[ -]){2,7})[(（](?P<short>[A-Z][A-Za-z]{0,7}[A-Z]s?)[)）]")


def _with_long_form(sentence: str, known: str, language: str) -> str:
    """Write a short form as the page does where it explains it: "natural language processing (NLP)"."""
    for found in _DEFINED_AS.finditer(known):
        short = found["short"].removesuffix("s")
        words = list(re.finditer(r"[^\W\d_]+", found["long"]))[-len(short) :]
        if "".join(word[0][0] for word in words).casefold() != short.casefold() or f"({short}" in sentence:
            continue
        long = found["long"][words[0].start() :].strip()
        sentence = re.sub(rf"(?<!\w){found['short']}(?!\w)", long, sentence)
    return sentence


_REFERENCE = re.compile(
    r"\s*[(（](?P<noun>[^\W\d_]+\.?|§{1,2}|[Nn]o\.)?\s?(?P<number>\d+(?:\.\d+)*)[)）](?=[.;,]?\s*$)"
)
_LEAST_SHARED = 0.6  # of a claim's words, in the section that it refers to


def _without_reference(sentence: str, known: str, language: str) -> str:
    """Take off a reference to the section in which the page has the statement's words: "(clause 4)"."""
    found = _REFERENCE.search(sentence)
    if found is None or not _is_section(found["noun"] or "", language):
        return sentence
    own = set(re.findall(r"[^\W\d_]{4,}", sentence[: found.start()].casefold()))
    begins = re.compile(rf"(?:^|\n|[.!?;:]\s|§\s?){re.escape(found['number'])}[.)]?\s")
    for start in begins.finditer(known):
        end = _NEXT_SECTION.search(known, start.end())
        section = known[start.end() : end.start() if end else len(known)].casefold()
        if len(own & set(re.findall(r"[^\W\d_]{4,}", section))) >= _LEAST_SHARED * max(1, len(own)):
            return sentence[: found.start()] + sentence[found.end() :]
    return sentence


_NEXT_SECTION = re.compile(r"\s(?:§\s?\d+|\d+\.\d+(?:\.\d+)*)\s|\n")


def _is_section(noun: str, language: str) -> bool:
    sources = tomllib.loads(language_data(language, "framing.toml")).get("sources", "").casefold()
    return noun.startswith("§") or noun.casefold() in sources.split("|")


_YEAR = re.compile(r"\bFY\s?['’]?(\d{4}|\d{2})\b(?!/)")


def _with_fiscal_year(sentence: str, known: str, language: str) -> str:
    """Write "FY23" as the page writes its year: "fiscal 2023"; before its noun ("FY23 revenue") behind it."""
    found = _YEAR.search(sentence)
    if found is None or _YEAR.search(known):
        return sentence
    fiscal = re.search(r"\b(fiscal year|fiscal|financial year|Geschäftsjahr)\b", known, re.IGNORECASE)
    digits = found[1] if len(found[1]) == _YEAR_DIGITS else f"20{found[1]}"
    year = f"{fiscal[1]} {digits}" if fiscal else digits
    rest = sentence[found.end() :]
    noun = re.match(r"(?:['’]s)?\s+(?=[a-z])", rest)
    if noun and not sentence[: found.start()].strip():
        return f"{rest[noun.end() :].strip().rstrip('.')} in {year}."
    return sentence[: found.start()] + year + rest


_NAME = re.compile(r"[A-Z][\w&-]*(?:\s+[A-Z][\w&-]*){0,3}")
_LEAST_NAME = 4  # letters of a name that stands at the start of the title


def _with_own_name(sentence: str, known: str, language: str) -> str:
    """Write the name with which the title begins as "the company", where the page does so or says "we"."""
    title = _letters(known.rpartition("\n")[2])
    words = lexicon(language)
    own = re.findall(r"\w+", known.casefold())
    if language != "en" or not title or not {"we", "our", *words.company} & set(own):
        return sentence
    for found in _NAME.finditer(sentence):
        name = _letters(found[0])
        if len(name) >= _LEAST_NAME and title.startswith(name) and found[0] not in known.rpartition("\n")[0]:
            return f"{sentence[: found.start()]}the company{sentence[found.end() :]}"
    return sentence


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())


_PERIOD = re.compile(
    r"(?<!\w)(?:fiscal|calendar|first|second|third|fourth|quarter|half|months?|weeks?|q[1-4]|h[12]|ytd"
    r"|[12]\d{3})(?!\w)",
    re.IGNORECASE,
)
_IN_PERIOD = re.compile(
    r"(?:,\s)?\s?\b(?:in|for|during)\s(?:the\s)?(?P<period>(?:(?:full|fiscal|calendar|first|second|third|fourth|"
    r"year|quarter|half|of)[\s-]){0,6}[12]\d{3})(?!\w|[.,]\d)",
    re.IGNORECASE,
)
_CELLS = re.compile(r"[\t|]")
_COMPARED = re.compile(r"\b(?:compared|versus|from)\b", re.IGNORECASE)


def _periods(text: str) -> frozenset[str]:
    return frozenset(found.casefold() for found in _PERIOD.findall(text))


def _without_period_of_heading(sentence: str, known: str, language: str) -> str:
    """Take off the period that the heading over a statement without one names; else write it last.

    Only the nearest heading with a period counts. The statement may have the period that it compares with.
    """
    found = list(_IN_PERIOD.finditer(sentence)) if language == "en" else []
    text, *heads = known.split("\n")
    if not found or _CELLS.search(text):  # each column has a period of its own
        return sentence
    over = next((own for head in heads[:-1] if (own := _periods(head))), frozenset())  # not of the title
    said, compared = _halves(text)
    for period in found:
        rest = sentence[: period.start()] + sentence[period.end() :]
        halves = [re.findall(r"\d[\d.,]*\d|\d", half) for half in _halves(rest)]
        known_there = all(n in half for half, own in zip((said, compared), halves, strict=True) for n in own)
        if known_there and not _periods(said) and _periods(period["period"]) == over:
            return rest
    if len(found) != 1 or len(_YEAR_NUMBER.findall(sentence)) != 1:
        return sentence
    rest = sentence[: found[0].start()] + sentence[found[0].end() :]
    end = len(rest.rstrip(" ."))
    return f"{rest[:end]},{found[0][0].lstrip(',')}{rest[end:]}" if found[0].end() < end else sentence


def _halves(text: str) -> tuple[str, str]:
    """Return a text up to the word that compares it with something, and from there."""
    match = _COMPARED.search(text)
    at = match.start() if match else len(text)
    return text[:at], text[at:]


_UP_FROM = re.compile(
    r"\b(?:up|down|increased?|decreased?|rose|fell|grew|declined|risen|fallen)\b[^,;]{0,60}?\bfrom\s"
    r"[$€£¥]?\d[\d.,]{0,15}(?<=\d)(?:\s?%|\s(?:thousand|million|billion|trillion))?(?=\s?[.;]?\s?$)"
)


def _with_year_before(sentence: str, known: str, language: str) -> str:
    """Name the year before behind an amount that a year's amount is "up from", where the page has both."""
    years = _YEAR_NUMBER.findall(sentence)
    found = _UP_FROM.search(sentence) if language == "en" and len(years) == 1 else None
    before = f"{int(years[0]) - 1}" if found else ""
    if found is None or before not in known.partition("\n")[2]:
        return sentence
    return f"{sentence[: found.end()]} in {before}{sentence[found.end() :]}"


_YEAR_NUMBER = re.compile(r"(?<![\w.,])[12]\d{3}(?!\w|[.,]\d)")
PURPOSE = re.compile(r"\W{0,5}(?:To|When|For|While)\s(?P<purpose>[a-z][\w\s'’-]{2,60}?),\s(?=[a-z])")
_INFLECTION = re.compile(r"(?:ing|ed|es|s|e)$")


def _without_purpose_of_heading(sentence: str, known: str, language: str) -> str:
    """Take off the purpose that the heading over an instruction names: "To adjust the tone, press Up"."""
    found = PURPOSE.match(sentence) if language == "en" else None
    if found is None:
        return sentence
    words = lexicon(language)
    plain = words.articles | words.pronouns | words.prepositions
    wanted = {_INFLECTION.sub("", word) for word in found["purpose"].casefold().split() if word not in plain}
    for head in known.split("\n")[1:]:
        if wanted <= {_INFLECTION.sub("", word) for word in re.findall(r"\w+", head.casefold())}:
            return f"{sentence[found.end()].upper()}{sentence[found.end() + 1 :]}"
    return sentence


RULES = (
    Framing(
        "lead_in",
        "A lead-in that only names the source says nothing of it.",
        _without_lead_in,
        ("According to the lease, the rent is €500.", "The rent is €500."),
        ("According to the lease, the rent is €500.", "The tenant asked for a rent of €500."),
    ),
    Framing(
        "report",
        "A source that “states that” something states it.",
        _without_report,
        ("The report states that the dam was closed in May.", "The dam was closed in May."),
        (
            "The report states that the dam was closed in May.",
            "Engineers denied that the dam was closed in May.",
        ),
    ),
    Framing(
        "abbreviation",
        "An abbreviation means the words it is short for.",
        _written_out,
        ("The est. value is €2.75 million excl. VAT.", "The estimated value is €2.75 million excluding VAT."),
        ("The est. value is €2.75 million incl. VAT.", "The estimated value is €2.75 million excluding VAT."),
    ),
    Framing(
        "short_form",
        "A short form means the words that the page explains it by.",
        _with_long_form,
        ("We use NLP benchmarks.", "We use natural language processing (NLP) benchmarks."),
        ("We use NLP benchmarks.", "We use natural language programming (NLQ) benchmarks."),
    ),
    Framing(
        "reference",
        "The number of the section in which a statement stands says nothing of it.",
        _without_reference,
        ("The tenant pays the rent in advance (clause 4.1).", "4.1 The tenant pays the rent in advance."),
        (
            "The tenant pays the rent in advance (clause 4.2).",
            "4.1 The tenant pays the rent in advance. 4.2 The landlord repairs the roof.",
        ),
    ),
    Framing(
        "fiscal_year",
        "FY23 is the fiscal year 2023.",
        _with_fiscal_year,
        ("Revenue was $5 million in FY23.", "Revenue was $5 million in fiscal 2023."),
        ("Revenue was $5 million in FY22.", "Revenue was $5 million in fiscal 2023."),
    ),
    Framing(
        "own_name",
        "The company of which a document tells calls itself “we”.",
        _with_own_name,
        ("Best Buy employed 90,000 people in 2023.", "We employed 90,000 people in 2023."),
        ("Target employed 90,000 people in 2023.", "We employed 90,000 people in 2023."),
        "BESTBUY 2023 10K",
    ),
    Framing(
        "period",
        "What stands under the heading of a period is of it; a period may stand anywhere in a sentence.",
        _without_period_of_heading,
        (
            "Net sales increased 18.2% to $3.2 billion in the fourth quarter of fiscal 2022.",
            "Fourth quarter of fiscal 2022\nNet sales increased 18.2% to $3.2 billion compared to $2.7 "
            "billion in the fourth quarter of fiscal 2021.",
        ),
        (
            "Net sales increased 18.2% to $3.2 billion in the fourth quarter of fiscal 2022.",
            "Full year of fiscal 2022\nNet sales increased 18.2% to $3.2 billion compared to $2.7 billion "
            "in fiscal 2021.",
        ),
    ),
    Framing(
        "year_before",
        "What a year's amount is up from is the year before's.",
        _with_year_before,
        (
            "Sales were $94 in 2022, up from $90.",
            "| Item | 2022 | 2021 |\n| Sales | $94 | $90 |\n| Costs | $80 | $70 |",
        ),
        (
            "Sales were $94 in 2022, up from $90.",
            "| Item | 2022 | 2021 | 2020 |\n| Sales | $94 | $93 | $90 |\n| Costs | $80 | $75 | $70 |",
        ),
    ),
    Framing(
        "purpose",
        "An instruction under a heading is for what the heading says.",
        _without_purpose_of_heading,
        (
            "To adjust the ringtone, press the Up button and slide to adjust the volume.",
            "Adjusting the ringtone\nPress the Up button on the watch and slide to adjust the volume.",
        ),
        (
            "To adjust the display, press the Up button and slide to adjust the volume.",
            "Adjusting the ringtone\nPress the Up button on the watch and slide to adjust the volume.",
        ),
    ),
)
