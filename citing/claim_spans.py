"""Split an answer into claims, find uncited ones, and match these with units."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from citing.claims import VERIFIED, Claim, SourceUnit, Verification
from citing.marker_decoder import stored_marks, without_markers
from citing.verdict import verify
from text.semantics import detected_language
from text.sentences import Span, sentence_spans
from text.terms import terms_of as stems_of

_LINE_HEAD = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+|#{1,6}[ \t]+|>[ \t]?|\|[ \t]?)*")
_MARKUP = re.compile(r"\\([!-/:-@\[-`{-~])|[*_`~|]+")
_SIGNS = "*_`"  # of Markdown, around words
_NO_SIGNS = str.maketrans(_SIGNS, " " * len(_SIGNS))
_CODE = re.compile(r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TABLE_HEAD = re.compile(r"[ \t|]*\n[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)+$", re.MULTILINE)
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]+")
_ADMITS = re.compile(
    r"\b(do(es)? not (say|answer|mention|contain|state|provide|specify)|no information|not stated"
    r"|cannot be answered)\b",
    re.IGNORECASE,
)
# Sentences to the reader about the answer itself.
_REMARK = re.compile(
    r"(?:(?:sure|certainly|of course|gerne|natürlich|bien sûr|por supuesto)\b[^.!]{0,40}"
    r"|(?:here|below)\s+(?:is|are|'s|you)\b[^.:!]{0,80}"
    r"|(?:i|we)\s+hope\b.{0,60}|(?:please\s+)?let\s+me\s+know\b.{0,90}|(?:please\s+)?feel\s+free\b.{0,90}"
    r"|if\s+you\s+(?:have|need|would\s+like|want)\s+(?:any|more|further|additional|help|to\s+know)\b.{0,90}"
    r"|(?:ich\s+hoffe|(?:wenn|falls)\s+sie\s+(?:noch|weitere|mehr))\b.{0,90}"
    r"|hier\s+(?:ist|sind|finden\s+sie)\b[^.:!]{0,80}"
    r"|voici\b[^.:!]{0,80}|(?:j'espère|n'hésitez)\b.{0,90}"
    r"|(?:espero\s+que|aquí\s+(?:está|tiene))\b[^:]{0,90})[.!]?",
    re.IGNORECASE,
)
_OF_QUESTIONS = (
    "asked question answer gefragt Frage Antwort demandé question réponse preguntó pregunta respuesta"
)
FEWEST_WORDS = 4  # minimum of a sentence that makes a claim without a number


def sentences(text: str) -> Iterator[Span]:
    """Yield the sentences of Markdown without line heads (bullets, numbers, ``#``). Code blocks have none."""
    blocked = [match.span() for match in _CODE.finditer(text)]
    language = detected_language(text, "en")
    at = 0
    for line in text.splitlines(keepends=True):
        if not any(start <= at < end for start, end in blocked):
            yield from _of_line(text, at, at + len(line), language)
        at += len(line)


def _of_line(text: str, start: int, end: int, language: str) -> Iterator[Span]:
    """Yield the sentences of a line, each with the Markdown signs right before or after it."""
    start = _LINE_HEAD.match(text, start, end).end()  # type: ignore[union-attr]
    words = text[start:end].translate(_NO_SIGNS)
    for span in sentence_spans(words, language):
        first, last = start + span.start, start + span.end
        while first > start and text[first - 1] in _SIGNS:
            first -= 1
        while last < end and text[last] in _SIGNS:
            last += 1
        yield Span(first, last)


def claim_before(content: str, quote: str = "") -> Span:
    """Return the span of the claim that a marker at the end of ``content`` cites, markers included.

    It is the last sentence, or the part of it after the last marker; with no word since that marker, both
    cite one claim. A line that is only the ``quote`` is one claim, whatever full stops it has.
    """
    start = _LINE_HEAD.match(content, content.rfind("\n") + 1).end()  # type: ignore[union-attr]
    if quote and plain(content[start:]) == plain(quote):
        return Span(start, len(content))
    tail = max(0, len(content) - 3000)
    found = list(sentences(content[tail:]))
    if not found:
        return Span(len(content), len(content))
    last = _with_words(content[tail:], found)
    start, end = last.start + tail, len(content)
    marks = [mark for mark in stored_marks(content) if mark.start >= start]
    for mark in reversed(marks):
        text_since = without_markers(content[mark.end : end])
        if _WORD.search(text_since) or _DIGIT.search(text_since):
            return Span(mark.end, end)
    return Span(start, end)


def _with_words(text: str, found: list[Span]) -> Span:
    """Return the last sentence with words; a marker may be alone after the full stop."""
    for span in reversed(found):
        if _WORD.search(without_markers(text[span.start : span.end])):
            return span
    return found[-1]


def plain(text: str) -> str:
    """Return a claim without markers and Markdown signs, in one line."""
    return " ".join(_MARKUP.sub(r"\1", without_markers(text)).split()).strip(" ,;–—")


def uncited_claims(content: str, cited: list[Span], question: str = "") -> list[Span]:
    """Return the sentences with a claim that are in no cited claim.

    ``question``: a sentence that only repeats it claims nothing; '' of a question for yes or no, which
    such a sentence answers.
    """
    return [
        span
        for span in sentences(content)
        if claims_something(content[span.start : span.end], content[: span.start])
        and not _repeats(content[span.start : span.end], question)
        and not _TABLE_HEAD.match(content, span.end)
        and not any(claim.start < span.end and span.start < claim.end for claim in cited)
    ]


def claims_something(sentence: str, before: str = "") -> bool:
    """Return whether a sentence is no heading, question, remark, lead-in or admission of ignorance."""
    text = plain(sentence)
    line = before.rpartition("\n")[2].lstrip()
    if line.startswith("#") or text.endswith((":", "?")) or _ADMITS.search(text):
        return False
    if _REMARK.fullmatch(text) and not _DIGIT.search(text):
        return False
    is_bold_heading = sentence.startswith("**") and sentence.endswith("**") and not text.endswith(".")
    if is_bold_heading or set(sentence) <= set("|-: "):
        return False
    return len(_WORD.findall(text)) >= FEWEST_WORDS or bool(_DIGIT.search(text) and _WORD.search(text))


def _repeats(sentence: str, question: str) -> bool:
    """Return whether all content words are those of the question: "You asked what the revenue is."."""
    if not question:
        return False
    language = detected_language(question, "en")
    said = set(stems_of(plain(sentence), language))
    return said <= {*stems_of(question, language), *stems_of(_OF_QUESTIONS, language)}


# Sentences that cite nothing, matched against the passages the model was shown.
#
# They are stored as matched by Pincite, not by the model.

CANDIDATES = 4  # passages a sentence is verified against
LEAST_OVERLAP = 0.3  # share of the sentence's words that a passage must have
FOUND_OVERLAP = 0.6  # share of its stems, where rules cannot tell whether the passage says the same
FEWEST_SHARED = 3  # stems
SHARED_LETTERS = 80  # in a row: such a sentence was taken from the page
LONGEST_COPIED = 4000  # letters of a sentence that are looked for
_LETTERS = re.compile(r"[^\W_]+")
_WORDS = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]{3,}")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]")

Neighbours = Callable[[SourceUnit], Sequence[SourceUnit]]


class PassageMatcher:
    """Find the passage that supports a sentence."""

    def __init__(self, shown: Sequence[SourceUnit], neighbours: Neighbours, question: str = "") -> None:
        self._question = question
        self._shown = [(unit, terms_of(unit.text)) for unit in shown]
        self._neighbours = neighbours

    def match(self, sentence: str, first: Iterable[SourceUnit] = ()) -> Verification | None:
        """Return the verification by the passage that the sentence rests on, ``first`` before others.

        That is one that supports it; else one with its numbers and most of its words, which is only found;
        else one with ``SHARED_LETTERS`` of it in a row, whatever the verdict; else None.
        """
        alike: Verification | None = None
        for unit in {unit.id: unit for unit in [*first, *self._candidates(sentence)]}.values():
            found = self._verified(sentence, unit)
            if found.verdict in VERIFIED and found.verdict != "moved":
                return found
            if alike is None and found.verdict == "found" and shares_most(sentence, found.unit):
                alike = found
        if alike is None and (source := self._copied(sentence)):
            return self._verified(sentence, source)
        return alike

    def _verified(self, sentence: str, unit: SourceUnit) -> Verification:
        return verify(Claim(sentence, question=self._question), unit, self._neighbours(unit))

    def _copied(self, sentence: str) -> SourceUnit | None:
        """Return the unit, shown or on the page of one, that has ``SHARED_LETTERS`` of it in a row."""
        letters = _letters(sentence)[:LONGEST_COPIED]
        half = SHARED_LETTERS // 2  # each such run holds a whole block of half its length
        blocks = [letters[start : start + half] for start in range(0, len(letters) - half + 1, half)]
        runs = [letters[start : start + SHARED_LETTERS] for start in range(len(letters) - SHARED_LETTERS + 1)]
        if not runs:
            return None
        shown = [unit for unit, _ in self._shown]
        beside = (other for unit in shown for other in self._neighbours(unit))
        for unit in {unit.id: unit for unit in chain(shown, beside)}.values():
            text = _letters(unit.text)
            if any(block in text for block in blocks) and any(run in text for run in runs):
                return unit
        return None

    def _candidates(self, sentence: str) -> list[SourceUnit]:
        """Return the passages with most of the sentence's words; ties by rank."""
        wanted = terms_of(sentence)
        if not wanted:
            return []
        shares = [(len(wanted & terms) / len(wanted), unit) for unit, terms in self._shown]
        best = sorted((pair for pair in shares if pair[0] >= LEAST_OVERLAP), key=lambda pair: -pair[0])
        return [unit for _, unit in best[:CANDIDATES]]


def shares_most(sentence: str, unit: SourceUnit) -> bool:
    """Return whether the unit has the sentence's numbers and most of its stems."""
    language = unit.language or "en"
    said, text = set(stems_of(sentence, language)), set(stems_of(unit.text, language))
    shared = said & text
    if len(shared) < FEWEST_SHARED or len(shared) < FOUND_OVERLAP * len(said):
        return False
    return {term for term in said if _DIGIT.search(term)} <= text


def _letters(text: str) -> str:
    return "".join(_LETTERS.findall(text.casefold()))


def terms_of(text: str) -> set[str]:
    """Return words and numbers; pairs of characters in scripts without blanks."""
    folded = text.casefold()
    unspaced = {folded[match.start() : match.start() + 2] for match in _UNSPACED.finditer(folded)}
    return set(_WORDS.findall(_UNSPACED.sub(" ", folded))) | unspaced
