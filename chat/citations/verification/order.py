"""Who does what to whom: whether the partners stand in the same roles on both sides.

Words may change their places when a preposition they keep says their role, when
the voice of the verb changes, or when a comparison is turned round. Otherwise
exchanged places are exchanged roles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from chat.citations.verification.alignment import Pairing, content_places
from chat.citations.verification.phrases import (
    clause_lead,
    dates_kept,
    first_and_last,
    is_genitive,
    lead,
    of_number,
    particles_exchanged,
    roles_of,
)
from chat.citations.verification.token import COORDINATORS, DENIALS, Token
from chat.citations.verification.voice import (
    agent_of,
    case_of,
    converse,
    gives,
    impersonal,
    voice_changes,
    wrong_voices,
)
from text.semantics import UNSPACED, Lexicon

FREE_ORDER = frozenset({"zh", "de", "nl", "es", "ar", "it", "pt", "ru"})  # the subject may follow its verb


def misplaced(pairing: Pairing) -> tuple[int, int, bool] | None:
    """Two words of the claim (indexes) that have exchanged places, and whether their roles surely changed.

    Roles surely changed where a word before and one after a third have changed
    sides ("A pays B", "B pays A"), or where the voice changed and they did not.
    """
    claim = pairing.claim
    compared = comparison_turned(pairing)
    if pairing.words.language == "ja" and not compared and (exchanged := particles_exchanged(pairing)):
        return *exchanged, True
    if any(converse(pairing, i, j) for i, j in pairing.opposites):
        return None
    if first_and_last(pairing) and dates_kept(pairing):
        return None
    turned = voice_changes(pairing)
    if (wrong := next(wrong_voices(pairing, turned), None)) is not None:
        return *wrong, True
    if compared:
        return None
    turned += impersonal(pairing)
    if pairing.words.than and _compared(pairing) and operands_exchanged(pairing):
        ordered = [i for i, _ in pairing.ordered]
        return ordered[0], ordered[-1], True
    named = _names_exchanged(pairing, turned)
    if pairing.words.language in FREE_ORDER - {"zh", "ar"} and _only_verb_moved(pairing):
        return named
    bare = [
        (i, k)
        for (i, j), (k, m) in inversions(pairing)
        if pairing.source[j].start != pairing.source[m].start and claim[i].start != claim[k].start
        if not _free(pairing, i, j) and not _free(pairing, k, m) and not _whole_clauses(pairing, i, j, k, m)
        if not _elliptic(pairing, i, j, m) and not _counted_alone(pairing, i, j, k, m)
        if not any(min(i, k) <= v <= max(i, k) or min(j, m) <= w <= max(j, m) for v, w in turned)
        if not (_case_kept(pairing, i, j, k, m) or _case_kept(pairing, k, m, i, j))
        if not (_condition_kept(pairing, i, j, k, m) or _condition_kept(pairing, k, m, i, j))
        if not _nominal(pairing, i, j, k, m) and not _dative(pairing, i, j, k, m)
        if not any(_agent_named(pairing, (i, j), (k, m), turn) for turn in turned)
    ]
    if exchanged := _phrases_exchanged(pairing):
        return *exchanged, False
    if not bare:
        return named
    crossed = set(bare)
    if pairing.words.language in FREE_ORDER:
        added = {claim[i].clause for i in pairing.unmatched_claim if claim[i].kind == "word"}
        turns = {(i, k) for (i, _), (k, _) in inversions(pairing)}
        bare = [
            (i, k) for i, k in bare if claim[i].clause in added or not _verb_and_subject(pairing, i, k, turns)
        ]
        if not bare:
            return named
    if gives(pairing):
        return *bare[0], False
    for i, k in bare:
        for middle, last in bare:
            if middle == k and (i, last) in crossed and _bare_verb(pairing, k):
                return i, last, True
    return *bare[0], False


def _names_exchanged(
    pairing: Pairing, turned: Sequence[tuple[int, int]]
) -> tuple[int, int, Literal[False]] | None:
    """Two names of a clause in exchanged places that no preposition, voice or list allows."""
    claim, source = pairing.claim, pairing.source
    for (i, j), (k, m) in inversions(pairing):
        if not (_is_bare_name(pairing, i, j) and _is_bare_name(pairing, k, m)):
            continue
        if any(min(i, k) <= v <= max(i, k) or min(j, m) <= w <= max(j, m) for v, w in turned):
            continue
        listed = _joined(claim[i + 1 : k], pairing.words) and _joined(source[m + 1 : j], pairing.words)
        if not listed and not _whole_clauses(pairing, i, j, k, m):
            return i, k, False
    return None


def _is_bare_name(pairing: Pairing, i: int, j: int) -> bool:
    """Whether partners are a name that does not keep its preposition; in German, one without an article."""
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
    """The preposition right before a name of one or more words and its article; '' where none stands."""
    while at and (tokens[at - 1].capital or tokens[at - 1].word in words.articles):
        at -= 1
    before = tokens[at - 1].word if at else ""
    return before if before in words.prepositions | words.genitive else ""


def _joined(between: Sequence[Token], words: Lexicon) -> bool:
    """Whether only further names and what joins them stand between two names: "A, B and C"."""
    return all(t.capital or t.kind == "break" or t.word in COORDINATORS | words.articles for t in between)


def _phrases_exchanged(pairing: Pairing) -> tuple[int, int] | None:
    """Two phrases behind the same preposition, each with the other's head: "red to 1 and black to 2"."""
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
    """Whether a word stands right behind its preposition, or behind one word more."""
    if pairing.words.language == "ja":
        return False
    tokens = pairing.source
    at = next((k for k in range(j - 1, -1, -1) if tokens[k].word in pairing.words.prepositions), None)
    return at is not None and sum(token.content for token in tokens[at + 1 : j]) < 2


def _apart(pairing: Pairing, first: int, last: int) -> bool:
    """Whether an "and", a "while" or a comma stands between two words of the source."""
    between = pairing.source[first:last]
    return any(t.kind == "break" or t.word in COORDINATORS | pairing.words.breaks for t in between)


def _with_head(pairing: Pairing, i: int, j: int) -> bool:
    """Whether the words before both phrases are partners: "cable" of "cable to 1"."""
    heads = _head(pairing.claim, i, pairing.words), _head(pairing.source, j, pairing.words)
    return heads[0] is not None and pairing.partners.get(heads[0]) == heads[1]


def _head(tokens: Sequence[Token], at: int, words: Lexicon) -> int | None:
    """The content word before the preposition a word stands behind."""
    preposition = next((k for k in range(at - 1, -1, -1) if tokens[k].word in words.prepositions), 0)
    return max((k for k in content_places(tokens) if k < preposition), default=None)


def _whole_clauses(pairing: Pairing, i: int, j: int, k: int, m: int) -> bool:
    """Whether both words stand in clauses of their own, on both sides, of which none denies the other."""
    claim, source = pairing.claim, pairing.source
    apart = claim[i].clause != claim[k].clause and source[j].clause != source[m].clause
    apart = apart and _moved_along(pairing, i, j) and _moved_along(pairing, k, m)
    unspaced = pairing.words.language in UNSPACED
    apart = apart and _opening(claim, i, unspaced) == _opening(source, j, unspaced)
    apart = apart and _opening(claim, k, unspaced) == _opening(source, m, unspaced)
    return apart and _denied(claim, i) == _denied(source, j) and _denied(claim, k) == _denied(source, m)


def _opening(tokens: Sequence[Token], at: int, unspaced: bool) -> str:
    """The "because" or "before" that opens the clause of a word; '' where none does."""
    own = [t for t in tokens if t.clause == tokens[at].clause and (t.content or t is tokens[at])]
    closing = [t for t in own if unspaced and t.marker and t.marker.category == "time"]  # "…した後、"
    first = (closing or own)[0]
    subordinates = first.marker and first.marker.category in ("cause", "time")
    return f"{first.marker.category}:{first.marker.value}" if subordinates and first.marker else ""


def _moved_along(pairing: Pairing, i: int, j: int) -> bool:
    """Whether most words of the claim's clause have their partners in the clause of this one's."""
    clauses = [
        pairing.source[m].clause
        for k, m in pairing.ordered
        if pairing.claim[k].clause == pairing.claim[i].clause
    ]
    return 2 * clauses.count(pairing.source[j].clause) >= len(clauses)


def _denied(tokens: Sequence[Token], at: int) -> bool:
    """Whether a "not" stands in the clause of a word."""
    return any(token.clause == tokens[at].clause and token.marker in DENIALS for token in tokens)


def _counted_alone(pairing: Pairing, i: int, j: int, k: int, m: int) -> bool:
    """Whether a number and a word changed places where no other number could be said of the word."""
    claim, source = pairing.claim, pairing.source
    quantities = [token.quantity for token in (claim[i], claim[k]) if token.quantity]
    if len(quantities) != 1 or pairing.words.language == "ja":
        return False
    clauses = {source[j].clause, source[m].clause}
    rivals = [
        token for token in source
        if token.clause in clauses and token.quantity and token.quantity.dimension == quantities[0].dimension
    ]  # fmt: skip
    number, place = (j, m) if claim[i].quantity else (m, j)
    return len(rivals) == 1 and (place < number or not lead(source, place, pairing.words))


def _elliptic(pairing: Pairing, i: int, j: int, m: int) -> bool:
    """Whether a noun left out stands behind the number before: "47 lakes in 1998 and 63 in 2018"."""
    source, words = pairing.source, pairing.words
    if not pairing.claim[i].quantity or source[j].clause == source[m].clause:
        return False
    for at in range(m - 1, -1, -1):
        token = source[at]
        if token.quantity and token.quantity.dimension == (source[j].quantity or token.quantity).dimension:
            return at not in pairing.matched_source
        if token.kind == "break" or (
            token.kind == "function" and token.word not in words.genitive | words.articles
        ):
            return False
    return False


def _has_place(token: Token) -> bool:
    """Whether exchanging a token with another changes what is said: no "not" or "may", which go along."""
    return token.kind in ("word", "quantity") or (
        token.marker is not None and token.marker.category in ("ordinal", "cause", "quantifier")
    )


def inversions(pairing: Pairing) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Pairs of partners that stand in another order in the source."""
    pairs = [pair for pair in pairing.ordered if _has_place(pairing.claim[pair[0]])]
    for at, (i, j) in enumerate(pairs):
        for k, m in pairs[at + 1 :]:
            if m < j:
                yield (i, j), (k, m)


def _free(pairing: Pairing, i: int, j: int) -> bool:
    """Whether the word keeps its preposition, or begins its clause, or changes one genitive for another."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    one, other = roles_of(pairing, i, j)
    if one in words.among and other in words.among and one != other:
        return True
    if one in words.genitive and one == other:
        return _same_head(pairing, i, j) or (of_number(claim, i) and of_number(source, j))
    if one and one == other and one not in words.agent:
        return True
    if _is_adverb(claim[i]) or _is_adverb(source[j]):
        return True
    quantity = claim[i].quantity
    if quantity and quantity.dimension in ("year", "date") and _only_date(pairing, j):
        return True
    if is_genitive(claim, i, words) and is_genitive(source, j, words):
        return _same_head(pairing, i, j)
    if _compound(pairing, i, j):
        return True
    return _possessed(claim, i, source, j, words) or _possessed(source, j, claim, i, words)


def _condition_kept(pairing: Pairing, i: int, j: int, k: int, m: int) -> bool:
    """Whether a word stands under the same condition or time on both sides, and the other does not."""
    claim, source = pairing.claim, pairing.source
    one, other = clause_lead(claim, i, _SUBORDINATE), clause_lead(claim, k, _SUBORDINATE)
    apart = claim[i].clause != claim[k].clause and source[j].clause != source[m].clause
    apart = apart or one != other == clause_lead(source, m, _SUBORDINATE)
    return bool(one) and one == clause_lead(source, j, _SUBORDINATE) and apart


_SUBORDINATE = ("condition", "time")


def _case_kept(pairing: Pairing, i: int, j: int, k: int, m: int) -> bool:
    """Whether a German article says the role of a word in the clause of both."""
    case = case_of(pairing.claim, i, pairing.words)
    apart = (
        pairing.claim[i].clause != pairing.claim[k].clause
        or pairing.source[j].clause != pairing.source[m].clause
    )
    return bool(case) and case == case_of(pairing.source, j, pairing.words) and not apart


def _dative(pairing: Pairing, i: int, j: int, k: int, m: int) -> bool:
    """ "pay a deposit to the landlord" for "pay the landlord a deposit", and back."""
    words = pairing.words
    verb = max((at for at in pairing.partners if at < i), default=None)
    if words.language not in ("en", "nl") or verb is None or not pairing.partners[verb] < min(j, m):
        return False
    if pairing.claim[verb].kind != "word" or (pairing.claim[i].quantity and pairing.claim[k].quantity):
        return False
    claimed, held = lead(pairing.claim, k, words), lead(pairing.source, m, words)
    back, ahead = lead(pairing.claim, i, words), lead(pairing.source, j, words)
    return not back and not held and bool({claimed, ahead} & words.ends)


def _nominal(pairing: Pairing, i: int, j: int, k: int, m: int) -> bool:
    """ "publication of the call" for "the call was published", and back: a noun made of the verb."""
    if pairing.claim[i].word == pairing.source[j].word and pairing.claim[k].word == pairing.source[m].word:
        return False
    between = [at for at in content_places(pairing.claim) if i < at < k]
    others = [at for at in content_places(pairing.source) if m < at < j]
    roles = {lead(pairing.claim, k, pairing.words), lead(pairing.source, j, pairing.words)}
    return not between and not others and bool(roles & pairing.words.genitive)


_ADVERBS = ("ly", "ment", "mente")


def _is_adverb(token: Token) -> bool:
    """Whether a word has the ending of an adverb, which stands where it likes."""
    return token.kind == "word" and token.word.endswith(_ADVERBS) and len(token.word) > 6


def _agent_named(
    pairing: Pairing, one: tuple[int, int], other: tuple[int, int], turned: tuple[int, int]
) -> bool:
    """Whether one of two words is the agent of the verb whose voice has changed, on the passive side."""
    agents = [
        [token_at in agent_of(tokens, verb, pairing.words) for token_at in places]
        for tokens, verb, places in (
            (pairing.claim, turned[0], (one[0], other[0])), (pairing.source, turned[1], (one[1], other[1])),
        )
    ]  # fmt: skip
    return any(sum(side) == 1 for side in agents) and not all(any(side) for side in agents)


def _compound(pairing: Pairing, i: int, j: int) -> bool:
    """ "birch pollen" for "pollen of birch": the word stands before the head it stood behind, or back."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    to_claim = {m: k for k, m in pairing.partners.items()}
    if lead(source, j, words) in words.genitive:
        head = max((at for at in content_places(source) if at < j), default=None)
        behind = min((at for at in content_places(claim) if at > i), default=None)
        return _bare_compound(claim, behind, words) and head is not None and to_claim.get(head) == behind
    if lead(claim, i, words) in words.genitive:
        head = max((at for at in content_places(claim) if at < i), default=None)
        behind = min((at for at in content_places(source) if at > j), default=None)
        return (
            _bare_compound(source, behind, words)
            and head is not None
            and pairing.partners.get(head) == behind
        )
    return False


def _bare_compound(tokens: Sequence[Token], head: int | None, words: Lexicon) -> bool:
    """Whether a head has its word before it, and not behind an "of" of its own."""
    return head is not None and lead(tokens, head, words) not in words.genitive


def _only_date(pairing: Pairing, j: int) -> bool:
    """Whether a clause has one date, which then dates all of it."""
    clause = pairing.source[j].clause
    dates = [
        t
        for t in pairing.source
        if t.clause == clause and t.quantity and t.quantity.dimension in ("year", "date")
    ]
    return len(dates) == 1


def _possessed(one: Sequence[Token], at: int, other: Sequence[Token], there: int, words: Lexicon) -> bool:
    """ "The lake has a depth": "the depth of the lake"."""
    following = one[at + 1 : at + 5]
    role = lead(other, there, words)
    if any(token.word in words.light for token in following[:3]) and role in words.prepositions:
        return True
    has = any(
        verb.word in words.have and behind.kind != "word" for verb, behind in pairwise(following)
    )  # "has a", not "has sold"
    return has and role in (words.genitive | words.prepositions)


def _same_head(pairing: Pairing, i: int, j: int) -> bool:
    """Whether two words behind "of", or before "'s", belong to partners."""
    owned, other = _owned(pairing.claim, i, pairing.words), _owned(pairing.source, j, pairing.words)
    return owned is not None and pairing.partners.get(owned) == other


def _owned(tokens: Sequence[Token], at: int, words: Lexicon) -> int | None:
    """The word that a genitive belongs to: behind it after "'s", else before it."""
    if at + 1 < len(tokens) and tokens[at + 1].word in words.genitive and tokens[at + 1].word.startswith("'"):
        return next((k for k in content_places(tokens) if k > at), None)
    return max((k for k in content_places(tokens) if k < at and tokens[k].kind != "marker"), default=None)


def _verb_and_subject(pairing: Pairing, i: int, k: int, crossed: set[tuple[int, int]]) -> bool:
    """Whether two bare words side by side are exchanged alone: verb and subject behind an adverbial."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    j, m = pairing.partners[i], pairing.partners[k]
    if lead(claim, i, words) in words.genitive or lead(source, j, words) in words.genitive:
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


def _only_verb_moved(pairing: Pairing) -> bool:
    """Whether a verb and all else have changed places as blocks: "quedan excluidas las familias"."""
    crossed = [(i, k) for (i, _), (k, _) in inversions(pairing)]
    blocks = sorted({i for i, _ in crossed}), sorted({k for _, k in crossed})
    if not crossed or len(crossed) != len(blocks[0]) * len(blocks[1]) or blocks[0][-1] > blocks[1][0]:
        return False
    verbs = [block for block in blocks if all(_bare_verb(pairing, at) for at in block)]
    return len(verbs) == 1 and verbs[0][-1] - verbs[0][0] < _MOST_VERB_WORDS


_MOST_VERB_WORDS = 3


def _bare_verb(pairing: Pairing, at: int) -> bool:
    """Whether a word has neither article nor preposition, on both sides."""
    places = (pairing.claim, at), (pairing.source, pairing.partners[at])
    return all(
        tokens[place].kind == "word"
        and not tokens[place].capital
        and not (place and tokens[place - 1].word in pairing.words.articles | pairing.words.prepositions)
        for tokens, place in places
    )


def _moves_along(token: Token) -> bool:
    """Whether a word of meaning belongs to a noun beside it: "most guests"."""
    return token.marker is not None and token.marker.category not in ("cause", "negation")


def _compared(pairing: Pairing) -> bool:
    """Whether both sides compare: a word of more or less has a partner before "than"."""
    return (
        _than(pairing.claim, pairing.words)
        and _than(pairing.source, pairing.words)
        and any(pairing.claim[i].poles & pairing.source[j].poles for i, j in pairing.ordered)
    )


def comparison_turned(pairing: Pairing) -> bool:
    """Whether opposites are compared: "A is less than B", "B is more than A"."""
    return (
        bool(pairing.opposites)
        and _than(pairing.claim, pairing.words)
        and _than(pairing.source, pairing.words)
    )


def _than(tokens: Sequence[Token], words: Lexicon) -> bool:
    return any(token.word in words.than for token in tokens)


def _ranks(token: Token) -> bool:
    return token.marker is not None and token.marker.category == "ordinal"


def operands_exchanged(pairing: Pairing) -> bool | None:
    """Whether the words behind "than" have changed sides; None where that cannot be told."""
    at = next((k for k, token in enumerate(pairing.claim) if token.word in pairing.words.than), None)
    there = next((k for k, token in enumerate(pairing.source) if token.word in pairing.words.than), None)
    if at is None or there is None:
        return None
    if pairing.words.language == "ja":  # what it is held against stands before より
        held = max((k for k in content_places(pairing.claim) if k < at), default=-1)
        other = max((k for k in content_places(pairing.source) if k < there), default=-1)
        return pairing.partners[held] != other if held in pairing.partners else None
    stems = [token.stem for token in pairing.source if token.kind == "word" or _ranks(token)]
    behind = [
        pairing.partners[k]
        for k in range(at + 1, len(pairing.claim))
        if k in pairing.partners and (pairing.claim[k].kind != "marker" or _ranks(pairing.claim[k]))
    ]
    telling = [j for j in behind if stems.count(pairing.source[j].stem) < 2] or behind[:1]
    if not telling:
        return None
    return telling[0] < there
