"""Find claims that repeat the passage word for word, or except for one word that changes the meaning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from citing.anchoring.page_text import fold
from citing.claims import Conflict
from citing.comparison.words.alignment import Pairing
from citing.comparison.words.token import COORDINATORS, Token, denials_at, is_marker, opposite, same
from citing.comparison.words.tokens import tokens_of
from text.semantics import known_language, lexicon
from text.sentences import sentence_spans

NEAR_VERBATIM = 0.85  # share of equal tokens in the same order


def verbatim_span(sentence: str, text: str) -> tuple[int, int]:
    """Return the span of the claim's words in a text, ignoring typography; (0, 0) without a match."""
    wanted, held = fold(sentence.strip().rstrip(".。")), fold(text)
    at = held.text.find(wanted.text) if wanted.text else -1
    while at >= 0:
        start, end = held.source_range(at, at + len(wanted.text))
        if not (_inside_word(text, start) or _inside_word(text, end)):
            return start, end
        at = held.text.find(wanted.text, at + 1)
    return 0, 0


def _inside_word(text: str, at: int) -> bool:
    """Return whether a place is between two letters of an alphabet: "either" in "neither"."""
    around = text[at - 1 : at + 1] if at else ""
    return len(around) == 2 and around.isalpha() and max(around) < "\u3000"


def repeats_sentences(sentence: str, text: str, language: str) -> bool:
    """Return whether the claim is one or more whole sentences of the text, word for word."""
    start, end = verbatim_span(sentence, text)
    if end == 0 or _signs(sentence) != _signs(text[start:end]):
        return False
    spans = sentence_spans(text, language or "en")
    return any(
        text[span.start : start].strip(" \t-–•*\"'“„«(") == ""
        for span in spans
        if span.start <= start < span.end
    ) and any(
        text[end : span.end].strip(" .。!?！？;:\"'”“»)") == ""
        for span in spans
        if span.start < end <= span.end
    )


def _signs(text: str) -> list[str]:
    """Return the signs that folding drops although they change a number."""
    return re.findall(r"(?<![\w)])[-−–](?=\s?[$£€¥]?\d)|\((?=[$£€¥\d])", text)


def single_difference(claim: str, passage: str, language: str, topics: Sequence[str] = ()) -> Conflict | None:
    """Return the first difference of a claim that repeats a sentence except for one word or a negation.

    The word may be elsewhere in the passage: "the Facility Bank" for "the Facility Agreement". Of ``topics``,
    headings and the title, a word may replace "the company". None if nothing changes the meaning.
    """
    if not known_language(language):
        return None
    everything = tokens_of(passage, language, limits=False)
    named = {token.stem for topic in topics for token in tokens_of(topic, language)}
    sentences = _tokens_by_start(passage, language)
    for start, claimed in _tokens_by_start(claim, language).items() if sentences else ():
        nearest = _nearest(claimed, sentences)
        pairing = Pairing(claimed, sentences[nearest], {}, lexicon(language))
        if pair := _exchanged(pairing, named, everything):
            return _conflict(*pair, start, nearest)
    return None


def _tokens_by_start(text: str, language: str) -> dict[int, list[Token]]:
    """Return the tokens of each sentence, without breaks, by the sentence's first character."""
    spans = sentence_spans(text, language)
    tokens = {start: tokens_of(text[start:end], language, limits=False) for start, end in spans}
    return {start: [token for token in own if token.kind != "break"] for start, own in tokens.items()}


def _nearest(claim: Sequence[Token], sentences: Mapping[int, Sequence[Token]]) -> int:
    """Return the start of the sentence that shares most tokens with the claim."""
    keys = Counter(map(_key, claim))
    return max(sentences, key=lambda start: (keys & Counter(map(_key, sentences[start]))).total())


def _exchanged(
    pairing: Pairing, named: Container[str], passage: Sequence[Token]
) -> tuple[Token | None, Token | None] | None:
    """Return the tokens in which two nearly equal sentences differ; one may be None."""
    claim, source = pairing.claim, pairing.source
    turned: list[tuple[int | None, int | None]] = []
    for ours, theirs, moved in _differences(claim, source):
        alone = len(ours) == len(theirs) == 1 and not moved
        if alone and _names_another(pairing, ours[0], theirs[0], named):
            return claim[ours[0]], source[theirs[0]]
        changed = [*(claim[at] for at in ours), *(source[at] for at in theirs)]
        if any(token.marker or token.poles for token in changed):
            whole = max(len(ours), len(theirs)) < 2 and not moved
            turned.append((next(iter(ours), None), next(iter(theirs), None)) if whole else (None, None))
    if len(turned) != 1 or not _turns_meaning(pairing, *turned[0], passage):
        return None  # two may cancel each other: "lighter from shaded nests", "only with" for "not without"
    mine, page = turned[0]
    return None if mine is None else claim[mine], None if page is None else source[page]


def _differences(
    claim: Sequence[Token], source: Sequence[Token]
) -> Iterator[tuple[list[int], list[int], bool]]:
    """Yield the differences of a claim from the part of a sentence that it nearly repeats.

    Yields:
        Places of content words in the claim and in the source, and whether the first of the claim's is
        elsewhere in the sentence. Not where words are joined by "and".
    """
    aligned = SequenceMatcher(None, [_key(t) for t in claim], [_key(t) for t in source], autojunk=False)
    if aligned.quick_ratio() * (len(claim) + len(source)) < 2 * NEAR_VERBATIM * len(claim):
        return
    blocks = [block for block in aligned.get_matching_blocks() if block.size]
    first, last = (blocks[0].b, blocks[-1].b + blocks[-1].size) if blocks else (0, 0)
    if 2 * sum(block.size for block in blocks) < NEAR_VERBATIM * (len(claim) + last - first):
        return
    kept = {at for block in blocks for at in range(block.b, block.b + block.size)}
    left_over = {token.stem for at, token in enumerate(source) if at not in kept}
    for tag, i, k, j, m in aligned.get_opcodes():
        if tag == "equal" or (tag == "delete" and (m <= first or j >= last)):
            continue
        if m <= first:
            j = max(j, m - (k - i))  # of the words before it only its neighbours
        elif j >= last:
            m = min(m, j + k - i)
        if any(token.word in COORDINATORS for token in (*claim[i:k], *source[j:m])):
            continue
        ours = [at for at in range(i, k) if claim[at].content]
        theirs = [at for at in range(j, m) if source[at].content]
        yield ours, theirs, bool(ours) and claim[ours[0]].stem in left_over


def _turns_meaning(pairing: Pairing, i: int | None, j: int | None, passage: Sequence[Token]) -> bool:
    """Return whether the only difference of two sentences is a negation, an opposite or another duty."""
    if i is None or j is None:
        alone = [(pairing.claim, i)] * (i is not None) + [(pairing.source, j)] * (j is not None)
        return any(denials_at([at], tokens) for tokens, at in alone if at is not None)
    one, other = pairing.claim[i], pairing.source[j]
    duties = is_marker(one, "modality") and is_marker(other, "modality") and one.marker != other.marker
    return bool(opposite(one, other)) or duties


def _key(token: Token) -> str:
    return str(token.quantity.base) if token.quantity else token.stem or token.word


def _names_another(pairing: Pairing, i: int, j: int, named: Container[str]) -> bool:
    """Return whether two words in the same place name different things."""
    claim, source, words = pairing.claim[i], pairing.source[j], pairing.words
    if not claim.kind == source.kind == "word" or same(claim, source) or opposite(claim, source):
        return False
    defined = i > 0 and pairing.claim[i - 1].word in words.articles
    pronoun = j > 0 and pairing.source[j - 1].word in words.articles and source.word in words.generic
    generic = defined and claim.word in words.generic
    light = any(token.word in words.light and not token.name for token in (claim, source))
    return not (light or generic or (pronoun and not defined and claim.stem in named))


def _conflict(claim: Token | None, source: Token | None, claim_start: int, source_start: int) -> Conflict:
    """Return the difference as a conflict; both starts: first characters of the sentences compared."""
    if claim is None or source is None:
        kind = "negation"
    elif claim.marker and source.marker:
        kind = "modality"
    else:
        kind = "direction" if opposite(claim, source) else "entity_swap"
    return Conflict(
        kind,
        claim.word if claim else "",
        source.word if source else "",
        (claim.start + claim_start, claim.end + claim_start) if claim else (0, 0),
        (source.start + source_start, source.end + source_start) if source else (0, 0),
    )
