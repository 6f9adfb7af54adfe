"""Claims of which the sentence has all words, and which it does not say."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, takewhile

from citing.budget import check_budget
from citing.comparison.words.alignment import Pairing, content_places
from citing.comparison.words.phrases import comparison_over, lead
from citing.comparison.words.token import (
    COORDINATORS,
    EITHER,
    HARD_BREAKS,
    LIST_WORDS,
    Token,
    is_date,
    is_marker,
    same,
)
from text.languages import UNSPACED_LANGUAGES

_WITH_AMOUNT = re.compile(r"(?<![\w’'-])([^\W_][\w’'-]*)\s?\(\s?([^()]{0,6}\d[^()]{0,12})\)")


def mixes_statements(pairing: Pairing) -> int | None:
    """Return a word of a claim that takes parts of two parallel statements; None where it takes those of one.

    True: "8 (9%) had a rash" of "5 (9%) had fever and 8 (12%) had a rash": 8 has 12 % beside it, which the
    claim leaves out, and 9 % has 5.
    False: "8 had a rash", which leaves out what both statements have.

    Of two kinds of words the claim has one of the first statement and one of the second, and leaves out
    their counterparts. In the sentence, these four stand in two places apart.
    """
    swaps = list(_swaps(pairing))
    for (one, m, r), (other, k, s) in combinations(swaps, 2):
        check_budget()
        if one == other or m == k or r == s:
            continue
        if _apart(pairing, max(r, k), min(m, s)) or _apart(pairing, max(m, s), min(r, k)):
            return m
    amounts = [
        (m, r)
        for _, m, r in swaps
        if pairing.source[r].quantity and (_in_brackets(pairing, m) or not _in_brackets(pairing, r))
    ]
    for (_, j), (_, k) in _joined(pairing):
        if any(m < j < r < k for m, r in amounts):  # "5 for men and women" of "5 for men, 8 for women"
            return k
    return None


def says_otherwise(pairing: Pairing) -> int | None:
    """Return a word that the claim joins, denies, dates or asserts otherwise; None without one.

    True: "paid to employees" of "paid by employees"; "the board dismissed him" of "she asked the board to
    dismiss him". False: "the fees employees paid", without a preposition.
    """
    if (turned := _turned(pairing)) is not None:
        return turned
    wrong = (_denies_other_word, _is_only_wanted, _is_of_other_sentence, _is_of_other_amount)
    return next((at for _, at in pairing.ordered if any(is_wrong(pairing, at) for is_wrong in wrong)), None)


_AND = COORDINATORS | LIST_WORDS | {"ed", "od", "en", "и", "или", "而", "并", "且"}


def _apart(pairing: Pairing, one: int, other: int) -> bool:
    """Return whether a place is before the other, with a comma or a conjunction between them."""
    is_arabic = pairing.words.language == "ar"
    return any(
        token.word in _AND | pairing.words.breaks
        or (token.kind == "break" and token.word not in "()" and not _abbreviates(pairing.source, at))
        or (is_arabic and (token.quantity or token.word.startswith("و")))  # "and" is written with its word
        for at, token in enumerate(pairing.source[: other + 1])
        if at > one
    )


def _in_brackets(pairing: Pairing, at: int) -> bool:
    """Return whether a bracket is open before a word: the size of a group, "A (n = 408) or B (n = 204)"."""
    before = [token.word for token in pairing.source[:at]]
    return before.count("(") > before.count(")")


def _abbreviates(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a full stop may be that of an abbreviation: "St. Mary"."""
    return tokens[at].word == "." and at > 0 and len(tokens[at - 1].word) <= _LONGEST_ABBREVIATION


_LONGEST_ABBREVIATION = 3  # letters


def _joined(pairing: Pairing) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield neighbouring partners that the claim joins by an "and"."""
    for (i, j), (k, m) in pairwise(pairing.ordered):
        between = pairing.claim[i + 1 : k]
        if any(t.word in _AND for t in between) and not any(t.content for t in between):
            yield (i, j), (k, m)


def _denies_other_word(pairing: Pairing, at: int) -> bool:
    """Return whether a "not" of the source denies a word that the claim leaves out: "but not pain"."""
    if not is_marker(pairing.source[at], "negation"):
        return False
    behind = takewhile(lambda k: pairing.source[k].kind != "break", range(at + 1, len(pairing.source)))
    denied = next((k for k in behind if pairing.source[k].content), None)
    return denied is not None and denied not in pairing.matched_source


def _turned(pairing: Pairing) -> int | None:
    """Return a word that the claim has behind another preposition or conjunction: "paid to", "paid by"."""
    for (i, j), (k, m) in pairwise(pairing.ordered):
        sides = pairing.claim[i + 1 : k], pairing.source[j + 1 : m]
        small = not any(t.content or t.word in HARD_BREAKS for side in sides for t in side)
        if j < m and small:
            ranges = bool(pairing.claim[k].quantity)  # "between 3 and 5", "3 to 5": see change_role
            said, held = (_turning(side, pairing, ranges) for side in sides)
            if said and held and said != held:
                return m
    return None


def _turning(tokens: Sequence[Token], pairing: Pairing, only_joins: bool) -> frozenset[str]:
    """Return the telling prepositions, "and" and "or"; with ``only_joins`` only the last two."""
    found = set() if only_joins else {t.word for t in tokens} & pairing.words.turning
    either = EITHER | pairing.words.either
    joins = {"or" if t.word in either else "and" for t in tokens if t.word in _AND | either}
    run = "".join(token.word for token in tokens)  # "または" is two tokens
    if pairing.words.language in UNSPACED_LANGUAGES and any(word in run for word in either):
        joins = {"or"}
    return frozenset(found | joins)


def _is_only_wanted(pairing: Pairing, at: int) -> bool:
    """Return whether a verb depends on one that the claim leaves out: "asked the board to dismiss"."""
    source = pairing.source
    particle = source[at - 1].word if at and source[at].kind == "word" and not source[at].name else ""
    claimed = next(i for i, j in pairing.ordered if j == at)
    if particle not in _INFINITIVE or (claimed and pairing.claim[claimed - 1].word == particle):
        return False
    before = takewhile(lambda k: source[k].kind != "break", range(at - 2, max(-1, at - 2 - _REACH), -1))
    return any(source[k].kind == "word" and k not in pairing.matched_source for k in before)


_INFINITIVE = frozenset({"to", "zu", "te"})
_REACH = 5  # tokens between a verb and the infinitive that depends on it


def _is_of_other_sentence(pairing: Pairing, at: int) -> bool:
    """Return whether a date is of one sentence, and the claim's verb of another that has its own date."""
    source, matched = pairing.source, pairing.matched_source
    if not is_date(source[at]):
        return False
    part = {
        k: sum(source[h].word in HARD_BREAKS and not _abbreviates(source, h) for h in range(k))
        for k in content_places(source)
    }
    own = {source[k].stem for k in part if part[k] == part[at]}
    dated = {part[k] for k in part if is_date(source[k])}
    others = {
        part[k] for k in matched & part.keys() if source[k].kind == "word" and source[k].stem not in own
    }
    return bool(others & dated - {part[k] for k in matched if k in part and is_date(source[k])})


def _is_of_other_amount(pairing: Pairing, at: int) -> bool:
    """Return whether a word tells of an amount beside the claim's, which the claim leaves out.

    True: "15.6% in 2021" of "15.6% compared to an increase of 21.4% in 2021"; of "15.6%, up from 9% in 2021".
    False: "15.6%, up from 9% in 2021", which has both.
    """
    source, matched = pairing.source, pairing.matched_source
    breaks = (k for k in range(at - 1, -1, -1) if source[k].kind == "break" and source[k].word not in "()")
    compared = comparison_over(source, at, pairing.words)
    start = next(breaks, None) if compared is None else compared
    if start is None or (source[at].quantity is not None and not is_date(source[at])):
        return False
    amounts = {k: q for k in range(at) if (q := source[k].quantity) and not is_date(source[k])}
    own = {amounts[k].dimension for k in amounts if k < start and k in matched}
    others = [k for k in amounts if k > start]
    alike = any(amounts[k].dimension in own for k in others)
    before = range(start, others[0]) if others else ()
    return (
        alike and matched.isdisjoint(others) and not any(source[k].content and k in matched for k in before)
    )


def _swaps(pairing: Pairing) -> Iterator[tuple[str, int, int]]:
    """Yield kinds with a word of the source that the claim has and the farthest ones that it leaves out."""
    source, matched = pairing.source, pairing.matched_source
    places: dict[str, list[int]] = defaultdict(list)
    for at in content_places(source):
        for kind in _kinds(pairing, at) if any(map(str.isalnum, source[at].word)) else ():
            places[kind].append(at)
    for kind, alike in places.items():
        left = [r for r in alike if r not in matched and not any(same(source[r], source[m]) for m in matched)]
        for m in matched.intersection(alike) if left else ():
            yield from ((kind, m, r) for r in {left[0], left[-1]})


def _kinds(pairing: Pairing, at: int) -> Iterator[str]:
    """Yield what a word is parallel by: its dimension, its opposite, a name, the word before its phrase."""
    source, token, before = pairing.source, pairing.source[at], _word_before(pairing, at)
    if token.quantity:
        yield "date" if is_date(token) else f"{token.quantity.dimension} {token.quantity.unit == '%'}"
        return
    opens = not any(t.content or t.word in pairing.words.prepositions for t in source[:at])
    if token.name or (opens and source[at + 1 : at + 2] and source[at + 1].word in (",", "'s", "’s")):
        yield "name"
    yield from (pair for pair, _ in token.poles)
    if before in _AND:  # "approved the budget on 4 May and the merger": both stand behind "approved"
        words = {token.word for token in source[:at] if token.kind == "word"}
        yield from words.intersection(_word_before(pairing, k) for k in content_places(source) if k < at)
    elif role := lead(source, at, pairing.words) or before:
        yield role


def _word_before(pairing: Pairing, at: int) -> str:
    """Return the word before a word and its article: "had" of "had a rash"; "" for none."""
    before = next((t for t in reversed(pairing.source[:at]) if t.word not in pairing.words.articles), None)
    return "" if before is None or before.kind == "break" or before.quantity else before.word


def amounts_exchanged_in_brackets(claim: str, passage: str) -> tuple[str, ...]:
    """Return the claim's amounts in brackets that the page prints behind one another's names; () without.

    True: "Democrats (71%) and Republicans (53%)" of "Republicans (71%) and Democrats (53%)".
    False: of "Democrats (71%) and, less often, Republicans (53%)".
    """
    claimed, held = _with_amounts(claim), _with_amounts(passage)
    moved = [(name, amount) for name, amount in claimed if (name, amount) not in held]
    names, amounts = {name for name, _ in held}, {amount for _, amount in held}
    exchanged = len(moved) > 1 and all(name in names and amount in amounts for name, amount in moved)
    return tuple(amount for _, amount in moved) if exchanged else ()


def _with_amounts(text: str) -> set[tuple[str, str]]:
    found = _WITH_AMOUNT.findall(text)
    return {(name.casefold(), "".join(amount.split())) for name, amount in found}
