"""What the numbers of a page, caption or head count in: "in millions of dollars", "Depth, m", "単位：百万円".

A caption names its measure in brackets, behind a comma or colon, behind "in", or as a whole.
Outside brackets a phrase is one only where it has no other words, but for what a scale counts
("thousands of persons").
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache

from text.languages import UNSPACED_LANGUAGES, base_language, language_data
from text.numbers import number_words, same_characters
from text.quantities import GLUED_SCALE, GLUED_SCALES, Quantity, currency_names
from text.units import CURRENCY_SIGN, CURRENCY_SYMBOLS, SIGNS, unit_names, units_by_symbol

_BRACKET = re.compile(r"(?!(?<=\d)..[)\]])[(\[]([^()\[\]]*)[)\]]")  # not the "(k)" of "401(k)"
_SEPARATOR = re.compile(
    r"\s*(?:[;:：；،、\n\t|–—。]|,(?!\d{3})|(?<!\b\w)(?<!\b\w\w)(?<!\b\w\w\w)\.\s|\s[-/]\s|$)\s*"
)
_IN = re.compile(r"(?<!\w)(?:in|en|em)\s+", re.IGNORECASE)
# "(shares in thousands, amounts in millions)": the scale of shares is not that of the amounts beside it
_OF_SHARES = re.compile(r"(?<!\w)(?:shares|Aktien|acciones|actions)(?:\s+(?:in|en))?\s*$", re.IGNORECASE)
_IN_AT_END = re.compile(r"(?<!\w)(?:in|en|em)\s+$", re.IGNORECASE)
_COUNTED_IN_ZH = re.compile(r"以(?P<measure>[^以]{1,8}?)(?:计|計|为单位|為單位)")
_WORD = re.compile(r"[^\s,;:'’\"]+")
_END_OF_NUMBER = re.compile(r"\d(?:[,.'’]|\)? ?)$")
_NUMBER_BEHIND = re.compile(r"\s?\(?\s?(?:[1-9]|0[.,]\d)")
_ZEROS = re.compile(
    r"['’]?(?:1[,. ]?)?(?P<zeros>000(?:[,.' ]000){0,2})(?:['’]?s)?(?!\d|%|[-,.' ]\d)", re.IGNORECASE
)
_ONE_WITH_ZEROS = re.compile(r"1(?:[,. ]?000)+")  # alone it is a number, in "in 1,000" or "1,000 t" a scale
_LETTERS = re.compile(r"[^\W\d_]+")
_SIGN_AND_LETTER = re.compile(r"[$£€¥₹₩￥]\s?[bkmt]|[a-zA-Z][$£€¥₹₩]|[TKkMmdns](?:EUR|USD|CHF|GBP)")
_AFTER_SIGN = "mn|mm|m|bn|b|k|tn"  # scales behind a currency's sign: "$m"
_GLUED = re.compile(
    rf"(?:(?P<before>{CURRENCY_SIGN})(?:\s?(?P<after_scale>{_AFTER_SIGN}))?"
    rf"|{GLUED_SCALE.pattern})(?![^\W\d_])",
)
_TRAILING_SYMBOL = re.compile(
    r"\s(kN|kW|MW|GW|kV|kHz|MHz|GHz|kPa|MPa|mm|cm|km|kg|mg|µg|mL|ml|°C|°F|m[²³2]|km²|%|€|\$|£|\S+/\S+)$"
)
_MONEY_AT_END = re.compile(  # "Umsatz Mio. €", "2024 £'000"
    rf"(?<=\s)[^\W\d_]{{2,12}}\.?\s{CURRENCY_SIGN}$|(?<=(?<![\d.,])(?:19|20)\d\d\s)[^()\[\],;:]{{2,20}}$"
)
_MOST_COUNTED_WORDS = 3  # that may follow a scale: "thousands of employed persons"
_MOST_OF_SHARE = 8  # … that may follow "% of"
_LONGEST_NAME = 3  # words


@dataclass(frozen=True, slots=True)
class Measure:
    """What numbers count in: a scale, a currency (ISO 4217) or a unit's symbol."""

    scale: Decimal = Decimal(1)
    currency: str = ""
    symbol: str = ""

    def over(self, table: Measure) -> Measure:
        """This measure of a row or column with what it leaves to its table: "€" under "in millions"."""
        if self.symbol:
            relative = units_by_symbol()[self.symbol].dimension in ("ratio", "points")
            plain = not table.currency and not table.symbol
            inherits = self.scale == 1 and plain and not relative
            return replace(self, scale=table.scale) if inherits else self
        if self.currency:
            return replace(self, scale=table.scale) if self.scale == 1 else self
        return replace(table, scale=self.scale)

    def applied(self, quantity: Quantity) -> Quantity:
        """Return the quantity in this measure, unless a unit or another scale is written beside it."""
        in_currency = quantity.dimension == "money" and quantity.scale == 1
        if in_currency and self.currency in ("", quantity.unit) and not self.symbol:
            return self._scaled(quantity, quantity.unit)
        if not quantity.bare and quantity.dimension:
            return quantity
        if self.currency:
            return self._scaled(quantity, self.currency)
        value, step = quantity.value * self.scale, quantity.step * self.scale
        if unit := units_by_symbol().get(self.symbol):
            return replace(
                quantity,
                value=value,
                dimension=unit.dimension,
                base=value * unit.factor + unit.offset,
                unit=self.symbol,
                step=step * unit.factor,
                bare=False,
            )
        dimension = "" if self.scale != 1 else quantity.dimension
        bare = quantity.bare and self.scale == 1
        return replace(quantity, value=value, base=value, step=step, dimension=dimension, bare=bare)

    def _scaled(self, quantity: Quantity, currency: str) -> Quantity:
        value, step = quantity.value * self.scale, quantity.step * self.scale
        return replace(
            quantity, value=value, dimension="money", base=value, unit=currency, step=step, bare=False
        )


@dataclass(frozen=True, slots=True)
class MeasureSpan:
    """A measure and the characters of a text that name it."""

    measure: Measure
    start: int
    end: int


@lru_cache(maxsize=4096)
def measure_of(text: str, language: str) -> MeasureSpan | None:
    """Return the measure that a caption, a head or a row's label names; None where it names none."""
    of_shares = None
    for found in _measures_in(text, language):
        if not _OF_SHARES.search(text[: found.start]):
            return found
        of_shares = of_shares or found
    return of_shares


def page_scale(texts: Iterable[str], language: str) -> Decimal | None:
    """Return the scale that a page's numbers count in: 10**6 for "(in millions)"; None where it states none.

    The first text with a scale decides. It is read in the language ('' when unknown), then in English and
    German, the languages of ``text.values``.
    """
    languages = tuple(dict.fromkeys(filter(None, (base_language(language), "en", "de"))))
    return next((scale for text in texts if (scale := _scale_in(text, languages))), None)


@lru_cache(maxsize=4096)
def _scale_in(text: str, languages: tuple[str, ...]) -> Decimal | None:
    letters = _LETTERS.findall(text.lower())
    written = "000" in text or _SIGN_AND_LETTER.search(text) is not None
    for language in languages:
        words = _scale_words(language)
        if (written or words.are_in(text, letters)) and words.free.search(text):
            for found in _measures_in(text, language, words.free):
                if found.measure.scale != 1 and not _OF_SHARES.search(text[: found.start]):
                    return found.measure.scale
    return None


@dataclass(frozen=True, slots=True)
class _ScaleWords:
    """Names of scales. Most texts of a page have none, and ``are_in`` is ten times as fast as ``free``.

    Attributes:
        spaced, unspaced: names that are words, and names in scripts without spaces.
        free: matches a scale that follows no number.
    """

    spaced: frozenset[str]
    unspaced: tuple[str, ...]
    free: re.Pattern[str]

    def are_in(self, text: str, words: Sequence[str]) -> bool:
        """Return whether the text, with these lower-case words, has a name of a scale."""
        return not self.spaced.isdisjoint(words) or any(name in text for name in self.unspaced)


@cache
def _scale_words(language: str) -> _ScaleWords:
    names = [name for name, measure in _names(language).items() if measure.scale != 1]
    unspaced = tuple(name for name in names if language in UNSPACED_LANGUAGES and not name.isascii())
    spaced = [name for name in names if name not in unspaced]
    ways = (
        rf"(?<![^\W_])(?i:{'|'.join(map(re.escape, spaced))})(?![^\W\d_])",
        rf"(?<!\d)(?<!\d[,.'’]){_ZEROS.pattern}",
        rf"{CURRENCY_SIGN}\s?(?:{_AFTER_SIGN})(?![^\W\d_])",
        rf"(?<!\d){GLUED_SCALE.pattern}",
    )
    after_no_number = rf"(?<!\d )(?<!\d\) )(?:{'|'.join(ways)})"
    free = re.compile("|".join((after_no_number, *map(re.escape, unspaced))))
    return _ScaleWords(frozenset(word for name in spaced for word in _LETTERS.findall(name)), unspaced, free)


def _measures_in(text: str, language: str, wanted: re.Pattern[str] | None = None) -> Iterator[MeasureSpan]:
    """Yield the measures that a text names; with ``wanted`` only those of phrases that it matches."""
    plain = same_characters(text)
    for start, end in _phrases(plain):
        if wanted and not wanted.search(plain, start, end):
            continue
        if _END_OF_NUMBER.search(plain, max(0, start - 3), start):  # "million" of "$(4) million"
            continue
        if found := _measure(plain[start:end], language):
            yield MeasureSpan(found, start, end)
    if language in UNSPACED_LANGUAGES:
        for counted in _COUNTED_IN_ZH.finditer(plain):
            if found := _measure(counted["measure"], language):
                yield MeasureSpan(found, *counted.span())
    yield from _loose(plain, language)
    behind = _MONEY_AT_END.search(plain)
    if behind and (found := _measure(behind[0], language)) and found.currency:
        yield MeasureSpan(found, *behind.span())
    if (trailing := _TRAILING_SYMBOL.search(plain)) and (found := _measure(trailing[1], language)):
        yield MeasureSpan(found, trailing.start(1), trailing.end(1))


def names_unit(head: str, language: str) -> bool:
    """Return whether a column holds the units of its rows: "Unit", "Einheit"."""
    return head.strip().lower() in head_words(language, "unit")


def names_count(head: str, language: str) -> bool:
    """Return whether a head says that its column counts: "Number of women", "n"."""
    return head.lower().strip().split(" ")[0] in head_words(language, "count")


def without_measure(text: str, language: str) -> str:
    """Return a head or label without the phrase that names its unit; unchanged if nothing would be left."""
    named = measure_of(text, language)
    if named is None:
        return text
    before, after = _IN_AT_END.sub("", text[: named.start]), text[named.end :]
    left = f"{before.rstrip(' ([（［,;:，：/–—-')} {after.lstrip(' )]）］')}".strip()
    return left or text


def exceptions_of(text: str, language: str) -> Iterator[frozenset[str]]:
    """Lower-case words of what a scale is not for: "per share data" of "except per share data"."""
    words = head_words(language, "except")
    if not words:
        return
    pattern = re.compile(
        rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)(?P<rest>[^)\]\n]*)", re.IGNORECASE
    )
    for match in pattern.finditer(text):
        for phrase in re.split(r",|\b(?:and|und|et|y|e|en)\b", match["rest"].lower()):
            if len(found := frozenset(re.findall(r"[^\W_]+", phrase))) > 1:
                yield found


def _phrases(text: str) -> Iterator[tuple[int, int]]:
    """Stretches that may name a measure, the last first: in brackets, between separators, behind "in"."""
    stretches = [(m.start(1), m.end(1)) for m in _BRACKET.finditer(text)]
    outside = _BRACKET.sub(lambda match: "\n" + " " * (len(match[0]) - 2) + "\n", text)
    parts = [
        *(part for start, end in stretches for part in _parts(text, start, end)),
        *reversed(list(_parts(outside, 0, len(text)))),
    ]
    for start, end in parts:
        yield start, end
        for preposition in _IN.finditer(text, start, end):
            yield preposition.end(), end


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for match in _SEPARATOR.finditer(text, start, end):
        if text[at : match.start()].strip():
            yield at, match.start()
        at = match.end()


def _loose(text: str, language: str) -> Iterator[MeasureSpan]:
    """Yield each scale or currency in brackets beside other words: "(unaudited, in € thousand)"."""
    for bracket in _BRACKET.finditer(text):
        if _ONE_WITH_ZEROS.search(bracket[1]):
            continue
        words = list(_words(bracket[1], language))
        known = [word for word in words if word is not None]
        if (found := _joined(known)) and (found.scale != 1 or found.currency):
            yield MeasureSpan(replace(found, symbol=""), *bracket.span(1))


def _measure(phrase: str, language: str) -> Measure | None:
    """Return the measure a phrase is, all its words read; None where others stand in it."""
    plain = phrase.strip()
    if _ONE_WITH_ZEROS.fullmatch(plain):
        return None
    if plain.lower() in number_words(language).ordinals:  # "Second" behind "First"
        return None
    words = list(_words(plain, language))
    known = [word for word in words if word is not None]
    unknown = len(words) - len(known)
    if not known or (found := _joined(known)) is None:
        return None
    if not unknown:
        return found
    share = words[0] == Measure(symbol="%") and words[1] == Measure()  # "percent of women"
    counted = words[0] is not None and words[0].scale != 1
    most = _MOST_OF_SHARE if share else _MOST_COUNTED_WORDS
    return found if (share or counted) and unknown <= most else None


def _joined(words: list[Measure]) -> Measure | None:
    scale, currency, symbol = Decimal(1), "", ""
    for word in words:
        scale *= word.scale
        currency = currency or word.currency
        symbol = symbol or word.symbol
    if currency and scale == 1 and symbol:  # "US$ m"
        scale = Decimal(10) ** GLUED_SCALES.get(symbol.lower(), 0)
    if scale == 1 and not currency and not symbol:
        return None
    return Measure(scale, currency, "" if currency else symbol)


_OPENS = frozenset("$€£¥₹₩%‰°'’Ω").union(SIGNS)  # signs that a measure may begin with


def _words(phrase: str, language: str) -> Iterator[Measure | None]:
    """Return the measure of each word of a phrase; an empty one for "of" and "in", None for others.

    Behind "per" nothing is read: the numbers under "£ per day" are in £. "km per hour" is not read as km.
    """
    unspaced = language in UNSPACED_LANGUAGES
    divides = head_words(language, "per")
    at, last = 0, Measure()
    while at < len(phrase):
        if not phrase[at].isalnum() and phrase[at] not in _OPENS:
            at += 1
            continue
        found = _glued(phrase, at) or _zeros(phrase, at) or _name(phrase, at, language)
        if found:
            measure, end = found
            if phrase[at:end].lower() in divides:
                if last.symbol:
                    yield None
                return
            last = measure
            yield None if _is_in_amount(phrase, at, end, measure) else measure
            at = end
        elif unspaced and not phrase[at].isascii():
            at += 1
            yield None
        else:
            word = _WORD.match(phrase, at)
            if word and word[0].lower() in divides:
                return
            at = word.end() if word else at + 1
            yield None


def _is_in_amount(phrase: str, start: int, end: int, found: Measure) -> bool:
    """Return whether a word belongs to a number: "million" of "$300 million", which counts nothing else."""
    if found.scale != 1 and _END_OF_NUMBER.search(phrase, max(0, start - 3), start):
        return True
    return bool(found.currency and _NUMBER_BEHIND.match(phrase, end))


def _glued(phrase: str, at: int) -> tuple[Measure, int] | None:
    """Read "$m", "US$", "M€", "TEUR"."""
    match = _GLUED.match(phrase, at)
    if not match:
        return None
    written = match["before"] or match["after"]
    scale = (match["after_scale"] or match["scale"] or "").lower()
    code = CURRENCY_SYMBOLS.get(written, "USD" if written.endswith("$") else written)
    return Measure(Decimal(10) ** GLUED_SCALES.get(scale, 0), code), match.end()


def _zeros(phrase: str, at: int) -> tuple[Measure, int] | None:
    """Read "'000", "1,000", "000s"."""
    match = _ZEROS.match(phrase, at)
    if not match or _END_OF_NUMBER.search(phrase, max(0, at - 3), at):
        return None
    return Measure(Decimal(10) ** match["zeros"].count("0")), match.end()


def _name(phrase: str, at: int, language: str) -> tuple[Measure, int] | None:
    """Return the longest name of a scale, a currency, a unit or a small word that begins here."""
    names = _names(language)
    if language in UNSPACED_LANGUAGES and not phrase[at].isascii():
        for size in range(min(6, len(phrase) - at), 0, -1):
            if (found := names.get(phrase[at : at + size])) is not None:
                return found, at + size
        return None
    ends = [match.end() for match, _ in zip(_WORD.finditer(phrase, at), range(_LONGEST_NAME), strict=False)]
    for end in reversed(ends):
        written = phrase[at:end].rstrip("])")
        plain = written.lower()
        for form in (plain, plain.rstrip(".")):
            if (found := names.get(form)) is not None and not (
                found.scale != 1 and (written in units_by_symbol() or _is_state(written, phrase[:at]))
            ):
                return found, end
        is_elided = phrase[end : end + 1] in ("'", "’") and phrase[end + 1 : end + 2].isalpha()
        if not is_elided and (unit := _symbol(written)):  # in "d'entrées" are no days
            return unit, end
        if language == "ar" and (bare := _without_article(plain, names)) is not None:
            return bare, end
    return _elided(phrase, at, language)


def _is_state(written: str, before: str) -> bool:
    """Return whether two capitals may name a state, "Nashville (TN)"; behind a currency they do not."""
    return len(written) == 2 and written.isupper() and not _CURRENCY_AT_END.search(before)


def _symbol(written: str) -> Measure | None:
    return Measure(symbol=written) if written in units_by_symbol() and written not in _WORDS else None


_CURRENCY_AT_END = re.compile(rf"(?:{CURRENCY_SIGN}|\b[A-Z]{{3}})\s?$")
_WORDS = frozenset({"a", "mo", "wk", "times", "fraction"})  # symbols of our own that are words


def _elided(phrase: str, at: int, language: str) -> tuple[Measure, int] | None:
    """French "d'euros"."""
    match = re.compile(r"d['’]").match(phrase, at)
    return (Measure(), match.end()) if match and language == "fr" else None


_ARABIC_PREFIXES = ("بال", "ب", "ال", "لل", "وال")


def _without_article(word: str, names: dict[str, Measure]) -> Measure | None:
    """Return the measure of an Arabic word behind "in" or "the", which are written as part of it."""
    for prefix in _ARABIC_PREFIXES:
        if word.startswith(prefix) and (found := names.get(word.removeprefix(prefix))) is not None:
            return found
    return None


@cache
def head_words(language: str, key: str) -> tuple[str, ...]:
    """Return the words under ``key`` in the table ``heads`` of the language's ``units.toml``."""
    data = tomllib.loads(language_data(language, "units.toml")).get("heads", {})
    return tuple(word.replace("_", " ") for word in data.get(key, "").split())


@cache
def _names(language: str) -> dict[str, Measure]:
    """Lower-case names and what they say of a measure."""
    names = {name: Measure(symbol=symbol) for name, symbol in unit_names(language).items()}
    scales = number_words(language).scales.items()
    # A letter alone is a note's or a list's, "(b)"; one beside a currency is read with it, "$ b".
    names |= {word: Measure(scale) for word, scale in scales if not (len(word) == 1 and word.isascii())}
    names |= {name: Measure(currency=code) for name, code in currency_names(language).items()}
    return names | {word: Measure() for word in head_words(language, "small")}
