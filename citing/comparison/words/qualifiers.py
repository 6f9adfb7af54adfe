"""Qualifiers whose omission changes the meaning: "critics of the law", "former", "used to"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from citing.comparison.words.alignment import Pairing, content_places
from citing.comparison.words.phrases import (
    change_role,
    clause_lead,
    is_genitive,
    lead,
    places_of_phrases,
)
from citing.comparison.words.token import COORDINATORS, DENIALS, EITHER, Token, is_marker
from text.languages import UNSPACED_LANGUAGES
from text.semantics import Lexicon

_LONGEST_PHRASE = 4  # tokens from a preposition to its noun


def qualifiers_left_out(pairing: Pairing) -> Iterator[int]:
    """Yield the places of source words whose omission changes or inverts the meaning of the claim.

    Each rule below yields such places for one construction. A claim that omits one of them is not verified.
    """
    words = pairing.words
    together = frozenset[str]() if words.language in UNSPACED_LANGUAGES else words.together - words.total
    for phrases in (words.bygone, words.urging, words.unrealised, together):
        if phrases and not places_of_phrases(pairing.claim, phrases):
            found = sorted(places_of_phrases(pairing.source, phrases) - pairing.matched_source)
            near = {at for clause in pairing.clauses for at in (clause - 1, clause, clause + 1)}
            clauses = near if phrases is words.unrealised else pairing.clauses
            yield from (at for at in found if pairing.source[at].clause in clauses)
    if words.copula & {t.word for t in pairing.claim} and not words.future & {t.word for t in pairing.claim}:
        yield from (at for at, _ in enumerate(pairing.source) if _will_be(pairing, at))
    yield from _turned_condition(pairing)
    yield from _of_other_statement(pairing)
    yield from _turned_range(pairing)
    yield from _of_other_frame(pairing)
    yield from _of_other_subject(pairing)
    yield from _of_other_number(pairing)
    yield from _turned_relative(pairing)
    for i, j in pairing.ordered:
        kinds = {pairing.claim[i].kind, pairing.source[j].kind}
        for qualifier in _OF_NUMBERS if kinds == {"quantity"} else _OF_WORDS if kinds == {"word"} else ():
            yield from (at for at in qualifier(pairing, i, j) if at not in pairing.matched_source)
        if is_marker(pairing.claim[i], "quantifier") and is_marker(pairing.source[j], "quantifier"):
            yield from _other_whole(pairing, i, j)


def _of_other_statement(pairing: Pairing) -> Iterator[int]:
    """Yield markers of a later statement: "may close it while …" for "may close it; must not while …"."""
    source = pairing.source
    clauses = {source[at].clause for at in pairing.matched_source}
    for clause in {c - 1 for c in clauses} - clauses:
        own = [at for at, token in enumerate(source) if token.clause == clause and token.content]
        duty = any(is_marker(source[at], "modality") for at in own)
        if duty and all(source[at].kind == "marker" for at in own):
            yield from (at for at in own if source[at].marker in DENIALS)


def _turned_condition(pairing: Pairing) -> Iterator[int]:
    """Yield an exchanged condition: "A dies if the lease ends" for "the lease ends if A dies"."""
    claim, source = pairing.claim, pairing.source
    sides = [
        (bool(clause_lead(claim, i)), bool(clause_lead(source, j)))
        for i, j in pairing.ordered
        if claim[i].kind == source[j].kind == "word"
    ]
    if (True, False) in sides and (False, True) in sides:
        yield next(at for at, token in enumerate(source) if is_marker(token, "condition"))


def _turned_relative(pairing: Pairing) -> Iterator[int]:
    """Yield an exchanged relative clause: "those who get it pay" for "those who pay get it"."""
    verbs = []
    for tokens in (pairing.claim, pairing.source):
        opens = next((at for at in range(1, len(tokens)) if _opens_relative(tokens, at, pairing.words)), None)
        if opens is None:
            return
        verbs.append(next((at for at in range(opens, len(tokens)) if tokens[at].content), -1))
    claim_verb, source_verb = verbs
    if source_verb in pairing.matched_source and pairing.partners.get(claim_verb, source_verb) != source_verb:
        yield source_verb


def _will_be(pairing: Pairing, at: int) -> bool:
    """Return whether an omitted "will" precedes "be": "is 90 m tall" for "will be 90 m tall".

    Of what happens whenever a condition holds, both tenses say the same: "is reduced if it is cold".
    """
    source, words = pairing.source, pairing.words
    if any(is_marker(token, "condition") for token in source):
        return False
    behind = source[at + 1].word if at + 1 < len(source) else ""
    return (
        source[at].word in words.future and behind in words.passive and source[at].clause in pairing.clauses
    )


def _changed_amount(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """Yield words that make a number relative: "LIBOR plus 2 %", "40,000 more", "$3 million below target"."""
    source, words = pairing.source, pairing.words
    yield from (at for at in (j - 1, j - 2) if at >= 0 and source[at].word in words.plus)
    than = next((at for at in range(j + 1, min(j + 4, len(source))) if source[at].word in words.than), None)
    if than and words.language in _MORE_BEHIND and source[than - 1].word in words.plus:
        yield than
    behind = source[j + 1 : j + 3]
    if words.language == "zh":
        yield from _standard_of_number(pairing, j)
    if len(behind) == 2 and behind[0].word in words.away:  # "3 Mio. Euro unter dem Ziel"
        yield j + 1
    if len(behind) < 2 or behind[0].kind != "word":
        return
    compared = behind[1].word in words.than or behind[0].word.split()[-1] in words.than
    if (
        compared
        or any(pair == "position" for pair, _ in behind[0].poles)
        or " ".join(token.word for token in behind) in words.away
    ):
        yield j + 1


def _standard_of_number(pairing: Pairing, j: int) -> Iterator[int]:
    """Yield the standard of a comparison whose difference is the number: 比教堂高20米."""
    than, source = pairing.words.than, pairing.source
    if not any(token.word in than for token in pairing.claim):
        yield from (
            at for at in range(j) if source[at].word in than and source[at].clause == source[j].clause
        )


_MORE_BEHIND = frozenset({"fr", "es", "it", "pt"})  # "20 m de plus que"


def _other_whole(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """Yield another whole: "12 % of women are unemployed" for "women are 12 % of the unemployed"."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    if claim[i].quantity:
        links = words.among | words.genitive
        joined = [tokens[at + 1].word for tokens, at in ((claim, i), (source, j)) if at + 1 < len(tokens)]
        if len(joined) < 2 or not set(joined) <= links:
            return
    whole = next((at for at in range(j + 1, len(source)) if source[at].content), None)
    next_word = next((at for at in range(i + 1, len(claim)) if claim[at].content), None)
    other = pairing.partners.get(next_word, -1) if next_word is not None else -1
    if whole is None or other in (-1, whole) or whole not in pairing.matched_source:
        return
    verbs = words.passive | words.copula | words.have
    parted = other < j or any(token.word in verbs for token in source[whole:other]) or words.language == "zh"
    if parted and not is_genitive(source, other, words):
        yield j + 1


def _of_each(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """Yield an omitted "each": "the sites got $2 million" for "each of the sites got $2 million"."""
    claim, source, each = pairing.claim, pairing.source, pairing.words.each
    counted = any(token.quantity and token.quantity.bare for k, token in enumerate(claim) if k != i)
    amount = source[j].quantity
    if counted and amount and not amount.bare and not any(token.word in each for token in claim):
        yield from (
            at for at, token in enumerate(source) if token.word in each and token.clause == source[j].clause
        )


def _taller(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """Yield a comparative that the claim has without comparison: "20 m tall" for "20 m taller"."""
    claim, source, than = pairing.claim, pairing.source, pairing.words.than
    compared = any(token.word in than for token in source[j + 1 : j + 2])
    if compared and source[j].word != claim[i].word and not any(token.word in than for token in claim):
        yield j + 1


def _privative(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """Yield an adjective that negates its noun: "the president" for "the former president"."""
    words = pairing.words
    near = (j - 1, j + 1) if words.language in _ADJECTIVES_BEHIND else (j - 1,)
    yield from (
        at for at in near if 0 <= at < len(pairing.source) and pairing.source[at].word in words.privative
    )


def _verb_of_noun(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """Yield the verb of a noun that the claim has as verb: "it was banned" for "the ban was lifted"."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    adverb = _behind_auxiliary(source, j - 1, words)  # "was badly damaged"
    if _behind_auxiliary(claim, i, words) and not (_behind_auxiliary(source, j, words) or adverb):
        clause = (at for at, token in enumerate(source) if token.clause == source[j].clause)
        yield from (at for at in clause if _behind_auxiliary(source, at, words))


def _object(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """Yield a Japanese object that the claim has as subject: 銀行が for 銀行を訴えた男が."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    if words.language != "ja" or (lead(claim, i, words), lead(source, j, words)) != ("subject", "object"):
        return
    verb = next((at for at in range(j + 1, len(source)) if source[at].content and at > j + 1), None)
    if verb is not None:
        yield verb


def _owner(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """Yield the owned noun of which the claim has only the owner: "the law" for "critics of the law"."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    head = _owner_of(pairing, i, j)
    if head < 0 or not _names(source[head], source[j], words):
        return
    role, owns = lead(claim, i, words), is_genitive(claim, i, words)
    if not owns and (role in ("", "subject", "object") or role == lead(source, head, words)):
        yield head


def _compound(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """Yield the head of an English compound: "customers rose" for "customer complaints rose"."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    verb = next((at for at in range(i + 1, len(claim)) if claim[at].content), None)
    if words.language != "en" or verb is None or claim[verb].kind != "word" or j + 1 >= len(source):
        return
    head, to_verb = source[j + 1], pairing.partners.get(verb, -1)
    poles = {pair for pair, _ in head.poles} - {"direction", "money"}  # "losses", and not "later"
    if head.kind != "word" or poles or head.word.endswith("ly") or head.word in words.transparent:
        return
    between = [*claim[i + 1 : verb], *source[j + 2 : max(to_verb, j + 2)]]
    if to_verb > j + 1 and all(token.word in words.passive | words.have for token in between):
        yield j + 1


def _gerund(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """Yield the verb before a gerund: "made" for "stopped making", "built" for "is building"."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    endings = tuple(words.participle)
    if j < 1 or not endings or not source[j].word.endswith(endings) or claim[i].word.endswith(endings):
        return
    base = source[j].word.removesuffix(next(iter(endings)))
    present = claim[i].word.removesuffix("s") in (base, base + "e", base[:-1])
    before = claim[i - 1].word if i else ""
    if source[j - 1].kind == "word" or (
        source[j - 1].word in words.copula and not present and before not in words.prepositions
    ):
        yield j - 1


def _alternative(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """Yield an omitted alternative that must: "A must" for "A or B must"; not after "may" or "not"."""
    source, words = pairing.source, pairing.words
    if any(is_marker(token, "modality", "may") or token.marker in DENIALS for token in source):
        return
    for step in (1, -1):
        at = j + step
        while 0 <= at < len(source) and source[at].word in words.articles:
            at += step
        if not 0 <= at < len(source) or source[at].word not in EITHER:
            continue
        at += step
        while 0 <= at < len(source) and source[at].word in words.articles:
            at += step
        if 0 <= at < len(source) and source[at].kind == "word":
            yield at


def _relative(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """Yield the antecedent: "the bank was arrested" for "the man who sued the bank was arrested"."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    opens = next((at for at in range(j - 1, 0, -1) if _opens_relative(source, at, words)), None)
    if opens is None or (
        words.language in _NO_COMMA and any(token.word in words.relatives for token in claim)
    ):
        return
    verb = next((at for at in range(i + 1, len(claim)) if claim[at].content), None)
    to_verb = pairing.partners.get(verb, -1) if verb is not None else -1
    if to_verb <= j or not _behind_auxiliary(source, to_verb, words):
        return
    breaks = sum(token.kind == "break" for token in source[opens + 1 : to_verb])
    has_verb = any(
        at not in pairing.matched_source and source[at].kind == "word" for at in range(opens, to_verb)
    )
    if has_verb and breaks == (words.language not in _NO_COMMA):
        yield opens - 1 if words.language in _NO_COMMA else opens - 2


_NO_COMMA = frozenset({"en", "fr", "es", "it", "pt", "nl"})  # before a restrictive relative clause


def _opens_relative(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    relatives = words.relatives | words.complement if words.language == "en" else words.relatives
    opens = tokens[at - 1].kind == "word" if words.language in _NO_COMMA else tokens[at - 1].kind == "break"
    return tokens[at].word in relatives - words.than and opens


Qualifier = Callable[[Pairing, int, int], Iterator[int]]
_OF_NUMBERS: tuple[Qualifier, ...] = (_changed_amount, _of_each, _other_whole)
_OF_WORDS: tuple[Qualifier, ...] = (
    _privative, _verb_of_noun, _object, _owner, _compound, _gerund, _alternative, _relative, _taller,
)  # fmt: skip


def _behind_auxiliary(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    return at > 0 and tokens[at - 1].word in words.passive and tokens[at].kind == "word"


_ADJECTIVES_BEHIND = frozenset({"fr", "es", "it", "pt", "ar"})


def _owner_of(pairing: Pairing, i: int, j: int) -> int:
    """Return the owner of a word's phrase: before its preposition or after its genitive; -1 without one."""
    tokens, words, matched = pairing.source, pairing.words, pairing.matched_source
    following = tokens[j + 1 : j + 3]
    if len(following) == 2 and following[0].word in _POSSESSIVE:
        return j + 2
    if words.language == "ru" and pairing.claim[i].word != tokens[j].word:  # in another case
        return j - 1
    if words.language == "ar" and tokens[j].word.startswith(_THE) and not tokens[j - 1].word.startswith(_THE):
        opens = j < 2 or tokens[j - 2].kind in ("break", "function")  # a verb, before its subject
        return -1 if opens else j - 1  # "the widow of the painter"
    linking = words.prepositions - (words.than - words.genitive)
    for place in range(j - 1, max(-1, j - 1 - _LONGEST_PHRASE), -1):
        token = tokens[place]
        if token.word in COORDINATORS | words.breaks or (token.content and place not in matched):
            return -1
        if token.word in linking and token.kind == "function":
            return place - 1
        if words.language == "de" and token.word in ("des", "der") and place and tokens[place - 1].capital:
            return place - 1
        if token.kind in ("break", "marker", "quantity"):
            return -1
    return -1


_POSSESSIVE = frozenset({"'s", "的", "の"})
_THE = "ال"


def _names(token: Token, of: Token, words: Lexicon) -> bool:
    """Return whether a word names a thing of its own: not "had", "group", or the "city" of a name."""
    light = words.light | words.transparent | words.group
    light |= frozenset[str]() if words.language in UNSPACED_LANGUAGES else words.counted
    stands_for = token.word in words.generic and (of.name or words.language == "de")
    return token.kind == "word" and token.word not in light and not stands_for and not token.quantity


# Words of another thing: a claim that mixes two statements of the page.


def _turned_range(pairing: Pairing) -> Iterator[int]:
    """Yield the end of a turned range: "between 31 August and 1 May" for "between 1 May and 31 August"."""
    for (i, j), (k, m) in pairwise(pairing.ordered):
        near = (
            i and k - i <= 2 and abs(j - m) <= 2 and pairing.claim[i].quantity and pairing.claim[k].quantity
        )
        if near and m < j and pairing.claim[i - 1].word in pairing.words.between:
            yield m


def _of_other_number(pairing: Pairing) -> Iterator[int]:
    """Yield the nearer number of a phrase: "9 rpm with R 4" for "9 rpm with R 12 and 5 rpm with R 4"."""
    source, words = pairing.source, pairing.words
    held_by = (q.dimension for j in pairing.matched_source if (q := source[j].quantity))
    measures = set(held_by) - {"", "year", "date"}
    for _, j in pairing.ordered:
        role = lead(source, j, words)
        if source[j].kind == "marker" or not role or role in words.genitive or not measures:
            continue
        for at in range(j - 1, -1, -1):
            held = source[at].quantity
            if source[at].kind == "break" or source[at].word in COORDINATORS:
                break
            if held and held.dimension in measures:
                if at not in pairing.matched_source and change_role(source, at, words) == "":
                    yield at
                break


def _of_other_frame(pairing: Pairing) -> Iterator[int]:
    """Yield a replaced opening phrase: "in France, it was 12" for "in A, it was 12; in France, it was 15".

    The claim has the prepositional phrase of one statement with the words of another.
    """
    source, words = pairing.source, pairing.words
    roles = {j: lead(source, j, words) for _, j in pairing.ordered}
    bare = [source[j].clause for j, role in roles.items() if not role]
    main = max(set(bare), key=bare.count, default=None)
    if main is None:
        return
    first = min(j for j, role in roles.items() if source[j].clause == main and not role)
    for i, j in pairing.ordered:
        own = source[j].clause
        framed = roles[j] and roles[j] not in words.genitive and lead(pairing.claim, i, words) == roles[j]
        if own == main or not framed:
            continue
        rest = [at for at in content_places(source) if at > j and source[at].clause in (own, own + 1)]
        near = [k for k in roles if source[k].clause == own and k != j and roles[k] != roles[j]]
        if not rest or near or any(at in roles and roles[at] != roles[j] for at in rest):
            continue
        if all(at in roles for at in rest):
            continue
        yield from (
            at
            for at in pairing.unmatched_source
            if at < first and source[at].clause in (main, main - 1) and lead(source, at, words)
        )


def _of_other_subject(pairing: Pairing) -> Iterator[int]:
    """Yield the subject of a second clause that the claim replaces: 总磷先升 for 总磷…，氨氮则先升."""
    claim, source = pairing.claim, pairing.source
    for (i, j), (k, m) in pairwise(pairing.ordered):
        if (
            pairing.words.language != "zh"
            or source[m].clause <= source[j].clause
            or claim[i].clause != claim[k].clause
        ):
            continue
        opening = [at for at in content_places(source) if at < m and source[at].clause == source[m].clause]
        if len(opening) > 1 and all(source[at].kind == "word" for at in opening):
            yield from (at for at in opening if at not in pairing.matched_source)
