"""Grammatical voice: agent and object of a verb that is passive on one side; instructions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citing.comparison.words.alignment import Pairing
from citing.comparison.words.phrases import lead
from citing.comparison.words.token import COORDINATORS, Token, is_marker
from text.semantics import Lexicon

_GRADABLE = frozenset(["level", "length", "speed", "width", "age", "strength", "quality"])  # no participles
_WITH_PRONOUN = ("arse", "erse", "irse")
_NO_PARTICIPLE = ("ing", "ly", "ant", "ent", "al", "ive", "ous", "ic", "ble", "ful", "s")
_PARTICIPLES = frozenset({"sent", "spent", "lent", "bent", "meant"})
_AUXILIARY_REACH = 4  # tokens between an auxiliary and its participle


def is_passive(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Return whether a word is a participle after an auxiliary, or before its agent ("approved by")."""
    token = tokens[at]
    if (
        token.kind != "word"
        or token.word.split()[0] in words.prepositions
        or ({pair for pair, _ in token.poles} & _GRADABLE and ("direction", 1) not in token.poles)
        or (words.language == "en" and _is_no_participle(tokens, at, words))
        or (words.language != "en" and token.word.endswith(_MAY_BE_DONE))
    ):
        return False
    if _behind_auxiliary(tokens, at, words):
        return True
    if at and tokens[at - 1].word in _TO_BE_DONE and tokens[at - 1].marker:
        return True
    dated = at + 2 < len(tokens) and tokens[at + 1].word in words.timely and tokens[at + 2].quantity
    by = at + (3 if dated else 1)  # "found in 1974 by a diver"
    by_whom = by + 1 < len(tokens) and tokens[by].word in words.agent and tokens[by + 1].kind != "quantity"
    if by_whom and any(pair == "direction" for pair, _ in token.poles):
        return False  # "rose by a mean of 5 %"
    ending = _PARTICIPLE_ENDS.get(words.language)
    if by_whom and (words.language == "en" or (ending and ending.search(token.word))):
        clause = (place for place in range(at) if tokens[place].clause == token.clause)
        return not any(_behind_auxiliary(tokens, place, words) for place in clause)
    return words.language in _VERB_LAST and (
        any(after.word in words.passive for after in tokens[at + 1 : at + 3] if after.kind != "break")
        or _ends_passive_clause(tokens, at, words)
    )


def _is_no_participle(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Return whether an English word has an ending that participles never have; not so "payable by"."""
    token = tokens[at]
    agent = at + 1 < len(tokens) and tokens[at + 1].word in words.agent
    if not token.word.endswith(_NO_PARTICIPLE) or token.word in _PARTICIPLES:
        return False
    return not (agent and token.word.endswith(("able", "ible")))


def may_be_participle(token: Token, words: Lexicon) -> bool:
    """Return whether a word has the ending of a participle; in German, it has no capital."""
    if words.language in _VERB_LAST:
        return not token.capital
    ending = _PARTICIPLE_ENDS.get(words.language)
    return bool(ending and ending.search(token.word))


_PARTICIPLE_ENDS = {  # "propuesta por", "conçue par"
    "en": re.compile(r"ed$"),
    "es": re.compile(r"(?:[aií]d|[eu]st|[eu]rt|ch|rit|[uo]elt)[oa]s?$"),
    "pt": re.compile(r"(?:[aií]d|[eo]st|[eu]rt|rit|ist|it)[oa]s?$"),
    "fr": re.compile(r"(?:é|[iu]|[ieu]t|is|nt)e?s?$"),
    "it": re.compile(r"(?:[aiu]|[srtn])t[oaie]$"),
}
_VERB_LAST = frozenset({"de", "nl"})
_MAY_BE_DONE = ("able", "ible", "ables", "ibles", "abile", "ibile", "abili", "ibili", "ável", "ível")
_TO_BE_DONE = frozenset({"zu", "te"})  # "ist zu wechseln"; conditions.with_duties marks it


def _ends_passive_clause(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Return whether a participle ends the clause of an auxiliary: "wird vom Käufer getragen"."""
    own = [other for other in tokens if other.clause == tokens[at].clause and other.kind != "break"]
    last = [other for other in own if other.content][-1:] == [tokens[at]]
    return (
        last
        and tokens[at].word.endswith(("t", "n", "d"))
        and any(other.word in words.passive for other in own)
    )


def _behind_auxiliary(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Return whether a word follows "is" or "was", with at most an adverb between."""
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
        if before.word in words.articles:  # "was the founder"
            return False
        if before.word in COORDINATORS:
            return any(
                _behind_auxiliary(tokens, other, words)
                for other in range(place)
                if tokens[other].clause == before.clause
            )
        if before.kind in ("break", "quantity") or (before.kind == "word" and not before.word.endswith("ly")):
            return False
    return False


def voice_changes(pairing: Pairing) -> list[tuple[int, int]]:
    """Return the verbs that are passive on one side and active on the other."""
    if not pairing.words.passive:
        return []
    return [
        (i, j)
        for i, j in pairing.ordered
        if is_passive(pairing.claim, i, pairing.words) != is_passive(pairing.source, j, pairing.words)
        and pairing.claim[i].kind == pairing.source[j].kind == "word"
        and any(k < i for k in pairing.partners)
        and not any(token.word.endswith("ly") for token in (pairing.claim[i], pairing.source[j]))
        and not is_noun(pairing.claim, i, pairing.words)
        and not is_noun(pairing.source, j, pairing.words)
    ]


def is_noun(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Return whether an article, a preposition, a genitive or a German capital marks a word as a noun."""
    if words.language == "de" and tokens[at].capital:
        return True
    before = tokens[at - 1] if at else None
    if before is not None and before.word in (words.articles | words.prepositions) - words.have:
        return True
    owns = at + 1 < len(tokens) and tokens[at + 1].word in words.genitive
    return owns and words.language != "de" and not _behind_auxiliary(tokens, at, words)


def is_instruction(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Return whether a word opens its clause as an imperative does, after at most "not" and "and"."""
    clause = [t for t in tokens[:at] if t.clause == tokens[at].clause and t.kind != "break"]
    behind = tokens[at + 1].word if at + 1 < len(tokens) else ""
    if tokens[at].capital or behind in words.passive | words.have | words.copula:  # "weld was used"
        return False
    if (
        words.language == "en"
        and tokens[at].word.endswith(("ing", "ed", "s"))
        and not tokens[at].word.endswith("ss")
    ):
        return False
    return all(is_marker(t, "negation") or t.word in words.opens_instruction for t in clause)


def wrong_voices(pairing: Pairing, turned: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield verbs whose voice changed, each with a subject or object that stayed in place."""
    for i, j in turned:
        passive_is_claim = is_passive(pairing.claim, i, pairing.words)
        tokens = pairing.claim if passive_is_claim else pairing.source
        verb = i if passive_is_claim else j
        to_other = pairing.partners if passive_is_claim else {b: a for a, b in pairing.partners.items()}
        other_verb = j if passive_is_claim else i
        agent = agent_of(tokens, verb, pairing.words)
        active = pairing.source if passive_is_claim else pairing.claim
        doing = _subject(active, other_verb, pairing.words)
        if passive_is_claim and (wrong := _of_nearer_noun(pairing, i, j)) is not None:
            yield i, wrong
        for at in _subject(tokens, verb, pairing.words):
            if to_other.get(at) in doing and _has_object(active, other_verb, to_other[at], pairing.words):
                yield i, (at if passive_is_claim else to_other[at])
        to_passive = {b: a for a, b in to_other.items()}
        doers = [to_passive[at] for at in doing if at in to_passive]
        named = [to_other[at] for at in agent if at in to_other]
        if named and doing and not doers and all(active[at].part != active[other_verb].part for at in named):
            yield i, next(k for k, m in pairing.ordered if named[0] in (k, m))
        other_role = (
            agent
            or _are_no_agents(tokens, doers, pairing.words)
            or _act_in_other_verb(tokens, doers, verb, pairing.words)
        )
        if doers and not any(at in agent for at in doers) and other_role:
            yield i, doers[0] if passive_is_claim else to_other[doers[0]]


def _of_nearer_noun(pairing: Pairing, i: int, j: int) -> int | None:
    """Return the claim's subject of a verb that has a nearer noun in the source: "sold Zeta, founded in"."""
    source = pairing.source
    before = [at for at in range(j) if source[at].kind == "word"]
    subject = next((k for k in _subject(pairing.claim, i, pairing.words) if k in pairing.partners), None)
    if subject is None or not before or source[j - 1].kind != "break" or before[-1] in pairing.matched_source:
        return None
    equated = any(token.word in pairing.words.copula for token in source[pairing.partners[subject] : j])
    return None if equated or pairing.partners[subject] > j else subject


def _act_in_other_verb(tokens: Sequence[Token], doers: Sequence[int], verb: int, words: Lexicon) -> bool:
    """Return whether the other side's subject is the agent of an earlier verb here: "built by A and sold"."""
    return all(at < verb and lead(tokens, at, words) in words.agent for at in doers)


def _are_no_agents(tokens: Sequence[Token], doers: Sequence[int], words: Lexicon) -> bool:
    """Return whether the other side's subject has another role here than agent: "sold to a collector"."""
    roles = [lead(tokens, at, words) for at in doers]
    return all(role in (words.starts | words.ends) - words.agent for role in roles)


def _has_object(tokens: Sequence[Token], verb: int, subject: int, words: Lexicon) -> bool:
    """Return whether a verb has an object: a bare word after it, or one before it that is not its subject."""
    for at in range(verb + 1, len(tokens)):
        token = tokens[at]
        if token.kind == "break" or token.word in COORDINATORS | words.prepositions:
            break
        if token.kind == "word" and not token.word.endswith("ly"):
            return True
    own = (at for at in range(verb) if at != subject and tokens[at].clause == tokens[verb].clause)
    return any(tokens[at].kind == "word" and case_of(tokens, at, words) in _OBJECT_CASES for at in own)


_CASES = frozenset({"der", "den", "dem", "des", "einen", "einem"})  # articles of one case and gender
_OBJECT_CASES = frozenset({"den", "dem", "einen", "einem"})


def case_of(tokens: Sequence[Token], at: int, words: Lexicon) -> str:
    """Return the German article that marks the case of a word, with its preposition; '' without one."""
    if words.language != "de":
        return ""
    for place in range(at - 1, max(-1, at - 4), -1):
        before = tokens[place]
        if before.word in _CASES:
            governed = place and tokens[place - 1].word in words.prepositions
            if before.word == "der" and place and (tokens[place - 1].quantity or tokens[place - 1].capital):
                return "of der"  # "the share of the guests"
            return f"{tokens[place - 1].word} {before.word}" if governed else before.word
        if before.kind != "word":
            return ""
    return ""


def agent_of(tokens: Sequence[Token], verb: int, words: Lexicon) -> range:
    """Return the places of the phrase with the agent of a passive verb ("by …"); empty without one."""
    for at in range(verb + 1, len(tokens)):
        if tokens[at].word in words.agent:
            end = at + 1
            number = next((k for k in range(end, len(tokens)) if tokens[k].kind != "function"), end)
            if number < len(tokens) and tokens[number].quantity:
                continue  # "rose by 5 %"
            while end < len(tokens) and tokens[end].kind != "break" and tokens[end].word not in COORDINATORS:
                end += 1
            return range(at + 1, end)
        if tokens[at].kind == "break":
            break
    if words.language in _VERB_LAST:  # "muss vom Käufer angezeigt werden"; "von" after a noun is "of"
        for at in range(verb - 1, 0, -1):
            if tokens[at].kind == "break":
                break
            free = tokens[at - 1].kind != "word" or lead(tokens, at - 1, words) in words.timely
            if tokens[at].word in words.agent and free:
                return range(at + 1, verb)
    return range(0)


def _subject(tokens: Sequence[Token], verb: int, words: Lexicon) -> list[int]:
    """Return indexes of the bare words before a verb in its clause; in German of a masculine one after it."""
    found = [at for at in range(verb + 1, len(tokens)) if case_of(tokens, at, words) == "der"][:1]
    if found and tokens[found[0] - 1].word == "der" and tokens[found[0]].clause == tokens[verb].clause:
        return found
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
            and case_of(tokens, at, words) not in _OBJECT_CASES
        ):
            found.append(at)
    return found
