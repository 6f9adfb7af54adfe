"""Who does what to whom: whether the partners stand in the same roles on both sides.

Words may change their places when a preposition they keep says their role, when
the voice of the verb changes, or when a comparison is turned round. Otherwise
exchanged places are exchanged roles.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from chat.citations.verification.alignment import Partners, content_places, opposite, same
from chat.citations.verification.tokens import COORDINATORS, DENIALS, Token
from text.semantics import Lexicon

_ARTICLES = frozenset(["the", "all", "der", "die", "les", "los", "las"])
FREE_ORDER = frozenset({"zh", "de", "nl", "es", "ar", "it", "pt", "ru"})  # the subject may follow its verb
_DETERMINERS = frozenset(
    ["the", "a", "an", "le", "la", "les", "l'", "un", "une", "el", "los", "las", "una", "il"]
) | frozenset(["lo", "i", "gli", "o", "os", "as", "um", "uma"])
_GRADABLE = frozenset(["level", "length", "speed", "width", "age", "strength", "quality"])  # no participles
_WITH_PRONOUN = ("arse", "erse", "irse")
_NO_PARTICIPLE = ("ing", "ly", "ant", "ent", "al", "ive", "ous", "ic", "ble", "ful", "s")
_AUXILIARY_REACH = 4  # tokens between an auxiliary and its participle


@dataclass(frozen=True)
class Pairing:
    """A claim and a sentence of the source with the partners of their words."""

    claim: Sequence[Token]
    source: Sequence[Token]
    partners: Partners
    words: Lexicon

    @cached_property
    def ordered(self) -> list[tuple[int, int]]:
        return sorted(self.partners.items())

    @cached_property
    def matched_source(self) -> frozenset[int]:
        return frozenset(self.partners.values())

    @cached_property
    def unmatched_claim(self) -> list[int]:
        return [at for at in content_places(self.claim) if at not in self.partners]

    @cached_property
    def unmatched_source(self) -> list[int]:
        return [at for at in content_places(self.source) if at not in self.matched_source]

    @cached_property
    def clauses(self) -> frozenset[int]:
        """Clauses of the source that partners stand in."""
        return frozenset(self.source[at].clause for at in self.matched_source)

    @cached_property
    def opposites(self) -> list[tuple[int, int]]:
        """Partners that say the opposite of each other."""
        return [
            (i, j)
            for i, j in self.ordered
            if not same(self.claim[i], self.source[j]) and opposite(self.claim[i], self.source[j])
        ]


def misplaced(pairing: Pairing) -> tuple[int, int, bool] | None:
    """Two words of the claim (indexes) that have exchanged places, and whether their roles surely changed.

    Roles surely changed where a word before and one after a third have changed
    sides ("A pays B", "B pays A"), or where the voice changed and they did not.
    """
    if pairing.words.language == "ja" and (exchanged := particles_exchanged(pairing)):
        return *exchanged, True
    if any(converse(pairing, i, j) for i, j in pairing.opposites):
        return None
    if first_and_last(pairing) and dates_kept(pairing):
        return None
    turned = voice_changes(pairing)
    if (wrong := next(wrong_voices(pairing, turned), None)) is not None:
        return *wrong, True
    if comparison_turned(pairing):
        return None
    if pairing.words.than and _compared(pairing) and operands_exchanged(pairing):
        ordered = [i for i, _ in pairing.ordered]
        return ordered[0], ordered[-1], True
    bare = [
        (i, k)
        for (i, j), (k, m) in inversions(pairing)
        if not _free(pairing, i, j) and not _free(pairing, k, m) and not _whole_clauses(pairing, i, j, k, m)
        if not _elliptic(pairing, i, j, m) and not _counted_alone(pairing, i, j, k, m)
        if not any(min(i, k) <= v <= max(i, k) or min(j, m) <= w <= max(j, m) for v, w in turned)
    ]
    if exchanged := _phrases_exchanged(pairing):
        return *exchanged, False
    if not bare:
        return None
    crossed = set(bare)
    if pairing.words.language in FREE_ORDER:
        bare = [(i, k) for i, k in bare if not _verb_and_subject(pairing, i, k, crossed)]
        if not bare:
            return None
    if _gives(pairing):
        return *bare[0], False
    for i, k in bare:
        for middle, last in bare:
            if middle == k and (i, last) in crossed:
                return i, last, True
    return *bare[0], False


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
    apart = apart and _opening(claim, i) == _opening(source, j) and _opening(claim, k) == _opening(source, m)
    return apart and _denied(claim, i) == _denied(source, j) and _denied(claim, k) == _denied(source, m)


def _opening(tokens: Sequence[Token], at: int) -> str:
    """The "because" or "before" that opens the clause of a word; '' where none does."""
    first = next(t for t in tokens if t.clause == tokens[at].clause and (t.content or t is tokens[at]))
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


def first_and_last(pairing: Pairing, said_so: bool = False) -> tuple[int, int] | None:
    """Indexes of the claim's numbers in "from 688 to 604"; only where the source has both in other words.

    ``said_so``: also where the source says "from" and "to".
    """
    claim, words = pairing.claim, pairing.words
    values = [i for i, _ in pairing.ordered if claim[i].quantity]
    first = next((i for i in values if lead(claim, i, words) in words.starts), None)
    last = next((i for i in values if lead(claim, i, words) in words.ends), None)
    if first is None or last is None:
        return None
    one, other = claim[first].quantity, claim[last].quantity
    same_measure = one is not None and other is not None and one.dimension == other.dimension
    source = pairing.source
    written = lead(source, pairing.partners[first], words), lead(source, pairing.partners[last], words)
    other_words = said_so or not set(written) & (words.starts | words.ends)
    return (first, last) if same_measure and other_words else None


def dates_kept(pairing: Pairing) -> bool:
    """Whether each date stands nearest to the same number on both sides."""
    return all(
        (near := _nearest_number(pairing.claim, i, pairing.partners)) is None
        or pairing.partners[near] == _nearest_number(pairing.source, j, pairing.matched_source)
        for i, j in pairing.ordered
        if _is_date(pairing.claim[i])
    )


def misdated(pairing: Pairing) -> tuple[int, int] | None:
    """A claim's date (index), and the number (the source's) it belongs to there; None where it fits."""
    claim, source, partners = pairing.claim, pairing.source, pairing.partners
    for i, j in pairing.ordered:
        near = _nearest_number(claim, i, partners) if _is_date(claim[i]) else None
        if near is None:
            continue
        held = source[partners[near]].quantity
        rivals = {
            at for at, t in enumerate(source)
            if t.quantity and held and t.quantity.dimension == held.dimension and t.part == source[j].part
        }  # fmt: skip
        closest = _nearest_number(source, j, rivals)
        if closest is not None and closest not in pairing.matched_source and _beside(source, closest, j):
            return i, closest
    return None


def _beside(tokens: Sequence[Token], number: int, date: int) -> bool:
    """Whether nothing but small words stands between a number and its date."""
    between = tokens[min(number, date) + 1 : max(number, date)]
    return all(token.kind == "function" for token in between)


def _nearest_number(tokens: Sequence[Token], at: int, known: Container[int]) -> int | None:
    """The number with a partner that stands nearest to a date; of two as near, the one before it."""
    numbers = [k for k, t in enumerate(tokens) if t.quantity and not _is_date(t) and k in known]
    return min(numbers, key=lambda k: (abs(k - at), k), default=None)


def _is_date(token: Token) -> bool:
    return token.quantity is not None and token.quantity.dimension in ("year", "date")


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
            token.kind == "function" and token.word not in words.genitive | _ARTICLES
        ):
            return False
    return False


def inversions(pairing: Pairing) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Pairs of partners that stand in another order in the source."""
    pairs = [pair for pair in pairing.ordered if pairing.claim[pair[0]].kind in ("word", "quantity")]
    for at, (i, j) in enumerate(pairs):
        for k, m in pairs[at + 1 :]:
            if m < j:
                yield (i, j), (k, m)


def _free(pairing: Pairing, i: int, j: int) -> bool:
    """Whether the word keeps its preposition, or begins its clause, or changes one genitive for another."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    one, other = lead(claim, i, words), lead(source, j, words)
    if one in words.genitive and one == other:
        return _same_head(pairing, i, j) or (_of_number(claim, i) and _of_number(source, j))
    if one and one == other and one not in words.agent:
        return True
    quantity = claim[i].quantity
    if quantity and quantity.dimension in ("year", "date") and _only_date(pairing, j):
        return True
    clause = clause_lead(claim, i)
    if clause and clause == clause_lead(source, j):
        return True
    if _is_genitive(claim, i, words) and _is_genitive(source, j, words):
        return True
    if _compound(pairing, i, j):
        return True
    return _possessed(claim, i, source, j, words) or _possessed(source, j, claim, i, words)


def _compound(pairing: Pairing, i: int, j: int) -> bool:
    """ "birch pollen" for "pollen of birch": the word stands before the head it stood behind, or back."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    to_claim = {m: k for k, m in pairing.partners.items()}
    if lead(source, j, words) in words.genitive:
        head = max((at for at in content_places(source) if at < j), default=None)
        behind = min((at for at in content_places(claim) if at > i), default=None)
        return head is not None and behind is not None and to_claim.get(head) == behind
    if lead(claim, i, words) in words.genitive:
        head = max((at for at in content_places(claim) if at < i), default=None)
        behind = min((at for at in content_places(source) if at > j), default=None)
        return head is not None and behind is not None and pairing.partners.get(head) == behind
    return False


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
    following = [token.word for token in one[at + 1 : at + 4]]
    role = lead(other, there, words)
    if any(word in words.light for word in following) and role in words.prepositions:
        return True
    return any(word in words.have for word in following) and role in (words.genitive | words.prepositions)


def lead(tokens: Sequence[Token], at: int, words: Lexicon) -> str:
    """The preposition or conjunction that begins the phrase a word stands in; '' for a bare phrase."""
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


def _same_head(pairing: Pairing, i: int, j: int) -> bool:
    """Whether two words behind "of" belong to partners."""
    heads = [k for k in content_places(pairing.claim) if k < i and pairing.claim[k].kind != "marker"]
    others = [k for k in content_places(pairing.source) if k < j and pairing.source[k].kind != "marker"]
    return bool(heads and others) and pairing.partners.get(heads[-1]) == others[-1]


def _of_number(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word stands in a phrase that begins with a number: "of the nine bridges"."""
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
    """The case particle behind the run of words a Japanese word stands in."""
    for after in tokens[at + 1 : at + 9]:
        if after.word in _PARTICLES and after.kind in ("function", "marker"):
            return _PARTICLES[after.word]
        if after.kind in ("break", "marker"):
            return ""
    return ""


def particles_exchanged(pairing: Pairing) -> tuple[int, int] | None:
    """Two Japanese words that have exchanged their case particles."""
    changed = [
        (i, _particle(pairing.claim, i), _particle(pairing.source, j))
        for i, j in pairing.ordered
        if pairing.claim[i].kind == "word"
    ]
    changed = [(i, one, other) for i, one, other in changed if one and other and one != other]
    for i, one, other in changed:
        for k, two, far in changed:
            if i < k and one == far and other == two:
                return i, k
    return None


def clause_lead(tokens: Sequence[Token], at: int) -> str:
    """The condition a word stands under: "if", "unless"; '' in a main clause."""
    for before in reversed(tokens[:at]):
        if before.clause != tokens[at].clause:
            return ""
        if before.marker and before.marker.category == "condition":
            return before.marker.value
    return ""


def _is_genitive(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    following = tokens[at + 1].word if at + 1 < len(tokens) else ""
    return (following in words.genitive and following.startswith("'")) or lead(
        tokens, at, words
    ) in words.genitive


def is_passive(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Whether a word is a participle behind an auxiliary, or before its agent ("approved by")."""
    token = tokens[at]
    if (
        token.kind != "word"
        or token.word.split()[0] in words.prepositions
        or any(pair in _GRADABLE for pair, _ in token.poles)
        or (words.language == "en" and token.word.endswith(_NO_PARTICIPLE))
    ):
        return False
    if _behind_auxiliary(tokens, at, words):
        return True
    if any(before.word in words.impersonal and before.clause == token.clause for before in tokens[:at]):
        return True
    by_whom = (
        at + 2 < len(tokens) and tokens[at + 1].word in words.agent and tokens[at + 2].kind != "quantity"
    )
    if by_whom and words.language == "en":
        clause = (place for place in range(at) if tokens[place].clause == token.clause)
        return not any(_behind_auxiliary(tokens, place, words) for place in clause)
    return words.language == "de" and any(
        after.word in words.passive for after in tokens[at + 1 : at + 3] if after.kind != "break"
    )


def _behind_auxiliary(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Whether a word stands behind "is" or "was", with no other word but an adverb between."""
    if tokens[at].kind != "word":
        return False
    if words.reflexive and (
        any(token.word in words.reflexive for token in tokens[max(0, at - 2) : at])
        or tokens[at].word.endswith(_WITH_PRONOUN)
    ):
        return True
    for place in range(at - 1, max(-1, at - 1 - _AUXILIARY_REACH), -1):
        before = tokens[place]
        if before.word in words.passive:
            return True
        if before.word in _DETERMINERS:  # "was the founder"
            return False
        if before.word in COORDINATORS and place and tokens[place - 1].part == tokens[at].part:
            return any(
                _behind_auxiliary(tokens, other, words)
                for other in range(place)
                if tokens[other].part == tokens[at].part
            )
        if before.kind in ("break", "quantity") or (before.kind == "word" and not before.word.endswith("ly")):
            return False
    return False


def voice_changes(pairing: Pairing) -> list[tuple[int, int]]:
    """Partners of which one is passive and the other active."""
    if not pairing.words.passive:
        return []
    return [
        (i, j)
        for i, j in pairing.ordered
        if is_passive(pairing.claim, i, pairing.words) != is_passive(pairing.source, j, pairing.words)
        and pairing.claim[i].kind == pairing.source[j].kind == "word"
        and (" " in pairing.claim[i].word) == (" " in pairing.source[j].word)
        and _has_agent(pairing, i, j)
    ]


def _has_agent(pairing: Pairing, i: int, j: int) -> bool:
    """Whether a role can have changed: an agent is named, or the word before the verb is another."""
    before_claim = [k for k, _ in pairing.ordered if k < i]
    return bool(before_claim)


def converse(pairing: Pairing, i: int, j: int) -> bool:
    """Whether "A sold it to B" is said as "B bought it from A"."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    pairs = {pair for pair, _ in claim[i].poles} & {pair for pair, _ in source[j].poles}
    if not pairs & {"trade", "giving"}:
        return False
    doers = [k for k in _subject(claim, i, words) if k in pairing.partners]
    givers = {m: k for k, m in pairing.ordered if m in _subject(source, j, words)}
    towards = words.starts | words.ends
    return bool(doers and givers) and all(
        [pairing.partners[k] > j and lead(source, pairing.partners[k], words) in towards for k in doers]
        + [k > i and lead(claim, k, words) in towards for k in givers.values()]
    )


def wrong_voices(pairing: Pairing, turned: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Verbs whose voice has changed while the words around them have not changed sides."""
    for i, j in turned:
        passive_is_claim = is_passive(pairing.claim, i, pairing.words)
        tokens = pairing.claim if passive_is_claim else pairing.source
        verb = i if passive_is_claim else j
        to_other = pairing.partners if passive_is_claim else {b: a for a, b in pairing.partners.items()}
        other_verb = j if passive_is_claim else i
        for at in _subject(tokens, verb, pairing.words):
            if at in to_other and to_other[at] < other_verb:
                yield i, (at if passive_is_claim else to_other[at])
        agent = _agent(tokens, verb, pairing.words)
        active = pairing.source if passive_is_claim else pairing.claim
        to_passive = {b: a for a, b in to_other.items()}
        doers = [to_passive[at] for at in _subject(active, other_verb, pairing.words) if at in to_passive]
        if agent and doers and not any(at in agent for at in doers):
            yield i, doers[0] if passive_is_claim else to_other[doers[0]]


def _agent(tokens: Sequence[Token], verb: int, words: Lexicon) -> range:
    """Places of the phrase behind "by" that names the doer of a passive verb; empty where none does."""
    for at in range(verb + 1, len(tokens)):
        if tokens[at].word in words.agent:
            end = at + 1
            if end < len(tokens) and tokens[end].kind == "quantity":
                break  # "rose by 5 %"
            while end < len(tokens) and tokens[end].kind != "break" and tokens[end].word not in COORDINATORS:
                end += 1
            return range(at + 1, end)
        if tokens[at].kind == "break":
            break
    return range(0)


def _subject(tokens: Sequence[Token], verb: int, words: Lexicon) -> list[int]:
    """Indexes of the bare words before a verb in its clause."""
    found = []
    for at in range(verb - 1, -1, -1):
        if tokens[at].kind == "break" or tokens[at].clause != tokens[verb].clause:
            break
        owner = tokens[at + 1].word in words.genitive
        if (
            tokens[at].kind == "word"
            and not owner
            and not _behind_auxiliary(tokens, at, words)
            and not lead(tokens, at, words)
            and not tokens[at].word.endswith("ly")
        ):
            found.append(at)
    return found


def _gives(pairing: Pairing) -> bool:
    """A passive verb of giving takes either object as its subject: "they were given it"."""
    return any(
        is_passive(pairing.claim, i, pairing.words) and is_passive(pairing.source, j, pairing.words)
        for i, j in pairing.ordered
        if any(pair == "giving" for pair, _ in pairing.claim[i].poles)
    )


def _verb_and_subject(pairing: Pairing, i: int, k: int, crossed: set[tuple[int, int]]) -> bool:
    """Whether two bare words side by side are exchanged alone: verb and subject behind an adverbial."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    j, m = pairing.partners[i], pairing.partners[k]
    if lead(claim, i, words) in words.genitive or lead(source, j, words) in words.genitive:
        return False
    between = [at for at in content_places(claim) if i < at < k and not _moves_along(claim[at])]
    others = [at for at in content_places(source) if m < at < j and not _moves_along(source[at])]
    return not between and not others and claim[i].kind == claim[k].kind == "word"


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


def operands_exchanged(pairing: Pairing) -> bool | None:
    """Whether the words behind "than" have changed sides; None where that cannot be told."""
    at = next((k for k, token in enumerate(pairing.claim) if token.word in pairing.words.than), None)
    there = next((k for k, token in enumerate(pairing.source) if token.word in pairing.words.than), None)
    if at is None or there is None:
        return None
    stems = [token.stem for token in pairing.source if token.kind == "word"]
    behind = [
        pairing.partners[k]
        for k in range(at + 1, len(pairing.claim))
        if k in pairing.partners and pairing.claim[k].kind in ("word", "quantity")
    ]
    telling = [j for j in behind if stems.count(pairing.source[j].stem) < 2] or behind[:1]
    if not telling:
        return None
    return telling[0] < there
