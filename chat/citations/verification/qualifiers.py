"""Words of a page without which a claim says something else: "critics of the law", "former", "used to"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from chat.citations.verification.alignment import Differences, Pairing, content_places
from chat.citations.verification.comparison import (
    of_other_frame,
    of_other_number,
    of_other_subject,
    turned_range,
)
from chat.citations.verification.phrases import (
    clause_lead,
    is_genitive,
    lead,
    places_of_phrases,
)
from chat.citations.verification.token import COORDINATORS, DENIALS, EITHER, Token, is_marker
from text.semantics import UNSPACED, Lexicon

_LONGEST_PHRASE = 4  # tokens from a preposition to the noun behind it


def qualifiers_left_out(pairing: Pairing) -> Iterator[int]:
    """Yield the places of words of the source without which the claim says another thing, or turned round.

    Each rule is a generator below with its example; a claim with one of these words left out is not verified.
    """
    words = pairing.words
    together = frozenset[str]() if words.language in UNSPACED else words.together - words.total
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
    yield from turned_range(pairing)
    yield from of_other_frame(pairing)
    yield from of_other_subject(pairing)
    yield from of_other_number(pairing)
    yield from _turned_relative(pairing)
    for i, j in pairing.ordered:
        kinds = {pairing.claim[i].kind, pairing.source[j].kind}
        for qualifier in _OF_NUMBERS if kinds == {"quantity"} else _OF_WORDS if kinds == {"word"} else ():
            yield from (at for at in qualifier(pairing, i, j) if at not in pairing.matched_source)
        if is_marker(pairing.claim[i], "quantifier") and is_marker(pairing.source[j], "quantifier"):
            yield from _other_whole(pairing, i, j)


def _of_other_statement(pairing: Pairing) -> Iterator[int]:
    """ "May close it while …" of "may close it; they must not do so while …": a clause of markers alone."""
    source = pairing.source
    clauses = {source[at].clause for at in pairing.matched_source}
    for clause in {c - 1 for c in clauses} - clauses:
        own = [at for at, token in enumerate(source) if token.clause == clause and token.content]
        duty = any(is_marker(source[at], "modality") for at in own)
        if duty and all(source[at].kind == "marker" for at in own):
            yield from (at for at in own if source[at].marker in DENIALS)


def _turned_condition(pairing: Pairing) -> Iterator[int]:
    """ "The tenant dies if the contract ends" of "the contract ends if the tenant dies"."""
    claim, source = pairing.claim, pairing.source
    sides = [
        (bool(clause_lead(claim, i)), bool(clause_lead(source, j)))
        for i, j in pairing.ordered
        if claim[i].kind == source[j].kind == "word"
    ]
    if (True, False) in sides and (False, True) in sides:
        yield next(at for at, token in enumerate(source) if is_marker(token, "condition"))


def _turned_relative(pairing: Pairing) -> Iterator[int]:
    """ "Members who receive a discount pay in advance" of "members who pay in advance receive a discount"."""
    verbs = []
    for tokens in (pairing.claim, pairing.source):
        opens = next((at for at in range(1, len(tokens)) if _opens_relative(tokens, at, pairing.words)), None)
        if opens is None:
            return
        verbs.append(next((at for at in range(opens, len(tokens)) if tokens[at].content), -1))
    said, held = verbs
    if held in pairing.matched_source and pairing.partners.get(said, held) != held:
        yield held


def _will_be(pairing: Pairing, at: int) -> bool:
    """ "Is 90 m tall" of "will be 90 m tall"."""
    source, words = pairing.source, pairing.words
    behind = source[at + 1].word if at + 1 < len(source) else ""
    return (
        source[at].word in words.future and behind in words.passive and source[at].clause in pairing.clauses
    )


def _changed_amount(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """ "2 %" of "LIBOR plus 2 %"; "40,000" of "40,000 more than in 2010", "$3 million" of "below target"."""
    source, words = pairing.source, pairing.words
    yield from (at for at in (j - 1, j - 2) if at >= 0 and source[at].word in words.plus)
    than = next((at for at in range(j + 1, min(j + 4, len(source))) if source[at].word in words.than), None)
    if than and words.language in _MORE_BEHIND and source[than - 1].word in words.plus:
        yield than
    behind = source[j + 1 : j + 3]
    if words.language == "zh":
        yield from _held_against(pairing, j)
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


def _held_against(pairing: Pairing, j: int) -> Iterator[int]:
    """What says that a number is by how much one thing exceeds another: 比教堂高20米."""
    than, source = pairing.words.than, pairing.source
    if not any(token.word in than for token in pairing.claim):
        yield from (
            at for at in range(j) if source[at].word in than and source[at].clause == source[j].clause
        )


_MORE_BEHIND = frozenset({"fr", "es", "it", "pt"})  # "20 m de plus que"


def _other_whole(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """ "12 % of women are unemployed" of "women are 12 % of the unemployed"; "all lawyers", "all members"."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    if claim[i].quantity:
        links = words.among | words.genitive
        joined = [tokens[at + 1].word for tokens, at in ((claim, i), (source, j)) if at + 1 < len(tokens)]
        if len(joined) < 2 or not set(joined) <= links:
            return
    whole = next((at for at in range(j + 1, len(source)) if source[at].content), None)
    said = next((at for at in range(i + 1, len(claim)) if claim[at].content), None)
    other = pairing.partners.get(said, -1) if said is not None else -1
    if whole is None or other in (-1, whole) or whole not in pairing.matched_source:
        return
    verbs = words.passive | words.copula | words.have
    parted = other < j or any(token.word in verbs for token in source[whole:other]) or words.language == "zh"
    if parted and not is_genitive(source, other, words):
        yield j + 1


def _of_each(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """ "The three sites received $2 million" of "each of the three sites received $2 million"."""
    claim, source, each = pairing.claim, pairing.source, pairing.words.each
    counted = any(token.quantity and token.quantity.bare for k, token in enumerate(claim) if k != i)
    amount = source[j].quantity
    if counted and amount and not amount.bare and not any(token.word in each for token in claim):
        yield from (
            at for at, token in enumerate(source) if token.word in each and token.clause == source[j].clause
        )


def _taller(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """ "20 m tall" of "20 m taller than the church"."""
    claim, source, than = pairing.claim, pairing.source, pairing.words.than
    compared = any(token.word in than for token in source[j + 1 : j + 2])
    if compared and source[j].word != claim[i].word and not any(token.word in than for token in claim):
        yield j + 1


def _privative(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """ "The president" of "the former president"."""
    words = pairing.words
    near = (j - 1, j + 1) if words.language in _ADJECTIVES_BEHIND else (j - 1,)
    yield from (
        at for at in near if 0 <= at < len(pairing.source) and pairing.source[at].word in words.privative
    )


def _verb_of_noun(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """ "It was banned" of "the ban was lifted"."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    adverb = _behind_auxiliary(source, j - 1, words)  # "was badly damaged"
    if _behind_auxiliary(claim, i, words) and not (_behind_auxiliary(source, j, words) or adverb):
        clause = (at for at, token in enumerate(source) if token.clause == source[j].clause)
        yield from (at for at in clause if _behind_auxiliary(source, at, words))


def _object(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """銀行が of 銀行を訴えた男が: what the one verb's object is, another's subject; in Japanese."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    if words.language != "ja" or (lead(claim, i, words), lead(source, j, words)) != ("subject", "object"):
        return
    verb = next((at for at in range(j + 1, len(source)) if source[at].content and at > j + 1), None)
    if verb is not None:
        yield verb


def _owner(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """ "The law", "the painter" of "critics of the law", "the painter's widow"."""
    claim, source, words = pairing.claim, pairing.source, pairing.words
    head = _owner_of(pairing, i, j)
    if head < 0 or not _names(source[head], source[j], words):
        return
    role, owns = lead(claim, i, words), is_genitive(claim, i, words)
    if not owns and (role in ("", "subject", "object") or role == lead(source, head, words)):
        yield head


def _compound(pairing: Pairing, i: int, j: int) -> Iterator[int]:
    """ "Customers rose" of "customer complaints rose"; in English, where nouns stand side by side."""
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
    """ "Made bicycles" of "stopped making bicycles"; "built" of "is building", which "builds" does say."""
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
    """ "The chairman must" of "the chairman or the treasurer must"; who may, or may not, is said of each."""
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
    """ "The bank was arrested" of "the man who sued the bank was arrested"."""
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
    said = any(at not in pairing.matched_source and source[at].kind == "word" for at in range(opens, to_verb))
    if said and breaks == (words.language not in _NO_COMMA):
        yield opens - 1 if words.language in _NO_COMMA else opens - 2


_NO_COMMA = frozenset({"en", "fr", "es", "it", "pt", "nl"})  # before a clause that says which one


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
    """The noun that a word's phrase belongs to: before its preposition, or behind its genitive; -1: none."""
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
    """Whether a word names something of its own: not a verb like "had", "group", or the city of a name."""
    light = words.light | words.transparent | words.group
    light |= frozenset[str]() if words.language in UNSPACED else words.counted
    stands_for = token.word in words.generic and (of.name or words.language == "de")
    return token.kind == "word" and token.word not in light and not stands_for and not token.quantity


# Words that a claim adds: the topic, named where the page has a pronoun or nothing.

_PRO_DROP = frozenset({"es", "it", "pt"})  # "Tiene una longitud de 320 m": a verb opens for its subject


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``topic``: words that may name the subject of a sentence; ``everything``: all words of the passage."""

    topic: tuple[Token, ...] = ()
    everything: tuple[Token, ...] = ()


class AddedWords(Differences):
    """Tells which words of a claim only name what the passage speaks of anyway."""

    def __init__(self, pairing: Pairing, around: Surroundings) -> None:
        super().__init__(pairing)
        self.around = around

    def names_topic(self, token: Token) -> bool:
        """Whether the word only names what a pronoun or the passage as a whole is about."""
        given = lead(self.claim, self.claim.index(token), self.words) in self.words.ends  # no subject
        if not ((self._says_opening and not given) or self._stands_for_pronoun(token)):
            return False
        words = (other for other in self.around.topic if other.kind == "word")
        return token.kind == "word" and any(
            token.stem == other.stem or token.word == other.word.split()[0] for other in words
        )

    def adds_topic(self, at: int) -> bool:
        """Whether a word without a partner only says what the passage is about, as a complement or frame."""
        if at and self.words.language not in UNSPACED and self._of_topic(at):
            return True
        return self._modifies_as_before(at) or self._frames(at)

    def _of_topic(self, at: int) -> bool:
        """ "The dose of Ostrelan" for "the dose", where the passage is about Ostrelan and names no other."""
        before = self.claim[at - 1]
        joint = (
            at - 2
            if before.word in self.words.articles and before.word not in self.words.genitive
            else at - 1
        )
        head = joint - 1
        if (
            joint < 1
            or self.claim[joint].word not in self.words.genitive
            or head not in self.pairing.partners
        ):
            return False
        place, token = self.pairing.partners[head], self.claim[at]
        complement = self.source[place + 1 : place + 2]
        if complement and complement[0].word in self.words.genitive:
            return False
        others = {t.stem for t in self.source if t.name and t.stem != token.stem}
        return self.is_topic(token) and not others and not self._has_other_owner(place)

    def _has_other_owner(self, place: int) -> bool:
        """Whether something else than the topic stands before a noun: "the tunnel budget", "its toll"."""
        before = self.source[place - 1] if place else None
        return before is not None and (before.kind == "word" or before.word in self.words.pronouns)

    def is_topic(self, token: Token) -> bool:
        return any(token.stem == other.stem for other in self.around.topic if other.kind == "word")

    def _modifies_as_before(self, at: int) -> bool:
        """ "Creatinine clearance" for "clearance", of which the passage has said whose it is."""
        token, beside = self.claim[at], at + 1
        if token.kind != "word" or beside not in self.pairing.partners or self.claim[beside].kind != "word":
            return False
        place = self.pairing.partners[beside]
        if self._has_other_owner(place) or token.marker or token.poles or token.capital:
            return False
        before = [
            one
            for one, other in pairwise(self.around.everything)
            if other.stem == self.source[place].stem and one.kind == "word"
        ]
        return {one.stem for one in before} == {token.stem} and not any(one.capital for one in before)

    def _frames(self, at: int) -> bool:
        """ "In the trial, …": a general noun before the comma that opens the claim."""
        token = self.claim[at]
        if token.word not in self.words.generic or any(t.content for t in self.claim[:at]) or at < 2:
            return False
        definite = self.claim[at - 1].word in self.words.articles | self.words.pronouns
        return definite and [token.word for token in self.claim[at + 1 : at + 2]] == [","]

    def speaks_for_us(self, token: Token) -> bool:
        """ "The company" for a report's "we"."""
        return token.word in self.words.company and any(
            is_marker(other, "person", "first") for other in (*self.source, *self.around.everything)
        )

    def displaces(self, at: int) -> bool:
        """Whether the source has another word where the claim has the topic: "in the placebo group"."""
        places, own = content_places(self.claim), content_places(self.source)
        here = places.index(at)
        beside = [i for i in (*places[:here][-1:], *places[here + 1 :][:1]) if i in self.pairing.partners]
        near = {own.index(self.pairing.partners[i]) for i in beside}
        named = self.claim[at].name or not (
            at and self.claim[at - 1].word in self.words.articles | self.words.pronouns
        )
        return any(
            self.source[j].kind == "word"
            and {own.index(j) - 1, own.index(j) + 1} & near
            and not (named and self.source[j].word in self.words.generic)
            for j in self.relevant_unmatched()
            if j not in self.explained_source
        )

    def _stands_for_pronoun(self, token: Token) -> bool:
        """Whether a pronoun of the source stands where the claim has the word."""
        at = next((i for i, other in enumerate(self.claim) if other is token), None)
        if at is None or not self.pairing.partners:
            return False
        place = self.expected_place(at)
        near = range(max(0, int(place) - 1), min(len(self.source), int(place) + 3))
        found = [j for j in near if self.source[j].word in self.words.pronouns]
        return any(not self._may_be_anothers(j, token) for j in found)

    def _may_be_anothers(self, j: int, token: Token) -> bool:
        """Whether a name stands before a pronoun in its clause: "Belpharm cut its price"."""
        before = (t for t in self.source[:j] if t.clause == self.source[j].clause)
        return any(t.name and t.stem != token.stem for t in before)

    @cached_property
    def _says_opening(self) -> bool:
        """Whether the claim has the word that opens the sentence, or a pronoun opens it."""
        opening = next((at for at, token in enumerate(self.source) if token.kind == "word"), None)
        if opening is None or opening in self.pairing.matched_source:
            return True
        if any(self.source[opening].stem == token.stem for token in self.claim if token.kind == "word"):
            return True
        if self.source[opening].word in self.words.generic and opening <= 1:
            return True
        if self.words.language in _PRO_DROP and self.source[0].word in self.words.have | self.words.passive:
            return True
        return any(token.word in self.words.pronouns for token in self.source[:opening])

    def expected_place(self, at: int) -> float:
        """Where in the source the partner of an unmatched token should stand."""
        before = [(at - i, j + 0.5) for i, j in self.pairing.ordered if i < at]
        after = [(i - at, j - 0.5) for i, j in self.pairing.ordered if i > at]
        near = [min(side)[1] for side in (before, after) if side]
        return near[0] if len(near) == 1 or min(before)[0] <= min(after)[0] else near[1]
