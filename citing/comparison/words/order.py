"""Semantic roles: whether partners have the same role on both sides (who does what to whom).

Words may change places when they keep a preposition that marks their role, when the voice of the verb
changes, or when a comparison is inverted. Otherwise exchanged places are exchanged roles.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from citing.comparison.words.alignment import (
    Pairing,
    blocks_exchanged,
    content_places,
    inversions,
    places_exchanged,
    small_words_stay,
)
from citing.comparison.words.phrases import (
    is_bare_name,
    is_genitive,
    lead,
    of_number,
    particles_exchanged,
    phrases_exchanged,
    roles_of,
)
from citing.comparison.words.than import operands_exchanged
from citing.comparison.words.token import COORDINATORS, DENIALS, Token, is_date
from citing.comparison.words.voice import (
    agent_of,
    case_of,
    voice_changes,
    wrong_voices,
)
from text.languages import UNSPACED_LANGUAGES
from text.semantics import Lexicon

FREE_ORDER = frozenset({"zh", "de", "nl", "es", "ar", "it", "pt", "ru"})  # the subject may follow its verb


def misplaced(pairing: Pairing) -> tuple[int, int] | None:
    """Return two words of the claim (indexes) that exchanged places so that their roles may have changed.

    "A pays B" for "B pays A"; words that stayed where the voice changed.
    """
    unspaced = pairing.words.language in UNSPACED_LANGUAGES
    if unspaced and (blocks := blocks_exchanged(pairing)):
        return blocks[0][0], blocks[1][0]
    if pairing.words.language == "ja" and (exchanged := particles_exchanged(pairing)):
        return exchanged
    if exchanged := operands_exchanged(pairing):
        return exchanged
    turned = voice_changes(pairing)
    if (wrong := next(wrong_voices(pairing, turned), None)) is not None:
        return wrong
    named = _names_exchanged(pairing, turned)
    if exchanged := phrases_exchanged(pairing):
        return exchanged
    unexplained = _unexplained(pairing, turned)
    if not (wrong := next(iter(_without_free_verbs(pairing, unexplained)), None)):
        return named
    stayed = any(
        small_words_stay(pairing, (i, pairing.partners[i]), (k, pairing.partners[k])) for i, k in unexplained
    )
    return None if not stayed and _block_moved(pairing) else wrong


def _block_moved(pairing: Pairing) -> bool:
    """Return whether the only difference is one phrase moved past another, each whole and in its own role.

    Exchanged roles leave the words between them in place: "A pays B", "B pays A".
    """
    pairs = pairing.ordered
    turned = [at for at, (_, j) in enumerate(pairs) if any(m < j for _, m in pairs[at:])]
    turned += [at for at, (_, j) in enumerate(pairs) if any(m > j for _, m in pairs[:at])]
    if not turned:
        return False
    window = pairs[min(turned) : max(turned) + 1]
    places = [j for _, j in window]
    cut = places.index(min(places))
    if places[cut:] + places[:cut] != sorted(places):
        return False
    claim, source, words = pairing.claim, pairing.source, pairing.words
    junction = source[max(places[cut:]) + 1 : min(places[:cut])]
    if any(token.word in COORDINATORS | words.than | words.breaks for token in junction):
        return False
    opening = roles_of(pairing, *window[0]), roles_of(pairing, *window[cut])
    adverbial = any(one == other != "" for one, other in opening)  # ", according to the survey"
    if any(token.kind == "break" for token in junction) and not adverbial:
        return False
    left_out = [at for at in pairing.unmatched_source if min(places) < at < max(places)]
    if not all(
        source[at].kind == "word" and not source[at].name for at in left_out
    ):  # "none were found in it": "it has none"
        return False
    leads = {i: roles_of(pairing, i, j) for i, j in pairs}
    if words.language in ("de", "nl") and len(window) == 2 and not any(any(leads[i]) for i, _ in window):
        return False  # "dass die Feuchte die Risse verursacht"
    lost = {one for one, other in leads.values() if not other}
    if lost & {other for one, other in leads.values() if not one} - {""}:
        return False  # "the garden of the gate"
    for i, j in window:
        one, other = leads[i]
        if one != other and ((one and other) or words.language == "ja"):
            return False
        if case_of(claim, i, words) != case_of(source, j, words):
            return False
        if one in words.genitive and one == other and not _same_head(pairing, i, j):
            return False
        if words.language == "ar" and claim[i].word.startswith("لل") != source[j].word.startswith("لل"):
            return False
    return True


def _unexplained(pairing: Pairing, turned: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return words of the claim that exchanged places for no grammatical reason.

    ``turned``: verbs of claim and source whose voice changed.
    """
    claim = pairing.claim
    return [
        (i, k)
        for (i, j), (k, m) in inversions(pairing)
        if pairing.source[j].start != pairing.source[m].start and claim[i].start != claim[k].start
        if not (_may_move(pairing, i, j) or _may_move(pairing, k, m)) or _exchanged(pairing, (i, j), (k, m))
        if not _whole_clauses(pairing, i, j, k, m) or _exchanged(pairing, (i, j), (k, m))
        if not _counted_alone(pairing, i, j, k, m)
        if not any(min(i, k) <= v <= max(i, k) or min(j, m) <= w <= max(j, m) for v, w in turned)
        if not any(_agent_named(pairing, (i, j), (k, m), turn) for turn in turned)
        if not (_case_kept(pairing, i, j, k, m) or _case_kept(pairing, k, m, i, j))
        or small_words_stay(pairing, (i, j), (k, m))
    ]


def _exchanged(pairing: Pairing, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether two words changed places and not those around them, without a preposition that moved.

    True: "A pays B" of "B pays A". False: "A pays on Monday" of "On Monday A pays".
    """
    leads = [roles_of(pairing, *pair) for pair in (one, other)]
    along = leads[0] != leads[1] and all(own == held for own, held in leads)
    return not along and places_exchanged(pairing, one, other)


def _without_free_verbs(pairing: Pairing, bare: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Leave out a subject and its verb that exchanged places, in a language that allows it."""
    if pairing.words.language not in FREE_ORDER:
        return bare
    claim = pairing.claim
    added = {claim[i].clause for i in pairing.unmatched_claim if claim[i].kind == "word"}
    turns = {(i, k) for (i, _), (k, _) in inversions(pairing)}
    return [
        (i, k)
        for i, k in bare
        if claim[i].clause in added
        or not _verb_and_subject(pairing, i, k, turns)
        or small_words_stay(pairing, (i, pairing.partners[i]), (k, pairing.partners[k]))
    ]


def _names_exchanged(pairing: Pairing, turned: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return two names of a clause in exchanged places that no preposition or voice allows."""
    for (i, j), (k, m) in inversions(pairing):
        if not (is_bare_name(pairing, i, j) and is_bare_name(pairing, k, m)):
            continue
        if any(min(i, k) <= v <= max(i, k) or min(j, m) <= w <= max(j, m) for v, w in turned):
            continue
        if not _whole_clauses(pairing, i, j, k, m):
            return i, k
    return None


def _whole_clauses(pairing: Pairing, i: int, j: int, k: int, m: int) -> bool:
    """Return whether both words have clauses of their own on both sides, neither negated."""
    claim, source = pairing.claim, pairing.source
    apart = claim[i].clause != claim[k].clause and source[j].clause != source[m].clause
    apart = apart and _moved_along(pairing, i, j) and _moved_along(pairing, k, m)
    unspaced = pairing.words.language in UNSPACED_LANGUAGES
    apart = apart and _subordinator(claim, i, unspaced) == _subordinator(source, j, unspaced)
    apart = apart and _subordinator(claim, k, unspaced) == _subordinator(source, m, unspaced)
    return apart and _denied(claim, i) == _denied(source, j) and _denied(claim, k) == _denied(source, m)


def _subordinator(tokens: Sequence[Token], at: int, unspaced: bool) -> str:
    """Return the "because" or "before" that opens the clause of a word; '' without one."""
    own = [t for t in tokens if t.clause == tokens[at].clause and (t.content or t is tokens[at])]
    closing = [t for t in own if unspaced and t.marker and t.marker.category == "time"]  # "…した後、"
    first = (closing or own)[0]
    subordinates = first.marker and first.marker.category in ("cause", "time")
    return f"{first.marker.category}:{first.marker.value}" if subordinates and first.marker else ""


def _moved_along(pairing: Pairing, i: int, j: int) -> bool:
    """Return whether most words of the claim's clause have partners in the clause of this partner."""
    clauses = [
        pairing.source[m].clause
        for k, m in pairing.ordered
        if pairing.claim[k].clause == pairing.claim[i].clause
    ]
    return 2 * clauses.count(pairing.source[j].clause) >= len(clauses)


def _denied(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the clause of a word contains a "not"."""
    return any(token.clause == tokens[at].clause and token.marker in DENIALS for token in tokens)


def _counted_alone(pairing: Pairing, i: int, j: int, k: int, m: int) -> bool:
    """Return whether a number and a word changed places where no other number could belong to the word."""
    claim, source = pairing.claim, pairing.source
    quantities = [token.quantity for token in (claim[i], claim[k]) if token.quantity]
    if len(quantities) != 1 or pairing.words.language == "ja":
        return False
    clauses = {source[j].clause, source[m].clause}
    rivals = [
        token for token in source
        if token.clause in clauses and token.quantity and token.quantity.dimension == quantities[0].dimension
    ]  # fmt: skip
    if any(token.word in COORDINATORS for token in source[min(j, m) : max(j, m)]):
        return False  # "is limited to two days and requires consent"
    number, place = (j, m) if claim[i].quantity else (m, j)
    beside = any(t.clause == source[number].clause and t.kind == "word" for t in source)
    if claim[i].clause == claim[k].clause and len(clauses) > 1 and beside:
        return False  # the number belongs to another thing in the source: "area 4 ha, height 9 m"
    return len(rivals) == 1 and (place < number or not lead(source, place, pairing.words))


def _may_move(pairing: Pairing, i: int, j: int) -> bool:
    """Return whether the word keeps its preposition, begins its clause, or has another form of genitive."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    one, other = roles_of(pairing, i, j)
    if one in words.among and other in words.among and one != other:
        return True
    if one in words.genitive and one == other:
        return _same_head(pairing, i, j) or (of_number(claim, i) and of_number(source, j))
    if one and one == other and (claim[i].quantity or one not in words.agent):
        return True
    if (
        {one, other} <= words.timely | {"time:during"}
        and _is_period(claim, i, words)
        and _is_period(source, j, words)
    ):
        return True
    if is_date(claim[i]) and _only_date(pairing, j):
        return True
    return is_genitive(claim, i, words) and is_genitive(source, j, words) and _same_head(pairing, i, j)


def _is_period(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Return whether the phrase of a word has a date or an ordinal: "for the third quarter"."""
    start = next((k for k in range(at, -1, -1) if tokens[k].word in words.timely), at)
    own = takewhile(lambda t: t.content or t.word in words.articles, tokens[start + 1 :])
    return any(is_date(t) or (t.marker and t.marker.category == "ordinal") for t in own)


def _case_kept(pairing: Pairing, i: int, j: int, k: int, m: int) -> bool:
    """Return whether a German article marks the role of a word in the clause of both."""
    case = case_of(pairing.claim, i, pairing.words)
    apart = (
        pairing.claim[i].clause != pairing.claim[k].clause
        or pairing.source[j].clause != pairing.source[m].clause
    )
    return bool(case) and case == case_of(pairing.source, j, pairing.words) and not apart


def _agent_named(
    pairing: Pairing, one: tuple[int, int], other: tuple[int, int], turned: tuple[int, int]
) -> bool:
    """Return whether one of two words is the agent of the passive verb whose voice changed."""
    agents = [
        [token_at in agent_of(tokens, verb, pairing.words) for token_at in places]
        for tokens, verb, places in (
            (pairing.claim, turned[0], (one[0], other[0])), (pairing.source, turned[1], (one[1], other[1])),
        )
    ]  # fmt: skip
    return any(sum(side) == 1 for side in agents) and not all(any(side) for side in agents)


def _only_date(pairing: Pairing, j: int) -> bool:
    """Return whether a clause has only one date, which then dates all of it."""
    clause = pairing.source[j].clause
    return sum(t.clause == clause and is_date(t) for t in pairing.source) == 1


def _same_head(pairing: Pairing, i: int, j: int) -> bool:
    """Return whether two genitives ("of", "'s") belong to partners."""
    owned, other = _owned(pairing.claim, i, pairing.words), _owned(pairing.source, j, pairing.words)
    return owned is not None and pairing.partners.get(owned) == other


def _owned(tokens: Sequence[Token], at: int, words: Lexicon) -> int | None:
    """Return the word that a genitive belongs to: the next after "'s", else the one before it."""
    if at + 1 < len(tokens) and tokens[at + 1].word in words.genitive and tokens[at + 1].word.startswith("'"):
        return next((k for k in content_places(tokens) if k > at), None)
    return max((k for k in content_places(tokens) if k < at and tokens[k].kind != "marker"), default=None)


def _verb_and_subject(pairing: Pairing, i: int, k: int, crossed: set[tuple[int, int]]) -> bool:
    """Return whether only two adjacent bare words are exchanged: verb and subject after an adverbial."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    j, m = pairing.partners[i], pairing.partners[k]
    if lead(claim, i, words) in words.genitive or lead(source, j, words) in words.genitive:
        return False
    if _object_of_other_verb(pairing, min(j, m)):
        return False
    between = [at for at in content_places(claim) if i < at < k and not _moves_along(claim[at])]
    others = [at for at in content_places(source) if m < at < j and not _moves_along(source[at])]
    if not between and not others:
        return _bare_verb(pairing, i) or _bare_verb(pairing, k)
    return words.language != "zh" and any(
        _bare_verb(pairing, verb)
        and all((min(at, verb), max(at, verb)) in crossed for at in phrase)
        and not any((min(a, b), max(a, b)) in crossed for a in phrase for b in phrase)
        for phrase, verb in (((i, *between), k), ((k, *between), i))
    )


def _object_of_other_verb(pairing: Pairing, at: int) -> bool:
    """Return whether a noun follows a verb that the claim omits: "excluded a fracture and showed"."""
    if pairing.words.language not in ("es", "it", "pt"):
        return False
    start = at
    while start and pairing.source[start - 1].word in pairing.words.articles:
        start -= 1
    before = pairing.source[start - 1] if start else None
    return before is not None and before.kind == "word" and start - 1 not in pairing.matched_source


def _bare_verb(pairing: Pairing, at: int) -> bool:
    """Return whether a word has neither article nor preposition on both sides."""
    places = (pairing.claim, at), (pairing.source, pairing.partners[at])
    return all(
        tokens[place].kind == "word"
        and not tokens[place].capital
        and not (pairing.words.language == "ar" and tokens[place].word.startswith(_WITH_ARTICLE))
        and not (place and tokens[place - 1].word in pairing.words.articles | pairing.words.prepositions)
        for tokens, place in places
    )


_WITH_ARTICLE = ("ال", "لل", "بال", "وال")


def _moves_along(token: Token) -> bool:
    """Return whether a marker belongs to the noun beside it: "most guests"."""
    return token.marker is not None and token.marker.category not in ("cause", "negation")
