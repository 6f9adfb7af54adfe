"""Judge a claim by running text: against every sentence, then each part of the claim."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile

from citing.budget import check_budget
from citing.claims import Conflict
from citing.comparison.words.phrases import counted_behind_whole
from citing.comparison.words.readings import Surroundings, has_conjunction, readings
from citing.comparison.words.sentence_comparison import Finding, examine
from citing.comparison.words.token import COORDINATORS, EITHER, Token, is_date, names_in_topics, with_names
from citing.comparison.words.tokens import tokens_of
from text.languages import UNSPACED_LANGUAGES
from text.semantics import Lexicon, known_language, lexicon, split_words
from text.sentences import Span, sentence_spans

MOST_SENTENCES = 3  # sentences of a passage that are compared
LEAST_PART = 3  # minimum content words of a part of a claim that is judged alone
LEAST_STATEMENT = 2  # minimum content words on each side of an "and" between two statements
_NEXT = frozenset(["then", "dann", "danach", "puis", "ensuite", "luego", "después", "poi", "dan", "depois"])
_TOPIC_WORDS = 3  # content words that open a sentence and may name its subject
_SUBJECT_WORDS = 6  # those after an adverbial: "In most EU countries the retirement age"
_COORDINATORS = frozenset(["and", "y", "e", "et", "und", "،", "و", "、", "并", "且"])


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of comparing a claim with a passage.

    Attributes:
        spans: ranges of the passage's characters that support or contradict the claim.
        unchecked: why the claim could not be judged.
        formula: how the claim's value follows from cited ones: "1,577 − 1,373 = 204".
    """

    outcome: str
    spans: tuple[tuple[int, int], ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    missing: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    coverage: float = 0.0
    formula: str = ""


@dataclass(frozen=True, slots=True)
class _Sentence:
    span: Span
    tokens: tuple[Token, ...]


_JOINT = ("The claim joins several statements, of which not all were compared.",)
_QUOTED = r"[“\"][^“”\"()]{1,60}[”\"]"
_DEFINED = re.compile(  # Tarn Ltd (the "Company"): says what it will be called
    r"\((?:(?:the|each|collectively|together|hereinafter)\b,?\s*)*"
    rf"(?:{_QUOTED}(?:,?\s+(?:or|and)\s+(?:the\s+)?{_QUOTED})*|(?<=the )[A-Z]\w+)\)"
    r"|(?:(?<=\bInc)|(?<=\bLtd)|(?<=\bCorp)|(?<=\bCo))\.(?=\s+[a-z(])"
)


def judge_prose(claim: str, passage: str, language: str, topics: Sequence[str] = ()) -> Judgement:
    """Judge a claim by a passage; ``topics``: its headings and title."""
    judged = _judged(claim, passage, language, topics)
    if judged.outcome != "holds" and _DEFINED.search(passage):
        plain, page = (_DEFINED.sub(lambda found: " " * len(found[0]), text) for text in (claim, passage))
        again = _judged(plain, page, language, topics)
        judged = again if again.outcome == "holds" else judged
    return judged


def _judged(claim: str, passage: str, language: str, topics: Sequence[str]) -> Judgement:
    if not known_language(language):
        reason = f"There are no rules for the language {language or '?'}."
        wanted, held = (set(split_words(text)) for text in (claim, passage))
        return Judgement("open", unchecked=(reason,), coverage=len(wanted & held) / max(1, len(wanted)))
    sentences: Sequence[_Sentence] = sentences_of(passage, language)
    tokens: Sequence[Token] = tokens_of(claim, language)
    if names := names_in_topics(topics):
        tokens = with_names(tokens, names)
        sentences = [_Sentence(s.span, tuple(with_names(s.tokens, names))) for s in sentences]
    spans = sentence_spans(claim, language)
    if len(spans) > 1:
        return _joined([judge_prose(claim[s.start : s.end], passage, language, topics) for s in spans])
    read = _Passage(sentences, language, topics)
    best = read.best
    judged = best(tokens)
    if judged.outcome == "holds":
        return judged
    if _repeats_number(tokens, sentences) or _exchanges_amounts(judged, tokens):
        return judged
    if any(
        all(best(part).outcome == "holds" for part in statements)
        and not read.contradicts_other_part(statements)
        and not _misdates(read, statements)
        for statements in _statements(tokens, lexicon(language))
    ):
        return replace(judged, outcome="holds", conflicts=(), missing=(), unchecked=())
    parts = list(_parts(tokens, lexicon(language)))
    if len(parts) > 1:
        found = [best(part) for part in parts]
        holds = all(part.outcome == "holds" for part in found)
        if holds and not read.contradicts_other_part(parts) and not _misdates(read, parts):
            return replace(found[0], spans=tuple(span for part in found for span in part.spans))
        if judged.outcome == "open":
            for part in found:
                if part.outcome == "conflict" and part.coverage >= 0.8:
                    return part
    roles = any(conflict.kind == "role_swap" for conflict in judged.conflicts)
    if (
        judged.outcome == "conflict"
        and not roles
        and any(
            all(best(part).outcome != "conflict" for part in split)
            for split in (*_statements(tokens, lexicon(language)), *([parts] if len(parts) > 1 else ()))
        )
    ):
        return replace(judged, outcome="open", conflicts=(), unchecked=judged.unchecked or _JOINT)
    return judged


def _misdates(read: _Passage, parts: Sequence[Sequence[Token]]) -> bool:
    """Return whether the date that opens a claim is not that of a later part: "In May, cash and bonds …"."""
    opening = list(takewhile(lambda token: token.kind != "break", parts[0]))
    if not opening or not is_date(opening[-1]):
        return False
    later = (part for part in parts[1:] if not any(is_date(token) for token in part))
    return any(read.best((*opening, *part)).outcome == "conflict" for part in later)


def _repeats_number(claim: Sequence[Token], sentences: Sequence[_Sentence]) -> bool:
    """Return whether a claim has a number more often than its passage, where it supports one part only."""
    claimed = Counter(token.quantity.base for token in claim if token.quantity)
    held = Counter(t.quantity.base for sentence in sentences for t in sentence.tokens if t.quantity)
    return any(count > max(1, held[value]) for value, count in claimed.items())


def _exchanges_amounts(judged: Judgement, claim: Sequence[Token]) -> bool:
    """Return whether amounts are exchanged: the page may support each part, but not the whole."""
    amounts = {token.start for token in claim if token.quantity}
    return any(c.kind == "role_swap" and c.claim_span[0] in amounts for c in judged.conflicts)


def _joined(parts: Sequence[Judgement]) -> Judgement:
    """Return the joint result of several sentences of a claim: the weakest."""
    worst = next(
        (part for outcome in ("conflict", "open") for part in parts if part.outcome == outcome), parts[0]
    )
    return replace(worst, spans=tuple(span for part in parts for span in part.spans))


@lru_cache(maxsize=512)
def sentences_of(passage: str, language: str) -> tuple[_Sentence, ...]:
    spans = sentence_spans(passage, language)
    return tuple(_Sentence(span, tokens_of(passage[span.start : span.end], language)) for span in spans)


@dataclass(frozen=True)
class _Passage:
    """The sentences of a passage; ``known``: the judgement of a claim, or a part, by all of them."""

    sentences: Sequence[_Sentence]
    language: str
    topics: Sequence[str]
    known: dict[tuple[Token, ...], Judgement] = field(default_factory=dict)

    def best(self, claim: Sequence[Token]) -> Judgement:
        """Judge a claim or a part of it by the sentence that fits it best."""
        key = tuple(claim)
        if key not in self.known:
            self.known[key] = self._by_sentences(claim, self.sentences)
        return self.known[key]

    def contradicts_other_part(self, parts: Sequence[Sequence[Token]]) -> bool:
        """Return whether the sentence of one part of a claim contradicts a number of another part.

        "Exports grew 16 % and imports 8 %" of "Exports grew 16 % and imports 5 %. At constant prices, … 8 %."
        """
        outcomes = [[self._by_sentences(part, [s]).outcome for s in self.sentences] for part in parts]
        whole = any(all(row[at] == "holds" for row in outcomes) for at in range(len(self.sentences)))
        return not whole and any(
            own[at] == "holds" and other[at] == "conflict" and any(token.quantity for token in part)
            for at in range(len(self.sentences))
            for own in outcomes
            for part, other in zip(parts, outcomes, strict=True)
        )

    def _by_sentences(self, claim: Sequence[Token], sentences: Sequence[_Sentence]) -> Judgement:
        """Judge a claim by the one of some sentences that fits it best."""
        found: list[tuple[Finding, _Sentence]] = []
        words = lexicon(self.language)
        reordered = next(counted_behind_whole(claim, words), claim)
        ranked = sorted(sentences, key=lambda sentence: -_shared(claim, sentence.tokens))
        for sentence in ranked[:MOST_SENTENCES]:
            around = _surroundings(sentence, sentences, self.topics, self.language)
            for tokens in readings(sentence.tokens, words):
                own = claim if tokens is sentence.tokens else reordered
                finding = examine(own, tokens, words, around)
                found.append((finding, _Sentence(sentence.span, tuple(tokens))))
            if any(one.outcome == "holds" and one.coverage == 1 for one, _ in found):
                break  # no other sentence fits better
        if not found or _asks(ranked[0]):
            return Judgement("open", unchecked=("?",) if found else ())
        rank = {"holds": 2, "conflict": 1, "open": 0}
        best, sentence = max(
            found, key=lambda pair: (pair[0].outcome == "holds", pair[0].coverage, rank[pair[0].outcome])
        )
        return _judgement(best, sentence)


def _asks(sentence: _Sentence) -> bool:
    """Return whether a sentence is a question, which asserts nothing."""
    return bool(sentence.tokens) and sentence.tokens[-1].word in ("?", "？", "؟")


def _shared(claim: Sequence[Token], source: Sequence[Token]) -> int:
    stems = {token.stem or token.word for token in source if token.content}
    values = {token.quantity.base for token in source if token.quantity}
    return sum(
        (token.stem or token.word) in stems or (token.quantity is not None and token.quantity.base in values)
        for token in claim
        if token.content
    )


def _surroundings(
    sentence: _Sentence, sentences: Sequence[_Sentence], topics: Sequence[str], language: str
) -> Surroundings:
    """Return the words that may name the subject: headings, and the start of the sentence before."""
    of_topics = [t for text in topics for t in tokens_of(text.replace("_", " "), language)]
    topic = [t for t in with_names(of_topics, names_in_topics(topics)) if t.kind == "word"]
    at = sentences.index(sentence)
    words = lexicon(language)
    pronoun = any(token.word in words.pronouns | words.have for token in sentence.tokens[:4])
    several = any(token.word in words.together for token in sentence.tokens[:4])  # "Together they"
    for before in (*sentences[:1], *(sentences[at - 1 : at] if at and pronoun else ())):
        if before is not sentence and not several:
            opening = [token for token in before.tokens if token.kind == "word"]
            topic += opening[:_TOPIC_WORDS]
            topic += takewhile(lambda t: not t.name, opening[_TOPIC_WORDS:_SUBJECT_WORDS])
    everything = tuple(token for other in sentences for token in other.tokens)
    return Surroundings(tuple(topic), everything)


def _judgement(found: Finding, sentence: _Sentence) -> Judgement:
    shift = sentence.span.start
    conflicts = tuple(
        replace(c, source_span=(c.source_span[0] + shift, c.source_span[1] + shift)) if c.source else c
        for c in found.conflicts
    )
    places = sorted(found.places)
    spans: tuple[tuple[int, int], ...] = ()
    if places:
        start = min(sentence.tokens[at].start for at in places)
        end = max(sentence.tokens[at].end for at in places)
        spans = ((start + shift, end + shift),)
    unchecked = tuple(found.open) if found.outcome == "open" else ()
    missing = tuple(found.missing)
    return Judgement(found.outcome, spans, conflicts, missing, unchecked, found.coverage)


def _statements(claim: Sequence[Token], words: Lexicon) -> Iterator[tuple[Sequence[Token], Sequence[Token]]]:
    """Yield the claim split at each "and" or "compared with"; a part has its own subject or the first's."""
    for at, token in enumerate(claim):
        check_budget()
        left, right = claim[:at], claim[at + 1 :]
        compared = _compared_at(claim, at, words)
        if compared:
            right = claim[at + compared :]
        elif token.word not in COORDINATORS or token.word in EITHER or (right and right[0].word in _NEXT):
            continue
        if left and right and left[-1].quantity and right[0].quantity:  # "between 3 and 5"
            continue
        verb = right[:1] and right[0].word in words.have | words.passive
        if _content(left) < LEAST_STATEMENT or _content(right) < (1 if verb else LEAST_STATEMENT):
            continue
        if not compared:
            yield left, right
        heads = [place for place, token in enumerate(left) if token.content][:_TOPIC_WORDS]
        for head in heads:
            yield left, (*left[: head + 1], *right)


def _compared_at(claim: Sequence[Token], at: int, words: Lexicon) -> int:
    """Return the number of tokens of a "compared with" between two amounts of one kind; 0 without one."""
    for phrase in map(str.split, words.compared):
        if [token.word for token in claim[at : at + len(phrase)]] != phrase:
            continue  # before the words behind it are read: signs alone would be read 4,000 times
        amount = next((token.quantity for token in claim[at + len(phrase) :] if token.content), None)
        if amount:
            alike = (t.quantity and t.quantity.dimension == amount.dimension for t in claim[:at])
            return len(phrase) if any(alike) else 0
    return 0


def _content(tokens: Sequence[Token]) -> int:
    return sum(token.content for token in tokens)


def _parts(claim: Sequence[Token], words: Lexicon) -> Iterator[tuple[Token, ...]]:
    """Yield the parts of the claim at "and", "while", a semicolon or, in unspaced scripts, a comma."""
    part: list[Token] = []
    for at, token in enumerate(claim):
        behind_break = bool(at) and claim[at - 1].kind == "break"
        joins = behind_break and token.word in _COORDINATORS | words.breaks
        joins = (
            joins
            or token.word in (";", "；", "؛")
            or (words.language in UNSPACED_LANGUAGES and token.word in "，、,")
        )
        opens = joins or (behind_break and has_conjunction(claim[at - 1], token, words))
        if opens and sum(t.content for t in part) >= LEAST_PART:
            yield tuple(part)
            part = [] if joins else [token]
        else:
            part.append(token)
    if part:
        yield tuple(part)
