"""First questions for a document, from its own headings and tables: nobody likes an empty box."""

from __future__ import annotations

import re
from collections.abc import Iterable

from django.utils.translation import gettext as _

from documents.models import CitationUnit, Document

MOST = 4
SAYS_NOTHING = re.compile(
    r"^(table of contents|contents|index|part [ivx\d]+|item \d+\w?\.?|signatures?|references|bibliography|"
    r"appendix.*|exhibits?.*|page \d+|notes?|acknowledg.*|abstract|figure.*|table \d+.*)$",
    re.IGNORECASE,
)
NUMBERING = re.compile(
    r"^\s*((item|part|section|chapter|note|article)\s+)?([\dIVXivx]+[.):]?)+[\w]?[.):]?\s+", re.I
)


def suggested_questions(document: Document) -> list[str]:
    """Up to four: those it came with, else of headings spread over it; none where no heading tells."""
    if given := document.metadata.get("questions"):
        return list(given)
    headings = CitationUnit.objects.filter(document=document, unit_type=CitationUnit.Type.HEADING)
    topics = telling(headings.order_by("position").values_list("content", flat=True)[:400])
    return [question_about(topic) for topic in spread(topics, MOST)]


def telling(headings: Iterable[str]) -> list[str]:
    """Headings that name a subject, without their numbers, each once."""
    topics: dict[str, str] = {}
    for heading in headings:
        topic = NUMBERING.sub("", " ".join(heading.split())).strip(" .:–—-")
        if 6 <= len(topic) <= 70 and not SAYS_NOTHING.match(topic) and re.search(r"[^\W\d_]{4}", topic):
            topics.setdefault(topic.casefold(), topic)
    return list(topics.values())


def spread(topics: list[str], most: int) -> list[str]:
    """At most ``most`` of them, evenly from beginning to end."""
    if len(topics) <= most:
        return topics
    return [topics[round(index * (len(topics) - 1) / (most - 1))] for index in range(most)]


def question_about(topic: str) -> str:
    if topic.endswith("?"):
        return topic
    return _("What does the document say about “%(topic)s”?") % {"topic": topic}
