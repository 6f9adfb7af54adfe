"""Judge a claim against a citation unit: word for word, by its prose, or by its row within a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache

from chat.citations.anchoring.page_text import fold
from chat.citations.claims import Conflict, SourceUnit
from chat.citations.values.support import FALLING, ValueSupport, heads_of
from chat.citations.values.written_values import values_in
from chat.citations.verification.alignment import Pairing
from chat.citations.verification.grid import SHORT_LINE, CellText, Grid, grid_of
from chat.citations.verification.prose import Judgement, judge_prose
from chat.citations.verification.tables import UNSCALED, judge_table
from chat.citations.verification.token import (
    COORDINATORS,
    Token,
    denials_at,
    is_marker,
    names_in_topics,
    opposite,
    same,
    with_names,
)
from chat.citations.verification.tokens import tokens_of
from chat.citations.verification.voice import both_forbid
from domains import pack_names
from domains.items import said_by_label
from text.quantities import quantities_in
from text.semantics import UNSPACED, Lexicon, known_language, lexicon
from text.sentences import sentence_spans
from text.units import unit_at

LEAST_CLAUSE = 5  # minimum content words of an independent clause
NEAR_VERBATIM = 0.85  # share of equal tokens in the same order
_CHANGES_MEANING = frozenset({"negation", "hedge", "condition", "modality", "quantifier"})
_RESPECTIVELY = re.compile(
    r"respectively|respectivement|respectivamente|beziehungsweise|分别|それぞれ|على التوالي"
)
_OTHER_ROW = "The claim is about another row."


def judge_unit(
    sentence: str,
    unit: SourceUnit,
    around: Sequence[SourceUnit],
    language: str,
    said_in: str,
    found: ValueSupport | None,
) -> Judgement:
    """Judge a claim by one unit.

    Args:
        language: the unit's.
        said_in: the claim's language, in which the words of a table row are compared.
        found: the places of the claim's values in the unit, where it has any.
    """
    if repeats_sentences(sentence, unit.text, language):
        return Judgement("holds", (verbatim_span(sentence, unit.text),), coverage=1.0)
    if unit.type == "table":
        return _judge_row(sentence, unit, around, language, said_in, found)
    if repeats_clause(sentence, unit.text, language):
        return Judgement("holds", (verbatim_span(sentence, unit.text),), coverage=1.0)
    topics = [*reversed(unit.section_path), unit.title]
    judged = judge_prose(sentence, unit.text, language, topics)
    open_words = "".join((*judged.missing, *judged.unchecked))
    may_hold = judged.outcome == "open" and not any(character.isdigit() for character in open_words)
    may_hold = may_hold or _only_paired_otherwise(judged)
    if may_hold and found and found.complete and _in_two_lists(unit.text, language, found):
        judged = _by_values(sentence, unit, around, language, found)
    if judged.outcome == "holds" and (wrong := single_difference(sentence, unit.text, language, topics)):
        return replace(judged, outcome="conflict", conflicts=(wrong,))
    return judged


def _only_paired_otherwise(judged: Judgement) -> bool:
    """Return whether the only conflict is that the page has the words about something else."""
    moved = (c.kind == "entity_swap" and c.claim == c.source for c in judged.conflicts)
    return judged.outcome == "conflict" and all(moved)


def _in_two_lists(text: str, language: str, found: ValueSupport) -> bool:
    """Return whether all values are in one sentence with "respectively", in the order of the claim."""
    starts = [place.printed.start for place in found.places]
    near = next((s for s in sentence_spans(text, language or "en") if s.start <= starts[0] < s.end), None)
    years = near and [value for value in values_in(text[near.start : near.end]) if value.year is not None]
    inside = near is not None and all(near.start <= start < near.end for start in starts)
    return (
        inside
        and (len(starts) > 1 or bool(years))
        and starts == sorted(starts)
        and bool(near and _RESPECTIVELY.search(text[near.start : near.end]))
    )


# Claims that repeat the passage word for word, or except for one word.


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


def repeats_clause(sentence: str, text: str, language: str) -> bool:
    """Return whether the claim is a clause of the text, word for word, without a qualifier beside it."""
    start, end = verbatim_span(sentence, text)
    if end == 0 or _signs(sentence) != _signs(text[start:end]) or not known_language(language):
        return False
    if sum(token.content for token in tokens_of(sentence, language)) < LEAST_CLAUSE:
        return False
    for span in sentence_spans(text, language):
        if span.start < end and start < span.end:
            beside = tokens_of(text[span.start : span.end], language)
            words = lexicon(language)
            left = [t for t in beside if not start <= t.start + span.start < end]
            changes = (t.marker is not None and t.marker.category in _CHANGES_MEANING for t in left)
            if any(changes) or any(t.word.split()[0] in words.consent for t in left):
                return False
            rest = text[span.start : start], text[end : span.end] if language in UNSPACED else ""
            if language in UNSPACED and rest[0].endswith(tuple(words.privative | words.unrealised)):
                return False
            if _reports_clause(rest, [t.word for t in left if t.start + span.start < start], words):
                return False  # "critics said", "the mayor denied that"
            if not _begins_clause([t for t in beside if t.start + span.start < start], language):
                return False
    return True


def _begins_clause(before: Sequence[Token], language: str) -> bool:
    """Return whether a clause may begin after the words; not in "two of the" eleven sites."""
    words = lexicon(language)
    left = next((t for t in reversed(before) if t.word not in words.articles), None)
    if before and before[-1].word in words.privative:
        return False
    if left is None or left.kind == "break" or left.word in COORDINATORS | words.breaks | words.complement:
        return True
    return left.content and left.word not in words.prepositions | words.genitive


def _reports_clause(rest: tuple[str, str], before: Sequence[str], words: Lexicon) -> bool:
    """Return whether the words beside a clause report or deny it."""
    verbs = words.reporting | words.doubting
    if words.language in UNSPACED:
        return any(verb in part for verb in verbs for part in rest) or rest[1].startswith(tuple(words.one_of))
    return any(word in verbs for word in before)


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
    return bool(opposite(one, other)) or (duties and both_forbid(pairing, i, j, passage) is False)


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


# Rows of tables.


def _judge_row(
    sentence: str,
    unit: SourceUnit,
    around: Sequence[SourceUnit],
    language: str,
    said_in: str,
    found: ValueSupport | None,
) -> Judgement:
    judged, own = None, None
    if (grid := grid_of(unit, around, language)) is not None:
        sentence = _in_words_of_row(sentence, grid, language)
        begins = ((r, cells[0]) for r, cells in enumerate(grid.rows) if cells)  # an empty cell has no place
        own = next((r for r, label in begins if label.start == 0 and label.text), None)
        topics = [*unit.section_path, unit.title]
        judged = _of_own_row(judge_table(sentence, grid, language, topics, own), unit)
        if own is not None and (wrong := _other_bound(sentence, grid.rows[own][0], language)):
            return replace(judged, outcome="conflict", conflicts=(wrong,), coverage=1.0, formula="")
        if judged.outcome == "holds" or judged.unchecked in ((_OTHER_ROW,), (UNSCALED,)):
            return judged
    if found is None or not found.complete:
        return judged or Judgement("open", missing=found.missing if found else ())
    by_values = _by_values(sentence, unit, around, said_in, found)
    if by_values.outcome == "holds" and grid is not None and own is not None:
        by_values = _of_named_row(by_values, sentence, grid, own, said_in)
    unknown_unit = judged is not None and judged.outcome == "conflict" and judged.coverage < 1
    return by_values if judged is None or judged.outcome == "open" or unknown_unit else judged


def _in_words_of_row(sentence: str, grid: Grid, language: str) -> str:
    """Replace a synonym of a row's label in the claim by the label: "revenue" by "Net sales".

    Unchanged where a row has the claim's own words, or several rows are the item.
    """
    if language != "en":
        return sentence
    labels = [row[0].text.strip() for row in grid.rows if row and row[0].text.strip()]
    named = [(span, label) for label in labels if (span := said_by_label(sentence, label, pack_names()))]
    if len(named) != 1:
        return sentence
    (start, end), label = named[0]
    synonym = sentence[start:end].lower()
    if any(synonym in other.lower() for other in labels) or label.lower() in sentence.lower():
        return sentence
    return f"{sentence[:start]}{label}{sentence[end:]}"


def _of_own_row(judged: Judgement, unit: SourceUnit) -> Judgement:
    """Return the judgement; an open one if it is about another row than the unit."""
    own = [start >= 0 and end <= len(unit.text) for start, end in judged.spans]
    if judged.outcome != "open" and not any(own):
        return Judgement("open", unchecked=(_OTHER_ROW,), coverage=1.0)
    return judged


def _by_values(
    sentence: str, unit: SourceUnit, around: Sequence[SourceUnit], language: str, found: ValueSupport
) -> Judgement:
    """Judge a claim whose values are in the row, by whether its other words are in the row or above it."""
    spans = tuple(sorted({(place.printed.start, place.printed.end) for place in found.places}))
    left = words_left(sentence, unit, around, language, found)
    if not known_language(language) and left:
        return Judgement("open", spans, unchecked=(f"There are no rules for the language {language}.",))
    if left := left or _of_unknown_unit(sentence, unit, around, language):
        markers = tuple(token.word for token in left if token.marker)
        return Judgement(
            "open",
            spans,
            missing=tuple(t.word for t in left if not t.marker),
            unchecked=markers,
            coverage=0.6,
        )
    return Judgement("holds", spans, coverage=1.0)


_BELOW, _ABOVE = frozenset({"lt", "le"}), frozenset({"gt", "ge"})


def _other_bound(sentence: str, label: CellText, language: str) -> Conflict | None:
    """Return the conflict where the claim inverts the bound of its row's label: "over 18", "Under 18"."""
    for held in tokens_of(label.text, language):
        for token in tokens_of(sentence, language):
            one, other = token.quantity, held.quantity
            alike = one is not None and other is not None and one.value == other.value
            if alike and {token.bound, held.bound} & _BELOW and {token.bound, held.bound} & _ABOVE:
                place = label.start + held.start, label.start + held.end
                return Conflict("comparator", token.word, label.text, (token.start, token.end), place)
    return None


def _of_named_row(judged: Judgement, sentence: str, grid: Grid, own: int, language: str) -> Judgement:
    """Return the judgement; open where the claim has no word of its row and other rows have numbers too."""
    label, claim = grid.words_of_row(own), tokens_of(sentence, language)
    bounds = [t for t in label if t.quantity]
    named = any(same(token, wanted) for token in claim for wanted in label)
    kept = all(any(same(token, wanted) for token in claim) for wanted in bounds)
    rivals = [
        r for r, cells in enumerate(grid.rows) if r != own and any(grid.quantity(r, c) for c in grid.columns)
    ]
    if not label or not rivals or (named and kept):
        return judged
    return replace(judged, outcome="open", unchecked=("The claim does not name this row.",))


def _of_unknown_unit(
    sentence: str, unit: SourceUnit, around: Sequence[SourceUnit], language: str
) -> list[Token]:
    """Return the claim's amounts in a unit that is neither in the passage nor above it; only digits agree."""
    amounts = [token for token in tokens_of(sentence, language) if token.quantity and token.quantity.unit]
    if not amounts:
        return []
    over = "\n".join([unit.text, *heads_of(unit), *_lines_over(unit, around)])
    known = _units_of(over, language)
    counted = {q.unit for q in quantities_in(over, language) if q.dimension == "money"}
    return [
        token
        for token in amounts
        if token.quantity
        and token.quantity.dimension not in ("ratio", "points")
        and token.quantity.unit
        not in (counted or {token.quantity.unit} if token.quantity.dimension == "money" else known)
    ]


@lru_cache(maxsize=1024)
def _units_of(text: str, language: str) -> frozenset[str]:
    """Return the symbols of all units a text names, with or without a number."""
    at_words = re.finditer(r"(?<![^\W\d_])[^\W\d_]|[%°]", text)
    found = (unit_at(text, match.start(), language) for match in at_words)
    return frozenset(unit[0] for unit in found if unit)


def words_left(
    sentence: str, unit: SourceUnit, around: Sequence[SourceUnit], language: str, found: ValueSupport
) -> list[Token]:
    """Return the words of the claim that are neither in the unit nor above it."""
    texts = [unit.text, *heads_of(unit), *_lines_over(unit, around)]
    above = [token for text in texts for token in tokens_of(text, language)]
    stems = {token.stem for token in above}
    negative = any(place.printed.number < 0 for place in found.places)
    names = names_in_topics([*unit.section_path, unit.title])
    values = values_in(sentence)
    return [
        token
        for token in with_names(tokens_of(sentence, language), names)
        if token.content
        and token.word not in names
        and not (token.quantity and any(v.start < token.end and token.start < v.end for v in values))
        and (bool(token.quantity) or token.stem not in stems)
        and not any(same(token, other) for other in above)
        and not (negative and FALLING.search(token.word))
    ]


def _lines_over(unit: SourceUnit, around: Sequence[SourceUnit]) -> list[str]:
    """Return headings, captions and short lines of the page, and the line before a row without a label."""
    lines = [
        other.text
        for other in around
        if other.type in ("heading", "caption")
        or (other.char_start < unit.char_start and len(other.text) < SHORT_LINE and other.type != "table")
        or (other.table is not None and other.table.header)
    ]
    if not re.search(r"[^\W\d_]{3}", unit.text):
        before = [other for other in around if other.char_start < unit.char_start]
        lines += [max(before, key=lambda other: other.char_start).text] if before else []
    return lines


def with_conflicts_as_written(judged: Judgement, sentence: str, unit: SourceUnit) -> Judgement:
    """Return the judgement with its conflicts' words as written, and spans in the page's text."""
    return replace(judged, conflicts=tuple(_as_written(c, sentence, unit) for c in judged.conflicts))


def _as_written(conflict: Conflict, sentence: str, unit: SourceUnit) -> Conflict:
    claimed, held = sentence[slice(*conflict.claim_span)], unit.text[slice(*conflict.source_span)]
    start, end = (place + unit.char_start for place in conflict.source_span)
    return replace(
        conflict,
        claim=claimed if claimed.lower() == conflict.claim.lower() else conflict.claim,
        source=held if held.lower() == conflict.source.lower() else conflict.source,
        source_span=(start, end) if conflict.source else conflict.source_span,
    )
