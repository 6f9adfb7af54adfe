"""A question as it stands alone: follow-ups carry over what the conversation is about."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence

from chat.answers.without_model.question import analyse
from chat.naming import YEAR, names_in
from chat.prompting import Prompt, Turn
from chat.providers.base import Provider, TextDelta
from chat.providers.patience import Limits, read
from retrieval.analysis import terms_of
from retrieval.providers.errors import ProviderError
from retrieval.questions import readable

REWRITE = """\
Rewrite the person's last question so that it can be understood without the conversation. Keep its language, \
put in the names, years and terms it refers to, and add nothing else. Reply with the question alone."""
LONGEST_REWRITE = 600
FEW_WORDS = 6  # a question this short leans on what was said before for names and years
OWN_WORDS = 2  # with fewer words of its own it asks the last question again: of another year, of another part

_REFERS = re.compile(
    r"\b(it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|there|then|same|former|latter|"
    r"previous|above|also|instead|again|more|another|others?)\b|"
    r"^\s*(and|or|but|so|why|how come|what about|how about|what else|compared)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w&'’-]*|\d[\d.,]*")
_COMMON = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "on",
        "at",
        "for",
        "to",
        "from",
        "by",
        "with",
        "and",
        "or",
        "but",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "can",
        "could",
        "would",
        "should",
        "will",
        "what",
        "which",
        "who",
        "whom",
        "whose",
        "when",
        "where",
        "why",
        "how",
        "much",
        "many",
        "give",
        "tell",
        "show",
        "me",
        "please",
        "about",
        "it",
        "its",
        "they",
        "their",
        "this",
        "that",
        "these",
        "those",
        "there",
        "then",
        "same",
        "also",
        "again",
        "more",
        "else",
        "year",
        "years",
    ]
)


def standalone_question(
    question: str, history: Sequence[Turn], provider: Provider, limits: Limits, cancelled: threading.Event
) -> str:
    """The question with what it refers to. A failing model only costs its rewriting."""
    if not history:
        return question
    if provider.rewrites:
        try:
            return rewritten(question, history, provider, limits, cancelled) or carried_over(
                question, history
            )
        except ProviderError:
            pass
    return carried_over(question, history)


def rewritten(
    question: str, history: Sequence[Turn], provider: Provider, limits: Limits, cancelled: threading.Event
) -> str:
    """The model's rewriting; '' when it is no single short line. Raises ProviderError."""
    prompt = Prompt(question, history=tuple(history), system=REWRITE)
    quick = Limits(min(limits.silence, 20), 30, 1, 0)
    pieces = [
        delta.text for delta in read(provider, prompt, quick, cancelled) if isinstance(delta, TextDelta)
    ]
    said = "".join(pieces).strip().strip('"“”')
    line = readable(said) if "\n" not in said and len(said) <= LONGEST_REWRITE else ""
    return line if terms_of(line) else ""


def carried_over(question: str, history: Sequence[Turn]) -> str:
    """Without a model: a question that leans on the last one gets the names, years and terms it lacks."""
    asked = [turn.text for turn in history if turn.role == "user"]
    if not asked or not leans(question) or analyse(question).topic:
        return question  # what asks for the whole document leans on nothing
    before = asked[-1]
    carried = [name for name in names_in(before) if name.lower() not in question.lower()]
    if not YEAR.search(question):
        carried += [year for year in YEAR.findall(before) if year not in carried]
    own = [word for word in content_words(question) if not YEAR.fullmatch(word)]
    if len(own) < OWN_WORDS or _REFERS.search(question):
        known = {word.lower() for word in content_words(question)} | {
            word.lower() for name in carried for word in _WORD.findall(name)
        }
        carried += [
            word for word in content_words(before) if word.lower() not in known and not YEAR.fullmatch(word)
        ]
    return f"{question.rstrip()} ({' '.join(dict.fromkeys(carried))})" if carried else question


def leans(question: str) -> bool:
    """Whether a question cannot stand alone: it refers back, or says too little."""
    return bool(_REFERS.search(question)) or len(_WORD.findall(question)) <= FEW_WORDS


def content_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word.lower() not in _COMMON]
