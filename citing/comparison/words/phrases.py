"""Phrases of a sentence: the preposition that marks a word's role, the date of a number, exchanges."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence, Set
from dataclasses import replace
from itertools import pairwise, takewhile

from citing.comparison.words.alignment import Pairing, content_places
from citing.comparison.words.token import COORDINATORS, EITHER, Token, is_date, is_marker
from text.semantics import Lexicon, Marker


def lead(tokens: Sequence[Token], at: int, words: Lexicon) -> str:
    """Return the preposition or conjunction that begins the phrase of a word; '' for a bare phrase."""
    if words.language == "ja":
        return _particle(tokens, at)
    start = at
    while start > 0:
        before = tokens[start - 1]
        if before.kind == "break" or before.word in words.breaks:
            return ""
        if before.marker and before.marker.category in ("condition", "time", "cause"):
            return f"{before.marker.category}:{before.marker.value}"
        if before.word in words.prepositions and before.kind != "word":
            return before.word
        if before.word in words.passive or (
            before.kind == "marker"
            and before.marker is not None
            and before.marker.category in ("modality", "negation")
        ):
            return ""
        start -= 1
        if at - start > 5:
            return ""
    return ""


def of_number(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the phrase of a word begins with a number: "of the nine bridges"."""
    if tokens[at].quantity:
        return True
    before = next((token for token in reversed(tokens[:at]) if token.content), None)
    return before is not None and before.quantity is not None


_PARTICLES = {
    "は": "subject", "が": "subject", "も": "subject", "を": "object", "に": "に", "へ": "に", "から": "から",
    "より": "より", "で": "で", "によって": "agent", "により": "agent", "の": "の", "と": "と",
    "まで": "まで", "までに": "まで",
}  # fmt: skip


def _particle(tokens: Sequence[Token], at: int) -> str:
    """Return the case particle after the run of words of a Japanese word."""
    for after in tokens[at + 1 : at + 9]:
        if after.word in _PARTICLES and after.kind in ("function", "marker"):
            return _PARTICLES[after.word]
        if after.kind in ("break", "marker"):
            return ""
    return ""


_OF_PASSIVE = {"agent": "subject", "から": "subject", "subject": "object"}


def roles_of(pairing: Pairing, i: int, j: int) -> tuple[str, str]:
    """Return the roles of a word on both sides; for a Japanese passive those of its active form."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    one, other = lead(claim, i, words), lead(source, j, words)
    if words.language != "ja":
        return one, other
    passive = [any(token.word in words.passive for token in side) for side in (claim, source)]
    if passive[0] != passive[1]:
        one, other = (
            (_OF_PASSIVE.get(one, one), other) if passive[0] else (one, _OF_PASSIVE.get(other, other))
        )
    return one, other


def clause_lead(tokens: Sequence[Token], at: int, categories: Container[str] = ("condition",)) -> str:
    """Return the condition of a word's clause: "if", "unless"; '' in a main clause."""
    for before in reversed(tokens[:at]):
        if before.clause != tokens[at].clause:
            return ""
        if before.marker and before.marker.category in categories:
            return before.marker.value
    return ""


def is_genitive(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    following = tokens[at + 1].word if at + 1 < len(tokens) else ""
    return (following in words.genitive and following.startswith("'")) or lead(
        tokens, at, words
    ) in words.genitive


# Dates and numbers of a sentence with several: which number belongs to which date.


_MOST_BETWEEN = 8  # tokens between two pairs: "$12 and $14 of net sales in 2018 and 2019"


def paired_dates(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return places of an "and" between two amounts and of the "and" between their two dates.

    "Costs were $12 and $14 for 2018 and 2019": the first amount is of the first date.
    """
    joins = [at for at in range(1, len(tokens) - 1) if tokens[at].word in COORDINATORS - EITHER]
    dated = [at for at in joins if is_date(tokens[at - 1]) and is_date(tokens[at + 1])]
    found = []
    for at in joins:
        one, other = tokens[at - 1].quantity, tokens[at + 1].quantity
        alike = one is not None and other is not None and one.dimension == other.dimension
        if not alike or at in dated or (at > 1 and tokens[at - 2].quantity):
            continue
        near = (k for k in dated if at < k <= at + _MOST_BETWEEN)
        apart = (k for k in near if not any(t.content for t in tokens[at + 2 : k - 1]))
        found += [(at, k) for k in apart][:1]
    return found


def misdated(pairing: Pairing) -> tuple[int, int] | None:
    """Return a claim's date (index), and the source's number that it belongs to; None where it fits."""
    claim, source, partners = pairing.claim, pairing.source, pairing.partners
    owners = {k + side: at + side for at, k in paired_dates(source) for side in (-1, 1)}
    owners = {} if paired_dates(claim) else owners
    for i, j in pairing.ordered:
        near = _nearest_number(claim, i, partners) if is_date(claim[i]) else None
        if near is None:
            continue
        if j in owners and partners[near] in owners.values() and partners[near] != owners[j]:
            return i, owners[j]
        held = source[partners[near]].quantity
        rivals = {
            at for at, t in enumerate(source)
            if t.quantity and held and t.quantity.dimension == held.dimension and t.part == source[j].part
        }  # fmt: skip
        closest = _nearest_number(source, j, rivals)
        if closest is not None and closest not in pairing.matched_source and _beside(pairing, closest, j):
            return i, closest
    return None


def _beside(pairing: Pairing, number: int, date: int) -> bool:
    """Return whether only small words other than "and" are between a number and its date: "as of"."""
    between = pairing.source[min(number, date) + 1 : max(number, date)]
    small = (token.kind == "function" or token.word in pairing.words.period_end for token in between)
    return all(small) and not any(token.word in COORDINATORS for token in between)


def _nearest_number(tokens: Sequence[Token], at: int, known: Container[int]) -> int | None:
    """Return the number with a partner nearest to a date; of two as near, the one before it."""
    numbers = [k for k, t in enumerate(tokens) if t.quantity and not is_date(t) and k in known]
    return min(numbers, key=lambda k: (abs(k - at), k), default=None)


# Amounts of a change: its extent, start and end.

_OF = frozenset(["de", "d'", "di", "do", "da", "на"])  # "progressé de 5": by five; "passé de 5 à 8": from


def change_role(tokens: Sequence[Token], at: int, words: Lexicon) -> str:
    """Return the role of a number in a change: "by", "from", "to"; '' for none."""
    before = list(tokens[max(0, at - 4) : at])[::-1]
    if words.language == "ja":  # 374から, 374減少
        before = list(tokens[at + 1 : at + 2])
    if words.language == "zh":  # 从2015年的374
        before = [token for token in before if not is_date(token)]
    for place, token in enumerate(before):
        behind = before[place + 1] if place + 1 < len(before) else None
        if token.word in _OF and behind is not None and _turns(behind):
            return "from" if _reaches(tokens, at, words) else "by"
        if token.word in words.ends or (words.language == "zh" and token.word.endswith(tuple(words.ends))):
            return "to"
        if token.word in words.starts:
            return "from"
        if token.kind not in ("function", "marker"):
            return "by" if _turns(token) else ""
    return ""


def _reaches(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Return whether a later number is the end of the change that begins with this one: "de 5 à 8"."""
    own = tokens[at].quantity
    amounts = [(k, q.dimension) for k in range(at + 1, len(tokens)) if (q := tokens[k].quantity)]
    return own is not None and any(
        tokens[k - 1].word in words.ends and kind == own.dimension for k, kind in amounts
    )


def _turns(token: Token) -> bool:
    return any(pair == "direction" for pair, _ in token.poles)


# Exchanged places of names, phrases and compared things.


def particles_exchanged(pairing: Pairing) -> tuple[int, int] | None:
    """Return two Japanese words that exchanged their case particles."""
    changed = [(i, *roles_of(pairing, i, j)) for i, j in pairing.ordered if pairing.claim[i].kind == "word"]
    changed = [(i, one, other) for i, one, other in changed if one and other and one != other]
    for i, one, other in changed:
        for k, two, far in changed:
            if i < k and one == far and other == two:
                return i, k
    return None


def begins_comparison(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Return whether a "compared with" begins at a word; it may be one token: "frente a"."""
    longest = max((len(phrase.split()) for phrase in words.compared), default=0)
    behind = [token.word for token in tokens[at : at + longest]]
    return any(" ".join(behind[:size]) in words.compared for size in range(1, len(behind) + 1))


_DENIES = frozenset({"present", "include", "accept", "administer", "keep", "success", "known"})


def takes_amount_away(verb: Token, words: Lexicon) -> bool:
    """Return whether what a verb's object counts was not had: "excluded 54 votes", "planned sales of 5"."""
    absent = words.not_had | words.unrealised | words.doubting | words.proposing | words.need
    return verb.word in absent or any(pair in _DENIES and side == 1 for pair, side in verb.poles)


def comparison_over(tokens: Sequence[Token], at: int, words: Lexicon) -> int | None:
    """Return where the "compared with" begins that a word follows in its stretch; None without one."""
    before = takewhile(lambda k: tokens[k].kind != "break", range(at - 1, -1, -1))
    return next((k for k in before if begins_comparison(tokens, k, words)), None)


def is_bare_name(pairing: Pairing, i: int, j: int) -> bool:
    """Return whether partners are a name that lost its preposition; in German, one without an article."""
    sides = (pairing.claim, i), (pairing.source, j)
    words = pairing.words
    if not any(tokens[at].capital for tokens, at in sides) or pairing.claim[i].word != pairing.source[j].word:
        return False
    if words.language == "de" and any(
        token.word in words.articles for tokens, at in sides for token in tokens[max(at - 2, 0) : at]
    ):
        return False
    one, other = (_own_preposition(tokens, at, words) for tokens, at in sides)
    return not one or one != other


def _own_preposition(tokens: Sequence[Token], at: int, words: Lexicon) -> str:
    """Return the preposition right before a name of one or more words and its article; '' without one."""
    while at and (tokens[at - 1].capital or tokens[at - 1].word in words.articles):
        at -= 1
    if words.language == "de" and at and tokens[at - 1].kind == "word":  # "bei schwerer Störung"
        at -= 1
    before = tokens[at - 1].word if at else ""
    return before if before in words.prepositions | words.genitive else ""


_LONGEST_TITLE = 4  # letters: "Prof"


_LONGEST_TITLE = 4  # letters: "Prof"


def names_in_full(pairing: Pairing, at: int, texts: Sequence[Sequence[Token]]) -> bool:
    """Allow "Ada B. Lund" for "Ms Lund", where one of ``texts`` has the full name."""
    run = [at]
    for place in range(at + 1, len(pairing.claim)):
        if pairing.claim[place].kind == "word":
            run.append(place)
        elif pairing.claim[place].word != ".":
            break
    named = next((k for k in run if k in pairing.partners), None)
    if named is None or not pairing.source[place := pairing.partners[named]].name:
        return False
    title = pairing.source[place - 1] if place else None  # "Ms"; not "Greater" of another name
    if title and title.name and len(title.word) > _LONGEST_TITLE and place - 1 not in pairing.matched_source:
        return False
    full = [pairing.claim[k].word for k in run if k <= named]
    for tokens in texts:
        held = [token.word for token in tokens if token.kind == "word"]
        if any(held[k : k + len(full)] == full for k in range(len(held))):
            return True
    return False


def phrases_exchanged(pairing: Pairing) -> tuple[int, int] | None:
    """Return two phrases with one preposition that exchanged heads: "red to 1 and black to 2"."""
    found = [
        (i, j, lead(pairing.source, j, pairing.words))
        for i, j in pairing.ordered
        if pairing.claim[i].kind == pairing.source[j].kind != "marker" and _near_preposition(pairing, j)
    ]
    for at, (i, j, role) in enumerate(found):
        for k, m, other in found[at + 1 :]:
            claimed = lead(pairing.claim, i, pairing.words), lead(pairing.claim, k, pairing.words)
            if m > j or not role or role != other or claimed != (role, role):
                continue
            if _apart(pairing, m, j) and not (_with_head(pairing, i, j) and _with_head(pairing, k, m)):
                return i, k
    return None


def _near_preposition(pairing: Pairing, j: int) -> bool:
    """Return whether at most one word is between a word and its preposition."""
    if pairing.words.language == "ja":
        return False
    tokens = pairing.source
    at = next((k for k in range(j - 1, -1, -1) if tokens[k].word in pairing.words.prepositions), None)
    return at is not None and sum(token.content for token in tokens[at + 1 : j]) < 2


def _apart(pairing: Pairing, first: int, last: int) -> bool:
    """Return whether an "and", a "while" or a comma is between two words of the source."""
    between = pairing.source[first:last]
    return any(t.kind == "break" or t.word in COORDINATORS | pairing.words.breaks for t in between)


def _with_head(pairing: Pairing, i: int, j: int) -> bool:
    """Return whether the heads of both phrases are partners: "cable" of "cable to 1"."""
    heads = _head(pairing.claim, i, pairing.words), _head(pairing.source, j, pairing.words)
    return heads[0] is not None and pairing.partners.get(heads[0]) == heads[1]


def _head(tokens: Sequence[Token], at: int, words: Lexicon) -> int | None:
    """Return the content word before the preposition of a word."""
    preposition = next((k for k in range(at - 1, -1, -1) if tokens[k].word in words.prepositions), 0)
    return max((k for k in content_places(tokens) if k < preposition), default=None)


# Counted parts: "12 of the 50 houses" and paraphrases.


def counted_behind_whole(tokens: Sequence[Token], words: Lexicon) -> Iterator[Sequence[Token]]:
    """Read "Of the 50 houses, 12 burned" as "12 of the 50 houses burned"."""
    if not tokens or tokens[0].word not in words.among:
        return
    whole = next((at for at, t in enumerate(tokens) if t.content), 0)
    part = next((at for at in range(whole + 1, len(tokens)) if tokens[at].quantity), None)
    if part is None or not tokens[whole].quantity or not tokens[part].quantity.bare:  # type: ignore[union-attr]
        return
    phrase = [t for t in tokens[:part] if t.kind != "break"]
    if all(t.kind in ("word", "function") for t in phrase[whole + 1 :]):
        of = [replace(phrase[0], word=min(words.among)), *phrase[1:]]
        reading = [tokens[part], *of, *tokens[part + 1 :]]
        yield [
            replace(token, clause=0) if token.clause <= tokens[part].clause else token for token in reading
        ]
        parts = [*_counts_of_list(tokens, part), len(tokens)]
        for start, end in pairwise(parts) if len(parts) > 2 else ():  # "…, 31 held lead and 12 arsenic"
            reading = [tokens[start], *of, *tokens[start + 1 : end]]
            yield [replace(token, clause=0, part=0) for token in reading if token.kind != "break"]


def _counts_of_list(tokens: Sequence[Token], first: int) -> Iterator[int]:
    """Yield the first of several counts, and those right after a comma or an "and"."""
    yield first
    for at in range(first + 1, len(tokens) - 1):
        quantity, before = tokens[at].quantity, tokens[at - 1]
        opens = before.kind == "break" or before.word in COORDINATORS
        if opens and quantity and quantity.bare and not quantity.dimension and tokens[at + 1].kind == "word":
            yield at


_LONGEST_COMPARED = 3  # words


def of_compared(tokens: Sequence[Token], words: Lexicon) -> Iterator[Sequence[Token]]:
    """Read "bleeding occurred in 3 % of A, compared with 1 % in B" as "bleeding occurred in 1 % in B".

    A change is removed, as the compared amount is its start ("rose to 4, compared with 3 in 2022").
    """
    for at in range(1, len(tokens)):
        sizes = range(_LONGEST_COMPARED, 0, -1)
        size = next((k for k in sizes if " ".join(t.word for t in tokens[at : at + k]) in words.compared), 0)
        number = at + size
        if not size or number >= len(tokens) or (own := tokens[number].quantity) is None:
            continue
        before = [t for t in tokens[:at] if t.part == tokens[at].part]
        rivals = [k for k, t in enumerate(before) if t.quantity and t.quantity.dimension == own.dimension]
        if not rivals:
            continue
        behind = list(takewhile(lambda t: t.kind != "break", tokens[number + 1 :]))
        opening, rest = before[: rivals[-1]], before[rivals[-1] + 1 :]
        kept = [t for t in opening if not any(pair == "direction" for pair, _ in t.poles)]
        while len(kept) < len(opening) and kept and kept[-1].word in words.ends:
            kept.pop()
        whole = words.genitive | words.among
        shared = (
            not opening and not {t.word for t in (*rest[:1], *behind[:1])} & whole
        )  # "43 % do, against 27 %"
        shared = shared or all(t.word in words.counted for t in rest if t.content)  # "of patients"
        found = [*kept, tokens[number], *(rest if shared else ()), *behind]
        yield [replace(token, clause=0, part=0) for token in found]


def places_of_phrases(tokens: Sequence[Token], phrases: Set[str]) -> frozenset[int]:
    """Return the places of words that form one of the phrases: "compared with"; of characters, a word."""
    longest = max(
        (len(phrase.split()) if phrase.isascii() or " " in phrase else len(phrase) for phrase in phrases),
        default=0,
    )
    return frozenset(
        place
        for at in range(len(tokens))
        for size in range(1, min(longest, _LONGEST_PHRASE) + 1)
        if any(mark.join(token.word for token in tokens[at : at + size]) in phrases for mark in (" ", ""))
        for place in range(at, min(at + size, len(tokens)))
    )


_LONGEST_PHRASE = 5  # tokens


# Verbs in two parts, and periods.


def with_final_particles(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Join German particles at the end of a clause with their verb: "nimmt … zu"."""
    found = list(tokens)
    for at, token in enumerate(tokens):
        last = at + 1 == len(tokens) or tokens[at + 1].kind == "break"
        if last and (pole := words.final_particles.get(token.word)):
            pair, side = pole.split(":")
            found[at] = replace(token, kind="word", stem=token.word, poles=frozenset({(pair, int(side))}))
            for verb in range(at - 1, -1, -1):
                if tokens[verb].kind == "break":
                    break
                if tokens[verb].word in words.particle_verbs:
                    found[verb] = replace(tokens[verb], kind="function")
                    break
    return found


def with_periods(tokens: Sequence[Token]) -> list[Token]:
    """Read "every three months" as "quarterly", "alle sieben Tage" as "weekly"."""
    found: list[Token] = []
    for token in tokens:
        own = token.quantity
        period = _PERIODS.get((own.dimension, int(own.base))) if own and own.base == int(own.base) else None
        if period and found and is_marker(found[-1], "quantifier", "all"):
            marker = Marker("frequency", period)
            found[-1] = replace(found[-1], marker=marker, stem=f"frequency:{period}", end=token.end)
        else:
            found.append(token)
    return found


_PERIODS = {
    ("calendar", 1): "month", ("calendar", 3): "quarter", ("calendar", 12): "year",
    ("time", 3600): "hour", ("time", 86400): "day", ("time", 604800): "week",
}  # fmt: skip
