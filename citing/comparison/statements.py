"""Short statements entailed by a sentence: without insertions, each predicate, each apposition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from citing.comparison.conditions import with_exclusive_conditions
from citing.comparison.omissions import COMMA_RELATIVES
from citing.comparison.readings import without_final_break
from citing.comparison.token import (
    COORDINATORS,
    DENIALS,
    EITHER,
    HARD_BREAKS,
    Token,
    same,
)
from citing.comparison.tokens import in_clauses
from text.semantics import Lexicon

_COMMAS = frozenset(",、，،")
_MOST_REMNANT = 4  # tokens of a phrase that replaces one of the clause before
_OF_CHANGE = frozenset({"direction", "amount", "height", "size", "level"})

_APPOSITION_MARKS = _COMMAS | frozenset("()（）—–-")
_MOST_INSERTED = 12  # tokens of an apposition
_SCOPED = frozenset({"condition", "time", "cause"})  # markers that begin a clause
_KEPT = frozenset({"negation", "modality", "hedge"})  # markers that a second predicate inherits


def statements(
    claim: Sequence[Token], tokens: Sequence[Token], topic: Sequence[Token], words: Lexicon
) -> Iterator[list[Token]]:
    """Yield short statements entailed by a sentence that may equal the claim; none if it lacks a word of it.

    "Lund, a maker of pumps, sold its plant and was fined": "Lund is a maker of pumps", "Lund sold its
    plant", "Lund was fined". Each keeps its negations and modal verbs.
    """
    held = [token for token in (*tokens, *topic) if token.content]
    if not all(any(same(own, other) for other in held) for own in claim if own.content and not own.marker):
        return
    whole: list[Sequence[Token]] = [tokens, *_without_insertions(tokens, words)]
    for at, part in enumerate(whole):
        in_claim = [t.content and any(same(own, t) for own in claim if own.content) for t in part]
        found = [*_predicates(part, in_claim, claim, words), *_of_pronouns(part, in_claim, words)]
        if at == 0:
            found += _side_statements(part, in_claim, claim, words)
        else:
            found.insert(0, part)
        for statement in found:
            yield list(in_clauses(with_exclusive_conditions(list(statement), words), words))


def _without_insertions(tokens: Sequence[Token], words: Lexicon) -> Iterator[Sequence[Token]]:
    """Yield the sentence without each relative clause or apposition between commas, and without all."""
    left = list(tokens)
    for start, end in reversed(list(_inserted(tokens, words))):
        yield [*tokens[:start], *tokens[end:]]
        if start < len(left) and left[start] is tokens[start]:  # an overlapping range is removed already
            left = [*left[:start], *left[end:]]
            yield left


def _inserted(tokens: Sequence[Token], words: Lexicon) -> Iterator[tuple[int, int]]:
    """Yield ranges that can be removed, from their first break."""
    breaks = [at for at, t in enumerate(tokens) if t.kind == "break" and t.word in _APPOSITION_MARKS]
    for start, following in pairwise([*breaks, len(tokens)]):
        hard = next((k for k in range(start, len(tokens)) if tokens[k].word in HARD_BREAKS), len(tokens))
        end = min(following, hard)
        inner = tokens[start + 1 : end]
        if not inner:
            continue
        if _is_relative(inner, words) and words.language not in COMMA_RELATIVES:
            if end < hard:
                yield start, end + 1
            if not any(_opens_clause(t) for t in tokens[end:hard]):
                yield start, hard
        elif end < hard and end + 1 < len(tokens) and _is_apposition(inner, tokens[end + 1], words):
            yield start, end + 1
        elif end < hard and inner[0].word in COORDINATORS and tokens[end + 1].word not in COORDINATORS:
            yield start, end + 1  # "has not paid, and does not plan to pay, a dividend"


def _opens_clause(token: Token) -> bool:
    return token.marker is not None and token.marker.category in _SCOPED


def _of_number(tokens: Sequence[Token], token: Token) -> bool:
    """Return whether a word of time is beside its number: "within 14 days of the order"."""
    at = tokens.index(token)
    near = tokens[max(0, at - 1) : at + 2]
    return token.marker is not None and token.marker.category == "time" and any(t.quantity for t in near)


def _is_relative(inner: Sequence[Token], words: Lexicon) -> bool:
    return any(token.word in words.relatives for token in inner[: 1 + (inner[0].word in words.prepositions)])


def _is_apposition(inner: Sequence[Token], behind: Token, words: Lexicon) -> bool:
    """Return whether words between commas are a noun with its article, not part of a list."""
    verbs = words.have | words.passive | words.copula | words.relatives
    plain = all(not token.marker and token.word not in verbs for token in inner)
    opens = inner[0].word in words.articles and len(inner) <= _MOST_INSERTED
    return plain and opens and behind.word not in COORDINATORS


def _predicates(
    tokens: Sequence[Token], in_claim: Sequence[bool], claim: Sequence[Token], words: Lexicon
) -> Iterator[Sequence[Token]]:
    """Yield the subject of a clause with each of the predicates joined by "and"."""
    first = 0
    for at, token in enumerate(tokens):
        turn = token.word in words.breaks and at + 1 < len(tokens) and _opens_predicate(tokens[at + 1], words)
        if token.word in HARD_BREAKS or (token.word in words.breaks and not turn):
            first = at + 1
        comma = token.kind == "break" and token.word in _COMMAS
        if not (comma or turn or token.word in COORDINATORS - EITHER):
            continue  # "shall not assign, but may sublet" continues its subject
        right = list(takewhile(lambda t: t.word not in HARD_BREAKS | words.breaks, tokens[at + 1 :]))
        verb = next((k for k, t in enumerate(right) if t.kind in ("word", "quantity", "break")), len(right))
        end = _subject_end(tokens, in_claim, words, first, at)
        if end is None or verb == len(right) or right[verb].kind != "word":
            continue
        opening = right[:1] if comma else right[:verb]
        if any(_opens_clause(t) or t.word in words.relatives | words.complement for t in right[:verb]):
            continue
        named = (
            end < at
            and tokens[end].word in words.copula
            and tokens[end + 1].word.split()[0] in words.articles
        )
        if comma and (
            _is_participle(right[0], claim, words) or (named and _is_past_participle(right, claim, words))
        ):
            yield [*tokens[first:end], *right]
            continue
        is_predicate = any(_opens_predicate(token, words) for token in opening)
        listed = not comma or any(t.word in COORDINATORS - EITHER for t in right[verb:])
        if not is_predicate and not (listed and _is_verb(right[verb], tokens[first:end], claim, words)):
            continue
        dropped = tokens[end:at]
        if is_predicate or not any(_opens_clause(t) for t in right):
            yield without_final_break(tokens[first:at])
        depends = any(t.word in words.relatives | words.complement for t in dropped)
        depends = depends or any(_opens_clause(t) and not _of_number(dropped, t) for t in dropped)
        if in_claim[at + 1 + verb] and not depends and (is_predicate or not _infinitive(dropped, words)):
            yield [*tokens[first:end], *_carried(dropped, right[:verb], words), *right]


def _subject_end(
    tokens: Sequence[Token], in_claim: Sequence[bool], words: Lexicon, first: int, last: int
) -> int | None:
    """Return the end of the opening subject as far as the claim has it; None where it has not.

    The claim may omit an adverbial before it: one word ("In addition"), or one before a comma.
    """
    verbs = words.have | words.passive | words.copula
    opening = takewhile(
        lambda at: tokens[at].kind != "marker" and tokens[at].word not in verbs, range(first, last)
    )
    places = [at for at in opening if tokens[at].content]
    leading = list(takewhile(lambda at: not in_claim[at], places))
    run = list(takewhile(lambda at: in_claim[at], places[len(leading) :]))
    if not run:
        return None
    adverbial = tokens[first].word in words.prepositions or tokens[first].marker is not None
    own = [
        at
        for at in leading[adverbial:]
        if not tokens[at].quantity and all(t.kind != "break" for t in tokens[at : run[0]])
    ]
    return None if own else run[-1] + 1


def _opens_predicate(token: Token, words: Lexicon) -> bool:
    """Return whether a word begins a predicate whatever follows it: "was", "may", "not"."""
    closed = words.have | words.passive | words.copula
    return token.word in closed or (token.marker is not None and token.marker.category in _KEPT)


def _is_participle(token: Token, claim: Sequence[Token], words: Lexicon) -> bool:
    """Return whether a word is an active participle that the claim has as verb: ", occurring in 18"."""
    ends = any(token.word.endswith(ending) for ending in words.participle)
    return ends and any(same(own, token) for own in claim if own.content)


def _is_past_participle(tokens: Sequence[Token], claim: Sequence[Token], words: Lexicon) -> bool:
    """Return whether words are a passive participle of the subject: "was the first, followed by others"."""
    joined = len(tokens) > 1 and tokens[1].word in words.prepositions | words.agent
    verb = tokens[0]
    return (
        joined
        and verb.kind == "word"
        and not verb.capital
        and any(same(own, verb) for own in claim if own.content)
    )


def _is_verb(token: Token, subject: Sequence[Token], claim: Sequence[Token], words: Lexicon) -> bool:
    """Return whether a word is the verb of the claim, in this form, after a subject without a verb."""
    content = [t for t in subject if t.content]
    plain = len(content) == 1 or all(t.capital for t in content[1:])
    at = next((k for k, own in enumerate(claim) if own.word == token.word), 0)
    bare = at > 0 and claim[at - 1].word not in words.articles | words.prepositions | COORDINATORS
    return plain and bare and not token.capital


def _infinitive(tokens: Sequence[Token], words: Lexicon) -> bool:
    """Return whether the words contain a "to" infinitive that another verb after "and" may depend on."""
    return any(
        one.word in words.ends and other.kind == "word" and not other.capital
        for one, other in pairwise(tokens)
    )


def _carried(dropped: Sequence[Token], opening: Sequence[Token], words: Lexicon) -> list[Token]:
    """Return what the second predicate inherits from the first: "was", "may", "reportedly".

    ``opening``: the small words before the second verb.
    """
    duties = any(t.marker is not None and t.marker.category == "modality" for t in opening)
    finite = duties or any(t.word in words.copula for t in opening)
    finite = finite or (len(opening) > 1 and any(t.marker in DENIALS for t in opening[1:]))  # "did not"
    lent = {"hedge"} if finite else _KEPT
    own = any(t.word in words.have | words.passive for t in opening)
    return [
        token
        for token in dropped
        if (token.marker is not None and token.marker.category in lent)
        or (not finite and not own and token.word in words.have | words.passive)
    ]


def _of_pronouns(
    tokens: Sequence[Token], in_claim: Sequence[bool], words: Lexicon
) -> Iterator[Sequence[Token]]:
    """Yield a later clause with the opening subject of the sentence in place of "it"."""
    for at in range(1, len(tokens) - 1):
        verb = tokens[at + 1].word in words.have | words.passive | words.copula
        pronoun = tokens[at].word in (
            words.pronouns | words.articles if verb else words.pronouns - words.articles
        )
        opens = tokens[at - 1].kind == "break" or tokens[at - 1].word in COORDINATORS - EITHER
        end = _subject_end(tokens, in_claim, words, 0, at) if pronoun and opens else None
        if end is not None and tokens[0].word not in words.prepositions:  # no subject: "for Democrats, it"
            behind = takewhile(lambda t: t.word not in HARD_BREAKS, tokens[at + 1 :])
            yield [*tokens[:end], *behind]


def _side_statements(
    tokens: Sequence[Token], in_claim: Sequence[bool], claim: Sequence[Token], words: Lexicon
) -> Iterator[Sequence[Token]]:
    """Yield relative clauses and appositions as statements about the word before them."""
    equates = any(token.word in words.copula for token in claim)  # "Lund is a poet"
    breaks = [at for at, t in enumerate(tokens) if t.kind == "break" and t.word in _APPOSITION_MARKS]
    for start, end in pairwise([*breaks, len(tokens)]):
        inner = tokens[start + 1 : end]
        antecedent = _antecedent(tokens[:start], in_claim, words)
        if not inner or not antecedent:
            continue
        relative = inner[0].word in words.relatives
        if any(t.word in words.of_which for t in inner[:2]) and any(t.quantity for t in inner[1:3]):
            continue  # "of whom 12 were minors" does not mean that all were
        behind = tokens[end + 1 : end + 2]
        listed = bool(behind) and behind[0].word in COORDINATORS
        if not relative and (listed or not equates or not _is_noun_phrase_of(inner, words)):
            continue
        own = [at for at in range(start + 1, end) if tokens[at].content]
        last = max((at for at in own if in_claim[at]), default=None)
        if last is not None and all(in_claim[at] for at in own if at <= last):
            yield [*antecedent, *(inner[1:] if relative else inner)]


def _is_noun_phrase_of(inner: Sequence[Token], words: Lexicon) -> bool:
    """Return whether words may be a noun phrase: no known verb, no negation or modal verb."""
    verbs = words.have | words.passive | words.copula | words.pronouns
    return inner[0].word not in words.prepositions and all(
        t.word not in verbs and not t.marker for t in inner
    )


def _antecedent(tokens: Sequence[Token], in_claim: Sequence[bool], words: Lexicon) -> Sequence[Token]:
    """Return the final noun of the words that the claim has whole; () where there is none."""
    small = words.articles | words.genitive | {"."}
    end = list(takewhile(lambda t: t.kind == "word" or t.word in small, reversed(tokens)))
    places = [at for at in range(len(tokens) - len(end), len(tokens)) if tokens[at].content]
    run = list(takewhile(lambda at: in_claim[at], reversed(places)))
    if not run or run[0] + 1 < len(tokens):
        return ()
    before = tokens[run[-1] - 1] if run[-1] else None
    named = tokens[run[-1]].name and not (before and before.name)
    return tokens[run[-1] :] if named or before is None or not before.content else ()
