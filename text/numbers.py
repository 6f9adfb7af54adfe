"""Numbers and dates of a text, in digits or words of its language, with their characters.

Digits of any script are read; the decimal mark is the one the digits show, else the language's.
Number words come from ``text/languages/<code>/numbers.toml``.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, lru_cache
from typing import Literal

from text.languages import UNSPACED_LANGUAGES, base_language, language_data

POINT_LANGUAGES = frozenset({"en", "zh", "ja", "ko", "th", "he", "hi", "ar", "fa", "ms"})
"""Languages that write 1,577.00; all others write 1.577,00."""
_SAME = dict(zip("٫٬％（），．−﹣／", ".,%(),.--/", strict=True))
_DIGITS = re.compile(
    r"\d{1,3}(?:,\d{2})+,\d{3}(?!\d)(?:\.\d+)?"  # 1,50,000
    r"|\d{1,3}(?:[.,'’\u00a0\u202f\u2009 ]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?|(?<![\d.])\.\d+"
)
_CJK_DIGITS = dict(
    zip("零〇一二两兩三四五六七八九壱弐", (0, 0, 1, 2, 2, 2, *range(3, 10), 1, 2), strict=True)
)
_CJK_PLACES = {"十": 10, "百": 100, "千": 1000}
_CJK = re.compile("(?!零下)[零〇一二两兩三四五六七八九十百千]+")


LARGEST_WHOLE = 2**31 - 1  # that fits into a column of integers


def whole_number(text: str, most: int = LARGEST_WHOLE, least: int = 0) -> int | None:
    """Return a number that a stranger wrote in ASCII digits; None outside of ``least`` to ``most``.

    ``int`` accepts digits of any script, and raises ValueError for more than 4,300 of them.
    """
    digits = text.strip().lstrip("0") or text.strip()[-1:]
    if not (digits.isascii() and digits.isdigit()) or len(digits) > len(str(most)):
        return None
    number = int(digits)
    return number if least <= number <= most else None


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written: ``text[start:end]``. ``spelled``: in words, not digits."""

    start: int
    end: int
    value: Decimal
    spelled: bool = False


@dataclass(frozen=True, slots=True)
class NumberWords:
    """Number words of a language; ``articles``: those of one that are articles, too.

    Attributes:
        cardinals: value of each word; compounds up to 99 included.
        ordinals: place of each ordinal word.
        multipliers: "hundred", "thousand": words that multiply the number before them.
        fractions: "half", "quarters".
        scales: value of each scale word or abbreviation ("million", "Mrd.", "億").
        glued: words that are written as one: "dreihundertfünfzig".
        parts: what a whole is divided into, behind a number ("fifths"): 5.
        out_of: what stands between a part and its whole, as a pattern: "in" of "three in ten".
    """

    cardinals: dict[str, Decimal]
    ordinals: dict[str, int]
    multipliers: dict[str, Decimal]
    fractions: dict[str, Decimal]
    scales: dict[str, Decimal]
    articles: frozenset[str] = frozenset()
    glued: tuple[str, ...] = ()
    parts: dict[str, int] = field(default_factory=dict)
    out_of: str = ""


def same_characters(text: str) -> str:
    """Return the text with digits and signs of other scripts as ASCII, character by character."""
    if text.isascii():
        return text
    return "".join(map(_same_character, text))


@cache
def _same_character(character: str) -> str:
    decimal = unicodedata.decimal(character, None)
    return str(decimal) if decimal is not None else _SAME.get(character, character)


@cache
def number_words(language: str) -> NumberWords:
    """Return the language's number words; empty for a language without data."""
    data = tomllib.loads(language_data(language, "numbers.toml"))
    cardinals = {w: Decimal(str(v)) for w, v in _listed(data.get("cardinals", {}))}
    pattern = data.get("compound", "")
    glued = tuple(cardinals) if " " not in pattern and "-" not in pattern and "und" in pattern else ()
    if glued:
        glued = tuple(sorted((*cardinals, "hundert", "tausend"), key=len, reverse=True))
    cardinals |= _compounds(cardinals, pattern)
    return NumberWords(
        cardinals,
        {w: int(v) for w, v in _listed(data.get("ordinals", {}))},
        {w: Decimal(str(v)) for w, v in _listed(data.get("multipliers", {}))},
        {w: _fraction(v) for w, v in _listed(data.get("fractions", {}))},
        {w: Decimal(10) ** int(v) for w, v in _listed(data.get("scales", {}))},
        frozenset(data.get("articles", "").split()),
        glued,
        {w: int(v) for w, v in _listed(data.get("parts", {}))},
        data.get("out_of", ""),
    )


def _listed(table: dict[str, str]) -> Iterator[tuple[str, str]]:
    """(word, value) of ``value = "word word"``."""
    for value, words in table.items():
        for word in words.split():
            yield word.replace("_", " "), value


def _fraction(written: str) -> Decimal:
    above, _, below = written.partition("/")
    return Decimal(above) / Decimal(below)


def _compounds(words: dict[str, Decimal], pattern: str) -> dict[str, Decimal]:
    """Return the words of 21 to 99: ``{tens}-{unit}`` in English, ``{unit}und{tens}`` in German."""
    tens = {w: v for w, v in words.items() if v % 10 == 0 and 20 <= v <= 90}
    units = {w: v for w, v in words.items() if 1 <= v <= 9}
    return {
        one.format(tens=ten, unit=unit): tens[ten] + units[unit]
        for one in pattern.split("|")
        if one
        for ten in tens
        for unit in units
    }


# The decimal mark of a text: ``1.577`` is about one and a half in English and 1,577 in German. Unambiguous
# numbers (``1.577,5``) outweigh the language of the words around them: Swiss German writes ``1'577.50``.

DecimalMark = Literal[".", ","]

_ONLY_COMMA = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:\.\d{3})+,\d|(?:\.\d{3}){2,}(?![\d.,]*\d))")
_ONLY_POINT = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:[,'’]\d{3})+\.\d|(?:,\d{3}){2,}(?![\d.,]*\d))")
_RATHER_COMMA = re.compile(r"(?<![\d.,])\d+,\d{1,2}(?![\d.,]*\d)")
_RATHER_POINT = re.compile(r"(?<![\d.,])\d+\.\d{1,2}(?![\d.,]*\d)")
_WORD = re.compile(r"[^\W\d_]+")
_FOREIGN_LETTERS = re.compile(r"[äöüßéèêàçñõãøå]")
_WITH_COMMA = frozenset(
    re.findall(
        r"\S+",
        "der das und ist nicht mit von für auf wurde wurden betrug betrugen im zum zur bei eine einen sich "
        "auch mio mrd tsd teur millionen milliarden "  # German
        "het een zijn voor met le les du est une dans pour par sur ont été "  # Dutch, French
        "el los las del que por con una fue il della che gli nel è dos uma não para "  # Iberian, Italian
        "og ikke blev och för",  # Danish, Norwegian, Swedish
    )
)
_WITH_POINT = frozenset(
    re.findall(r"\S+", "the of and to is was were that for by from at its with this as are")
)


@lru_cache(maxsize=2048)
def decimal_mark(*texts: str, language: str = "") -> DecimalMark | None:
    """Return the decimal mark of texts of one document; None when it cannot be inferred.

    ``language`` (BCP 47, '' when unknown) decides where numbers and words of the texts do not.
    """
    text = "\n".join(texts)
    clear = _vote_of_numbers(_ONLY_COMMA, _ONLY_POINT, text)
    vote = clear or _vote_of_words(text) or _vote_of_numbers(_RATHER_COMMA, _RATHER_POINT, text)
    return mark_of_language(language) if vote == 0 else "," if vote > 0 else "."


def _vote_of_numbers(comma: re.Pattern[str], point: re.Pattern[str], text: str) -> int:
    """Return how many more matches ``comma`` has in the text than ``point``."""
    return len(comma.findall(text)) - len(point.findall(text))


def _vote_of_words(text: str) -> int:
    """Return how many more words are of languages with a decimal comma than of English."""
    words = _WORD.findall(text.lower())
    foreign = sum(word in _WITH_COMMA or _FOREIGN_LETTERS.search(word) is not None for word in words)
    return foreign - sum(word in _WITH_POINT for word in words)


_OUTLINE = re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{1,3}){2,}(?!\w|[.,]\d)")
_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+")


def outline_numbers(text: str) -> list[tuple[int, int]]:
    """Return start and end of numbers of clauses, requirements and versions: "7.1.1"; not "1.577.000"."""
    found = [match.span() for match in _OUTLINE.finditer(text) if not _GROUPED.fullmatch(match[0])]
    dates = [(date.start, date.end) for date in dates_in(text, "en", "de")] if found else []
    return [(a, b) for a, b in found if not any(first < b and a < last for first, last in dates)]


def mark_of_language(language: str) -> DecimalMark | None:
    """Return the decimal mark of a language; None for '' and for Switzerland and Liechtenstein."""
    _, _, region = language.lower().replace("_", "-").partition("-")
    if not language or region in ("ch", "li"):
        return None
    return "." if base_language(language) in POINT_LANGUAGES else ","


def digit_value(digits: str, mark: DecimalMark | None) -> Decimal:
    """Return the value of digits with separators; ``mark`` decides only where they have two readings."""
    return Decimal(plain_digits(digits, mark))


def plain_digits(digits: str, mark: DecimalMark | None) -> str:
    """Return digits without separators, with a decimal point: "1577.50" for "1,577.50" or "1.577,50".

    ``mark`` decides only where they have two readings. Three digits behind a single mark have two ("1.577"),
    unless more than three or a zero stand before it.
    """
    plain = re.sub(r"['’\s]", "", digits)
    last = max(plain.rfind("."), plain.rfind(","))
    if last < 0:
        return plain
    whole, decimals = plain[:last], plain[last + 1 :]
    if plain.count(plain[last]) > 1 or (
        re.fullmatch(r"[1-9]\d{0,2}", whole) and len(decimals) == 3 and plain[last] != (mark or ".")
    ):
        return re.sub(r"[.,]", "", plain)
    return f"{re.sub('[.,]', '', whole) or 0}.{decimals}"


def numbers_in(text: str, language: str, mark: DecimalMark | None = None) -> list[Number]:
    """Return every number in order; ``text`` went through ``same_characters``."""
    mark = mark or decimal_mark(text, language=language)
    found = [_of_digits(text, m, mark) for m in _digits_of(text)]
    taken = {at for number in found for at in range(number.start, number.end)}
    words = _spelled_cjk(text) if language in UNSPACED_LANGUAGES else _spelled(text, number_words(language))
    found += [number for number in words if number.start not in taken]
    return sorted(found, key=lambda number: number.start)


def _of_digits(text: str, match: re.Match[str], mark: DecimalMark | None) -> Number:
    """Digits with the "½" behind them."""
    value, end = digit_value(match[0], mark), match.end()
    if text[end : end + 1] in _PARTS:
        value, end = value + Decimal(str(unicodedata.numeric(text[end]))), end + 1
    return Number(match.start(), end, value)


_PARTS = tuple("¼½¾⅛⅜⅝⅞")


_ENDS_CODE = re.compile(r"\b[A-Z]{1,4}[ -]?\d+[-/]$")  # of a type: "NK 32-"


def _digits_of(text: str) -> Iterator[re.Match[str]]:
    """Digits that are numbers: not the "20" of "K20", but the 120 of "K20 120", the 180 of "NK 32-8 180"."""
    at = 0
    while match := _DIGITS.search(text, at):
        if " " in match[0] and _ENDS_CODE.search(text, max(0, match.start() - 12), match.start()):
            match = _DIGITS.search(text, match.start(), text.index(" ", match.start())) or match
        at = match.end()
        if not _inside_word(text, match.start()):
            yield match
        elif " " in match[0]:
            at = text.index(" ", match.start())


def _inside_word(text: str, at: int) -> bool:
    before = text[at - 1 : at]
    return before.isascii() and before.isalpha()


def _spelled(text: str, words: NumberWords) -> Iterator[Number]:
    """Yield runs of number words: "two hundred", "twenty-five", "three quarters"."""
    if not words.cardinals:
        return
    lowered = text.lower()
    at = 0
    for match in _pattern_of(words).finditer(lowered):
        if match.start() < at:
            continue
        value, end = _run(lowered, match, words)
        at = end
        yield Number(match.start(), end, value, spelled=True)


def _run(text: str, match: re.Match[str], words: NumberWords) -> tuple[Decimal, int]:
    total, current, end = Decimal(0), _value_of(match[0], words), match.end()
    while following := _pattern_of(words).match(text, _gap(text, end)):
        word = following[0]
        if word in words.multipliers:
            factor = words.multipliers[word]
            if factor >= 1000:
                total, current = total + current * factor, Decimal(0)
            else:  # "mille huit cent": the hundred multiplies the eight alone
                low = current % 1000
                current += (low or 1) * factor - low
        elif _value_of(word, words) < (100 if current % 1000 else 1000) and current % 100 == 0:
            current += _value_of(word, words)
        else:
            break
        end = following.end()
    return total + current, end


def _gap(text: str, at: int) -> int:
    gap = re.compile(r"[ -](?:and |und |et |y |e |و ?)?").match(text, at)
    return gap.end() if gap else len(text) + 1


_PATTERNS: dict[int, re.Pattern[str]] = {}


def _pattern_of(words: NumberWords) -> re.Pattern[str]:
    if id(words) not in _PATTERNS:
        known = sorted(words.cardinals | words.multipliers, key=len, reverse=True)
        parts = "|".join(map(re.escape, known))
        glued = f"(?:(?:{'|'.join(words.glued)}|und){{2,}}|{parts})" if words.glued else f"(?:{parts})"
        _PATTERNS[id(words)] = re.compile(rf"(?:(?<!\w)|(?<=\bو)){glued}(?!\w)")
    return _PATTERNS[id(words)]


def _value_of(word: str, words: NumberWords) -> Decimal:
    """Return the value of a word, or of one that joins several: "dreihundertfünfzig", "zweitausend"."""
    if (value := (words.cardinals | words.multipliers).get(word)) is not None:
        return value
    for place in _GLUED_PLACES:
        before, joint, behind = word.partition(place)
        if joint:
            above = _value_of(before, words) if before else Decimal(1)
            below = _value_of(behind.removeprefix("und"), words) if behind else Decimal(0)
            return above * _GLUED_PLACES[place] + below
    return sum((words.cardinals.get(part, Decimal(0)) for part in word.split("und")), Decimal(0))


_GLUED_PLACES = {"tausend": 1000, "hundert": 100, "duizend": 1000, "honderd": 100}


def _spelled_cjk(text: str) -> Iterator[Number]:
    for match in _CJK.finditer(text):
        yield Number(match.start(), match.end(), _cjk_value(match[0]), spelled=True)


def _cjk_value(digits: str) -> Decimal:
    """Return the value of Chinese characters and decimal digits of any script, mixed or not."""
    total, current = 0, 0
    placed = any(place in digits for place in _CJK_PLACES)
    for character in digits:
        if character in _CJK_PLACES:
            total += (current or 1) * _CJK_PLACES[character]
            current = 0
        elif character.isdecimal():
            current = 10 * current + int(character)
        else:
            current = _CJK_DIGITS[character] + (0 if placed else 10 * current)
    return Decimal(total + current)


# Fractions of a text: "two fifths", "three in ten", "10分の3".

_MOST_PARTS = 9  # numerators and denominators that words are read for
_WHOLES = (10, 100, 1000)  # besides those, what a part may be counted out of
_CJK_COUNT = "[0-9零〇一二两兩三四五六七八九十百千]+"
_CJK_FRACTION = re.compile(
    f"(?P<part>{_CJK_COUNT})分[之の](?P<above>{_CJK_COUNT})"
    f"|(?P<tenths>{_CJK_COUNT})[成割](?:(?P<hundredths>{_CJK_COUNT})分|(?P<half>半))?"
    f"|(?P<below>{_CJK_COUNT})[人つ]に(?P<of>{_CJK_COUNT})[人つ]"
)


def fractions_in(text: str, language: str) -> Iterator[Number]:
    """Yield every fraction in words, and those of a whole: "one in five"."""
    if language in UNSPACED_LANGUAGES:
        yield from filter(None, map(_of_cjk_parts, _CJK_FRACTION.finditer(text)))
    pattern = _fraction_pattern(language)
    for match in pattern.finditer(text.lower()) if pattern else ():
        value = _fraction_of(match, number_words(language))
        if value is not None:
            yield Number(match.start(), match.end(), value, spelled=True)


def _of_cjk_parts(match: re.Match[str]) -> Number | None:
    parts = {
        name: _cjk_value(digits) for name, digits in match.groupdict().items() if digits and name != "half"
    }
    if "tenths" in parts:
        half = Decimal("0.05") if match["half"] else 0
        value = parts["tenths"] / 10 + parts.get("hundredths", Decimal(0)) / 100 + half
    elif whole := parts.get("part") or parts.get("below"):
        value = (parts["above"] if match["part"] else parts["of"]) / whole
    else:
        return None
    return Number(match.start(), match.end(), value, spelled=True)


def _fraction_of(match: re.Match[str], words: NumberWords) -> Decimal | None:
    """Return the value of a fraction; None for a count out of a whole that is no round number."""
    if (fixed := words.fractions.get(match[0])) is not None:
        return fixed
    groups = match.groupdict()
    above = _small_count(groups.get("above") or groups["some"], words)
    below = Decimal(words.parts[groups["part"]]) if groups.get("part") else _small_count(groups["all"], words)
    return above / below if groups.get("part") or above < below else None


def _small_count(word: str, words: NumberWords) -> Decimal:
    return Decimal(word) if word.isdigit() else words.cardinals[word]


@cache
def _fraction_pattern(language: str) -> re.Pattern[str] | None:
    words = number_words(language)
    fixed = "|".join(map(re.escape, sorted(words.fractions, key=len, reverse=True)))
    if not fixed or language in UNSPACED_LANGUAGES:
        return re.compile(fixed) if fixed else None
    few = [word for word, value in words.cardinals.items() if 1 <= value <= _MOST_PARTS]
    count = "|".join(map(re.escape, sorted(few, key=len, reverse=True)))
    ways = [fixed]
    if words.parts:
        parts = "|".join(map(re.escape, sorted(words.parts, key=len, reverse=True)))
        ways.append(rf"(?P<above>{count})[ -](?P<part>{parts})")
    if words.out_of:
        round_words = [word for word, value in words.cardinals.items() if value in _WHOLES]
        wholes = "|".join([*map(str, _WHOLES), *map(re.escape, round_words)])
        ways.append(rf"(?P<some>{count}|\d)[ -](?:{words.out_of})[ -](?P<all>{count}|{wholes}|\d)")
    return re.compile(rf"(?<![\w.,])(?:{'|'.join(reversed(ways))})(?![\w%]|[.,]\d)")


# Years and dates of a text, by the month names of its language.

YEAR_DIGITS = r"(?:19|20)\d\d"
"""Pattern of 1900 to 2099: the numbers that are read as a year wherever they are written."""
HISTORIC_YEAR_DIGITS = r"(?:1\d|20)\d\d"
"""Pattern of 1000 to 2099: the numbers that are read as a year in a date or where a year is expected."""
YEAR = re.compile(rf"(?<!\d){YEAR_DIGITS}(?!\d)")
"""Matches a year with no digit beside it, also within a word: "FY2019", "2019/20", "31.12.2019"."""
YEAR_NOT_AMOUNT = re.compile(rf"(?<![\d.,]){YEAR_DIGITS}(?![\d%]|[.,]\d)")
"""Matches a year as ``YEAR`` does, but no part of an amount: "12,2019.5", "2019%". It misses "31.12.2019"."""


@dataclass(frozen=True, slots=True)
class Date:
    """A date as written; ``day`` and ``month`` are 0 where it does not say them, and so is ``year``."""

    start: int
    end: int
    year: int = 0
    month: int = 0
    day: int = 0


@cache
def month_numbers(language: str) -> dict[str, int]:
    """Lower-case month names and their numbers."""
    data = tomllib.loads(language_data(language, "numbers.toml"))
    months = data.get("months", {})
    return {name: int(number) for number, names in months.items() for name in names.split()}


_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867}  # the year before the first
_CJK_DAY = "(?:\\d{1,2}|[一二三四五六七八九十]{1,3})"


@cache
def _date_pattern(*languages: str) -> re.Pattern[str]:
    known = {name for language in languages for name in month_numbers(language)}
    names = "|".join(map(re.escape, sorted(known, key=len, reverse=True))) or "(?!)"
    month = rf"(?P<{{0}}>{names})\b\.?"
    return re.compile(
        rf"\b{month.format('m1')}\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<y1>{HISTORIC_YEAR_DIGITS}))?(?![\d,.]*\d)"
        rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s+(?:day\s+)?(?:of\s+|de\s+)?{month.format('m2')}"
        rf"(?:,?\s+(?:de[l]?\s+|of\s+)?(?P<y2>{HISTORIC_YEAR_DIGITS}))?\b"
        rf"|(?<!\d)(?P<y3>{HISTORIC_YEAR_DIGITS})[-/](?P<mo3>\d\d?)[-/](?P<d3>\d\d?)(?!\d)"
        rf"|(?<![\d.])(?P<d4>\d{{1,2}})\.\s?(?P<mo4>\d{{1,2}})\.\s?(?P<y4>{HISTORIC_YEAR_DIGITS})\b"
        rf"|(?<![\d/])(?P<d6>\d{{1,2}})/(?P<mo6>\d{{1,2}})/(?P<y6>{HISTORIC_YEAR_DIGITS})\b"
        rf"|(?P<era>{'|'.join(_ERAS)})?(?<!\d)(?P<y5>(?(era)(?:\d\d?|元)|(?:{HISTORIC_YEAR_DIGITS}|[〇一二三四五六七八九]{{4}})))\s?年\s?"
        rf"(?:(?P<mo5>{_CJK_DAY})\s?月\s?(?:(?P<d5>{_CJK_DAY})\s?日)?)?"
        rf"|\b{month.format('m7')}\s+(?:de[l]?\s+|of\s+)?(?P<y7>{HISTORIC_YEAR_DIGITS})\b",
        re.IGNORECASE,
    )


def _of_date(written: str | int) -> int:
    """Return a year, month or day in digits or Chinese characters; 元 is the first year of an era."""
    return 1 if written == "元" else int(_cjk_value(str(written)))


_FURTHER_YEARS = re.compile(
    rf"(?:, ?{YEAR_DIGITS})*,? (?:and|or|&|und|oder|bzw\.|et|ou|y|e|o|en|of|и) {YEAR_DIGITS}(?![.,]?\d)"
)


def dates_in(text: str, *languages: str) -> Iterator[Date]:
    """Dates with a day or a month of these languages, and 年 years, in order. Plain years are numbers.

    In "December 31, 2021, 2020 and 2019" the further years are dates of the same day.
    """
    months = {name: number for language in languages for name, number in month_numbers(language).items()}
    for match in _date_pattern(*languages).finditer(text):
        groups = match.groupdict()
        name = next((groups[key] for key in ("m1", "m2", "m7") if groups[key]), None)
        written = next((groups[key] for key in ("mo3", "mo4", "mo5", "mo6") if groups[key]), 0)
        month = months[name.lower()] if name else _of_date(written)
        day = _of_date(next((v for k, v in groups.items() if k[0] == "d" and v), 0))
        year = _of_date(next((v for k, v in groups.items() if k[0] == "y" and v), 0))
        year += _ERAS.get(groups["era"] or "", 0)
        if languages == ("en",) and match["mo6"]:
            month, day = day, month  # 06/12/2023 is read month first; both readings agree where equal
        if month <= 12 and day <= 31:
            yield Date(match.start(), match.end(), year, month, day)
            further = _FURTHER_YEARS.match(text, match.end()) if year and day else None
            for written in YEAR.finditer(text, *further.span()) if further else ():
                yield Date(written.start(), written.end(), int(written[0]), month, day)
