"""Split a sentence into tokens that can be compared: quantities, markers, names and other words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise, takewhile

from citing.comparison.words.conditions import (
    LIMIT_REACH,
    REACH,
    as_times,
    denied_once,
    in_exception,
    number_of_phrase,
    with_bounds,
    with_duties,
    with_events,
    with_exclusive_conditions,
    with_final_when,
    with_lone_denials,
    with_times_a_day,
    with_verb_first,
)
from citing.comparison.words.phrases import with_final_particles, with_periods
from citing.comparison.words.token import COORDINATORS, DENIALS, HARD_BREAKS, Kind, Token, is_marker
from text.languages import UNSPACED_LANGUAGES
from text.numbers import number_words, outline_numbers, same_characters
from text.quantities import Quantity, quantities_in
from text.semantics import Lexicon, Marker, Sense, lexicon, plain_word, root, stem, word_matches
from text.units import unit_names

_BREAK = re.compile(r"[,;:.!?()\[\]—、。，；：！？（）「」؛،؟…]|\s[–-]\s|\n|\t")
_KATAKANA = re.compile("[ァ-ヴー]+")


@lru_cache(maxsize=2048)
def tokens_of(text: str, language: str, limits: bool = True) -> tuple[Token, ...]:
    """Return the tokens in order; without ``limits``, "maximum" does not bound a number some words away."""
    words = lexicon(language) if limits else _without_limits(language)
    raw = _raw_unspaced(text, language, words) if language in UNSPACED_LANGUAGES else _raw(text, language)
    found = list(_recognized(raw, words)) if language not in UNSPACED_LANGUAGES else list(raw)
    found = with_bounds(with_lone_denials(_losses_as_amounts(found), words), words)
    found = with_events(_without_contrasts(_without_plain_years(found, language), words), words)
    found = with_periods(_with_ordinals(with_times_a_day(_with_quarters(found, words)), language))
    found = _with_less_reversed(_with_equatives(found, words), words)
    found = with_exclusive_conditions(with_duties(denied_once(found, words), words), words)
    found = with_final_when(with_verb_first(with_final_particles(found, words), words), words)
    return tuple(in_clauses(found, words))


@cache
def _without_limits(language: str) -> Lexicon:
    return replace(lexicon(language), limits=frozenset())


_TOLERANCE = re.compile(r"\((\d[\d.,]*\s?±\s?\d[\d.,]*)\)(?=\s?(?:[^\W\d_]|[%°]))")  # "(23 ± 2) °C"


def _raw(text: str, language: str) -> list[Token]:
    """Return quantities, words and breaks of a language that puts spaces between words."""
    text = _TOLERANCE.sub(r"  \1", text)
    plain = same_characters(text)
    quantities = quantities_in(text, language)
    articles = number_words(language).articles
    quantities = tuple(q for q in quantities if text[q.start : q.end].lower() not in articles)
    names = [*_seasons(plain)]
    names += [Token("word", plain[a:b], a, b, plain[a:b]) for a, b in outline_numbers(plain)]
    spans = [(name.start, name.end) for name in names]
    quantities = tuple(q for q in quantities if not _overlaps(spans, q.start, q.end))
    found = [Token("quantity", text[q.start : q.end].lower(), q.start, q.end, quantity=q) for q in quantities]
    found += names
    taken = [(q.start, q.end) for q in quantities] + spans
    found += [
        Token("break", match[0].strip() or " ", *match.span())
        for match in _BREAK.finditer(plain)
        if not _overlaps(taken, match.start(), match.end()) and not _in_abbreviation(plain, match.start())
    ]
    for match in word_matches(plain):
        if not _overlaps(taken, match.start(), match.end()):
            word = plain_word(match[0], language)
            if language == "en" and match[0] == "May" and _is_month(plain, match.start()):
                word = "may (month)"
            capital = match[0][:1].isupper() and match.start() > 0
            start = match.start()
            if len(word) == 1 and _is_label(plain, start):
                found.append(Token("word", match[0], start, match.end(), match[0], capital=True, name=True))
                continue
            if language == "ar" and _has_conjunction(word):
                word, start = word[1:], start + 1
            found.append(
                Token(
                    "word", word, start, match.end(), stem(word, language),
                    capital=capital, name=capital and language != "de", root=root(word, language),
                )
            )  # fmt: skip
    return sorted(found, key=lambda token: token.start)


_SEASON = re.compile(r"(?<!\d)((?:19|20)\d\d)\s?[/–-]\s?((?:19|20)?\d\d)(?![\d%])")


def _seasons(text: str) -> Iterator[Token]:
    """Yield years that span two calendar years, as one word: "2021/22", "2021-2022"."""
    for match in _SEASON.finditer(text):
        if (int(match[1]) + 1) % 100 == int(match[2]) % 100:
            word = f"{match[1]}/{match[2][-2:]}"
            yield Token("word", word, *match.span(), word)


def _is_month(text: str, at: int) -> bool:
    """Return whether "May" is the month: it is not the first word, or "is" or the like follows it."""
    return at > 0 or re.match(r"May (?:is|was|has|had|and|\d)\b", text) is not None


_LONGEST_WORD = 60  # characters that are looked at before a letter, so that many letters cost no more


def _is_label(text: str, at: int) -> bool:
    """Return whether a capital letter other than "I" labels the word before it, as in "Site A"."""
    if text[at].isupper() and re.match(r"-\d", text[at + 1 : at + 3]):  # "T-02"
        return True
    if not text[at].isupper() or text[at] == "I":
        return False
    before = re.search(r"([^\W\d_]{2,}) $", text[max(0, at - _LONGEST_WORD) : at])
    return before is not None and not before[1].isupper()


def _losses_as_amounts(tokens: list[Token]) -> list[Token]:
    """Remove the minus of an amount after "loss": "a loss of $(41) million" is a loss of 41 million."""
    found = list(tokens)
    loss = False
    for at, token in enumerate(tokens):
        bracketed = at > 0 and tokens[at - 1].word == "("  # "income (loss)"
        loss = loss or (("money", 1) in token.poles and not bracketed)
        loss = loss and token.word not in HARD_BREAKS
        amount = token.quantity
        if loss and amount and amount.dimension == "money" and amount.value < 0:
            amount = replace(amount, value=-amount.value, base=-amount.base)
            found[at] = replace(token, quantity=amount)
    return found


def _has_conjunction(word: str) -> bool:
    """Return whether an Arabic word is "and" joined to a word of the lexicon: ``ولم``."""
    phrases = lexicon("ar").phrases
    return word[0] in "وف" and (word,) not in phrases and (word[1:],) in phrases


def _overlaps(taken: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Return whether the characters from ``start`` to ``end`` overlap one of the spans ``taken``."""
    return any(a < end and start < b for a, b in taken)


_MAXIMUM = re.compile(r"(?<![^\W\d_])max\.\s?\d", re.IGNORECASE)


def _in_abbreviation(text: str, at: int) -> bool:
    """Return whether a point, comma or colon is part of a number or abbreviation, and so is no break."""
    if text[at] not in ".,:":
        return False
    if text[at] == "." and text[at - 2 : at - 1] == "." and text[at - 1 : at].isalpha():  # "U.S."
        return True
    if _MAXIMUM.match(text, max(0, at - 3)):  # "max. 10 min"
        return True
    return text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum()


def _recognized(raw: Sequence[Token], words: Lexicon) -> Iterator[Token]:
    """Join words to the longest phrases of the lexicon, and give them their meaning."""
    at = 0
    while at < len(raw):
        token = raw[at]
        if token.kind != "word":
            yield token
            at += 1
            continue
        size, sense = _longest(raw, at, words)
        if sense is None and token.word in words.not_prefix and _is_prefix(raw, at):
            yield replace(token, kind="marker", marker=DENIALS[0], stem="negation:not", root="")
            at += 1
            continue
        if sense is None:
            yield token
            at += 1
            continue
        last = raw[at + size - 1]
        phrase = " ".join(part.word for part in raw[at : at + size])
        joined = replace(token, word=phrase, end=last.end)
        if size > 1:
            joined = replace(joined, stem=phrase, root="")
        yield _with_sense(joined, sense, raw[at + size : at + size + 1])
        at += size


def _is_prefix(raw: Sequence[Token], at: int) -> bool:
    """Return whether a hyphen joins a word to the next one: "non-refundable"."""
    following = raw[at + 1 : at + 2]
    return bool(following) and following[0].kind == "word" and following[0].start == raw[at].end + 1


def _longest(raw: Sequence[Token], at: int, words: Lexicon) -> tuple[int, Sense | None]:
    """Return length (in tokens) and sense of the longest phrase that begins at ``at``; (1, None) if none."""
    most = words.longest if raw[at].word in words.first or raw[at].stem in words.first else 1
    run: list[Token] = []
    for token in raw[at : at + most]:
        if token.kind != "word" and not (token.kind == "quantity" and token.quantity and token.quantity.bare):
            break
        run.append(token)
    for size in range(len(run), 0, -1):
        part = run[:size]
        sense = words.sense(tuple(t.word for t in part), tuple(t.stem or t.word for t in part))
        if sense is not None and _compares(sense) and not _number_near(raw, at, size, words):
            sense = _without_comparators(sense)
        if sense is not None:
            return size, sense
    return 1, None


def _compares(sense: Sense) -> bool:
    return any(marker.category == "comparator" for marker in sense.markers)


def _without_comparators(sense: Sense) -> Sense | None:
    """Return the sense without its comparators, for a phrase that bounds no number; None if none is left."""
    markers = tuple(marker for marker in sense.markers if marker.category != "comparator")
    return replace(sense, markers=markers) if markers or sense.poles or sense.function else None


def _number_near(raw: Sequence[Token], at: int, size: int, words: Lexicon) -> bool:
    """Return whether a comparator of ``size`` tokens at ``at`` has a number close enough to bound it."""
    phrase = " ".join(token.word for token in raw[at : at + size])
    if phrase in words.postfix:
        if raw[at + size : at + size + 1] and raw[at + size].kind == "quantity":
            return phrase.split()[0] not in COORDINATORS  # "au moins deux ans"; not "0 °C or above 45 °C"
        return at > 0 and (raw[at - 1].kind == "quantity" or number_of_phrase(raw, at) is not None)
    if phrase in words.limits:
        near = raw[at + size : at + size + LIMIT_REACH]
        return any(token.kind == "quantity" or _is_frequency(token, words) for token in near)
    reach = REACH - 1 if phrase in words.prepositions else REACH + 2
    reach = 1 if phrase.split()[-1] in words.articles else reach  # not "dans les villes"
    for token in raw[at + size : at + size + reach]:
        if token.kind != "word":
            return token.kind == "quantity"
        if _is_frequency(token, words):
            return True
    return False


def _is_frequency(token: Token, words: Lexicon) -> bool:
    """Return whether a word says how often: "twice"."""
    sense = words.phrases.get((token.word,))
    return sense is not None and as_times(_with_sense(token, sense, ())).quantity is not None


def _with_sense(token: Token, sense: Sense, following: Sequence[Token]) -> Token:
    """Return the token with kind, marker, poles and synonyms of its sense.

    Of a phrase with several senses, the comparator and the direction apply only before a number.
    """
    markers = sense.markers
    number = bool(following) and following[0].kind == "quantity"  # "up 9 %", "some forty": about forty
    if sense.function and not markers:
        directed = number and any(pair == "direction" for pair, _ in sense.poles)
        return replace(
            token, kind="word" if directed else "function", poles=sense.poles if directed else token.poles
        )
    bounds = (marker for marker in markers if number and marker.category == "comparator")
    marker = next(bounds, markers[0] if markers else None)
    if sense.function and marker and marker.category != "comparator":
        marker = None
    if marker is None and sense.function:
        return replace(token, kind="function", poles=sense.poles)
    kind: Kind = "marker" if marker else "word"
    return replace(token, kind=kind, marker=marker, poles=sense.poles, synonyms=sense.synonyms)


def _raw_unspaced(text: str, language: str, words: Lexicon) -> list[Token]:
    """Return the tokens of Chinese or Japanese: phrases of the lexicon, characters and Katakana words."""
    plain = same_characters(text)
    quantities = {q.start: q for q in quantities_in(text, language)}
    found: list[Token] = []
    at = 0
    while at < len(plain):
        frequency_length = _frequency_length(plain, at, words)
        if (quantity := quantities.get(at)) and not frequency_length:
            found.append(Token("quantity", text[at : quantity.end], at, quantity.end, quantity=quantity))
            at = quantity.end
            continue
        size = frequency_length or _phrase_at(plain, at, words, quantities)
        if size and not _counter_in_word(plain, at, size, found):
            sense = words.phrases[tuple(plain[at : at + size].lower())]
            token = Token("word", plain[at : at + size], at, at + size, plain[at : at + size])
            found.append(_with_sense(token, sense, ()))
            at += size
            continue
        at = _append_one(plain, at, found)
    return found


def _frequency_length(text: str, at: int, words: Lexicon) -> int:
    """Return the length in characters of a frequency that begins with a number: 1回, 一度 ("once"); or 0."""
    for size in (3, 2):
        sense = words.phrases.get(tuple(text[at : at + size]), Sense())
        if {Marker("frequency", "once"), Marker("frequency", "twice")} & set(sense.markers):
            return size
    return 0


_COUNTERS = frozenset("人件名個个位项份条次")  # counter words, after a number


def _counter_in_word(text: str, at: int, size: int, before: Sequence[Token]) -> bool:
    """Return whether a counter character is part of a word: 件 in 人件費 ("cost of labour")."""
    if size > 1 or text[at] not in _COUNTERS or (before and before[-1].quantity and before[-1].end == at):
        return False
    return any("一" <= near <= "鿿" for near in (text[at - 1 : at], text[at + 1 : at + 2]))


def _phrase_at(text: str, at: int, words: Lexicon, quantities: dict[int, Quantity]) -> int:
    """Return the length of the longest phrase of the lexicon at ``at`` that cuts no quantity; 0 if none."""
    for size in range(min(words.longest, len(text) - at), 0, -1):
        if any(at < start < at + size for start in quantities):
            continue
        if tuple(text[at : at + size].lower()) in words.phrases:
            return size
    return 0


def _append_one(text: str, at: int, found: list[Token]) -> int:
    """Append the break, Katakana word, Latin word or character at ``at``; return the index after it."""
    character = text[at]
    if _BREAK.match(text, at):
        found.append(Token("break", character, at, at + 1))
    elif match := (_KATAKANA.match(text, at) or re.compile(r"[A-Za-z][A-Za-z0-9-]*").match(text, at)):
        found.append(Token("word", match[0].lower(), at, match.end(), match[0].lower(), name=True))
        return match.end()
    elif character.isalnum():
        hiragana = "ぁ" <= character <= "ん"
        kind: Kind = "function" if hiragana else "word"
        found.append(Token(kind, character, at, at + 1, character))
    return at + 1


def _without_contrasts(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Take a condition word that opens a statement for a function word.

    ", but the tenant …" contrasts; "all but the largest" excepts and stays a condition.
    """
    found = list(tokens)
    for at, token in enumerate(tokens):
        after_break = at > 0 and tokens[at - 1].kind == "break"
        if not token.marker or token.marker.category != "condition" or not after_break:
            continue
        first = token.word.split()[0]
        if first in words.breaks and first != token.word:
            found[at] = replace(token, kind="function", marker=None, word=first)
        elif token.word in words.relative and in_exception(tokens, at - 1):
            found[at] = replace(token, kind="function", marker=None)
    return found


def _without_plain_years(tokens: list[Token], language: str) -> list[Token]:
    """Take "year" before a year for a function word: "in the year 2019" means "in 2019"."""
    found = list(tokens)
    for at, (token, following) in enumerate(pairwise(tokens)):
        dated = following.quantity is not None and following.quantity.dimension == "year"
        if dated and token.kind == "word" and unit_names(language).get(token.word) == "a":
            found[at] = replace(token, kind="function")
    return found


_QUARTER = re.compile("[qt]([1-4])|([1-4])q")


def _with_quarters(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Replace "Q1" by the tokens of "first quarter"."""
    found: list[Token] = []
    for token in tokens:
        match = _QUARTER.fullmatch(token.word) if words.quarter and token.kind == "word" else None
        if match is None:
            found.append(token)
            continue
        ordinal = Marker("ordinal", match[1] or match[2])
        found.append(replace(token, kind="marker", marker=ordinal, stem=f"ordinal:{ordinal.value}"))
        name = min(words.quarter)
        found.append(replace(token, word=name, stem=stem(name, words.language), name=False, root=""))
    return found


def _with_ordinals(tokens: list[Token], language: str) -> list[Token]:
    """Mark "first" as an ordinal; read "every second year" as every two years."""
    ordinals = number_words(language).ordinals
    tokens = list(tokens)
    for at in range(len(tokens) - 2, 0, -1):
        every, nth, unit = tokens[at - 1 : at + 2]
        of_all = is_marker(every, "quantifier", "all")
        if of_all and nth.word in ordinals and unit.word in unit_names(language):
            amount = quantities_in(f"{ordinals[nth.word]} {unit.word}", language)[0]
            number = Token("quantity", f"{nth.word} {unit.word}", nth.start, unit.end, quantity=amount)
            tokens[at : at + 2] = [number]
    return [
        replace(token, kind="marker", marker=Marker("ordinal", str(ordinals[token.word])), poles=frozenset())
        if token.kind in ("word", "function") and token.word in ordinals
        else token
        for token in tokens
    ]


_EQUATIVES = {"en": ("as", "as"), "de": ("so", "wie"), "fr": ("aussi", "que"), "es": ("tan", "como"),
    "it": ("così", "come"), "pt": ("tão", "como"), "nl": ("zo", "als")}  # fmt: skip

_EQUATIVE_REACH = 7  # tokens between "as" and "as"


def _with_equatives(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Replace the second "as" of "twice as fast as under lamps" by "than": the standard of comparison."""
    first, second = _EQUATIVES.get(words.language, ("", ""))
    found = list(tokens)
    for at, token in enumerate(tokens[2:], start=2):
        near = tokens[max(0, at - _EQUATIVE_REACH) : at]
        opens = next((k for k, other in enumerate(near) if other.word == first), len(near))
        if token.word == second and any(other.content for other in near[opens + 1 : opens + 2]):
            found[at] = replace(token, word=min(words.than))
    return found


_NOT_GRADABLE = frozenset(
    ["male", "married", "landlord", "employer", "asset", "credit", "import", "trade", "money", "treated"]
)


def _is_gradable(token: Token) -> bool:
    """Return whether "less" can reverse a word's meaning: "high", but not "women" or "income"."""
    pairs = {pair for pair, _ in token.poles}
    return bool(pairs) and not pairs & _NOT_GRADABLE and token.kind != "quantity"


def _with_less_reversed(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Join "less" to a gradable word, with the opposite meaning: "less high"."""
    found: list[Token] = []
    less: Token | None = None
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if token.word in words.less and following and _is_gradable(following):
            less = token
            continue
        if less is not None:
            token = replace(token, poles=frozenset((p, 1 - s) for p, s in token.poles), start=less.start)
            token = replace(token, stem="-" + token.stem, word=f"{less.word} {token.word}")
            less = None
        found.append(token)
    return found


def _joins_numbers(tokens: Sequence[Token], at: int) -> bool:
    """Return whether "and" joins statements: "3 days with zinc and 4 with placebo", but not "3 and 4"."""
    if tokens[at].word not in COORDINATORS or at == 0:
        return False
    left, right = tokens[at - 1].quantity, tokens[at + 1].quantity if at + 1 < len(tokens) else None
    if left and (not right or left.dimension == right.dimension):
        return False
    following = [token for token in tokens[at + 1 : at + 3] if token.kind != "function"]
    if not following or following[0].kind != "quantity":
        return False
    before = (token for token in reversed(tokens[:at]))
    return any(token.kind == "quantity" for token in takewhile(lambda token: token.kind != "break", before))


_OPEN_BRACKETS, _CLOSE_BRACKETS = frozenset("(（"), frozenset(")）")


def in_clauses(tokens: Sequence[Token], words: Lexicon) -> Iterator[Token]:
    """Yield the tokens with the numbers of their clause and of their part, which semicolons separate.

    A "that" clause belongs to the clause of its verb.
    """
    clause = part = latest = 0
    around: list[int] = []  # clauses with an open bracket; they resume after it closes
    for at, token in enumerate(tokens):
        following = tokens[at + 1].word if at + 1 < len(tokens) else ""
        if token.word in _CLOSE_BRACKETS and around:
            clause = around.pop()
        elif token.kind == "break":
            if token.word in _OPEN_BRACKETS:
                around.append(clause)
            if following not in words.complement:
                clause = latest = latest + 1
            part += token.word in HARD_BREAKS
        elif (
            _joins_numbers(tokens, at)
            or (token.word in words.breaks and not (at and tokens[at - 1].marker in DENIALS))  # "nicht aber"
            or is_marker(token, "condition")
        ):
            clause = latest = latest + 1
        yield replace(token, clause=clause, part=part)
        if words.language == "ja" and is_marker(token, "condition"):
            clause = latest = latest + 1  # a Japanese condition marker ends its clause
