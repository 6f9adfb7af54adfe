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
)
