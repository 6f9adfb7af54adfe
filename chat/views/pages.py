"""Pages of conversations and of providers, and suggested questions about a document or a library."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.paginator import Paginator
from django.db.models import Count, Min, Q, Sum
from django.db.models.functions import Length
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from chat.answers.message_presenters import exchanges_of, read_sources
from chat.answers.prompt import looks_like_injection
from chat.answers.without_model.answer import answer_without_model
from chat.answers.without_model.evidence import find_evidence, topic_units
from chat.answers.without_model.question import Topic, language_of, message
from chat.models import Conversation, Message
from chat.providers.base import NativeCitation, TextDelta
from chat.providers.registry import cards, check_health, choices, provider_names
from chat.views.questions import SEARCH_KINDS
from chat.views.visible import visible_conversation, visible_document
from documents.models import CitationUnit, Collection, Document
from documents.models.document import DocumentQuerySet
from retrieval.query.scope import Scope
from retrieval.views import spaces_context

CONVERSATIONS_A_PAGE = 40
MOST_ASKED = 500  # documents of one conversation


@require_safe
@login_required
def panel(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the chat panel of a document: its latest conversation, or a new one."""
    document = visible_document(request, pk)
    found = Conversation.objects.visible_to(request.user).filter(
        documents=document, scope=Conversation.Scope.DOCUMENTS
    )
    if chosen := request.GET.get("citation", ""):
        found = Conversation.objects.visible_to(request.user).filter(messages__citations__pk=as_uuid(chosen))
    conversation = None if "new" in request.GET else found.order_by("-updated_at").first()
    exchanges = exchanges_of(conversation) if conversation else []
    context = {
        "document": document,
        "conversation": conversation,
        "exchanges": exchanges,
        "silent": not exchanges and why_silent(Document.objects.filter(pk=pk)),
        "suggestions": [] if exchanges else direct_questions(document, request.user),
        "providers": choices(),
        "search_kinds": SEARCH_KINDS,
    }
    return render(request, "chat/_panel.html", context)


@require_safe
@login_required
def conversations(request: HttpRequest) -> HttpResponse:
    words = request.GET.get("q", "").strip()[:200]
    found = Conversation.objects.visible_to(request.user).prefetch_related("documents")
    for word in words.split():
        found = found.filter(Q(title__icontains=word) | Q(messages__content__icontains=word))
    found = found.annotate(
        questions=Count("messages", filter=Q(messages__role=Message.Role.USER), distinct=True)
    )
    page = Paginator(found.distinct().order_by("-updated_at"), CONVERSATIONS_A_PAGE).get_page(
        request.GET.get("page")
    )
    return render(
        request, "chat/conversations.html", {"section": "conversations", "page": page, "words": words}
    )


@require_safe
@login_required
def conversation(request: HttpRequest, pk: UUID | None = None) -> HttpResponse:
    """Show a conversation on its own page; without an id, a new one.

    Its scope is each ``?document=``, or ``?collection=``, or the whole library.
    """
    shown = visible_conversation(request, pk) if pk else None
    library = Document.objects.visible_to(request.user)
    asked: list[Document] = []
    collection = None
    if not shown and (ids := [as_uuid(text) for text in request.GET.getlist("document")[:MOST_ASKED]]):
        library = library.filter(pk__in=[pk for pk in ids if pk])
        asked = list(library)
        if not asked:
            raise Http404  # otherwise the scope would be the whole library
    elif not shown and (chosen := as_uuid(request.GET.get("collection", ""))):
        collection = get_object_or_404(Collection.objects.visible_to(request.user), pk=chosen)
        library = library.filter(collections=collection)
    context = {
        "section": "conversations",
        "conversation": shown,
        "exchanges": exchanges_of(shown) if shown else [],
        "silent": not shown and why_silent(library),
        "suggestions": [] if shown else library_questions(library, partial(is_direct, user=request.user)),
        "documents": list(shown.documents.visible_to(request.user)) if shown else asked,  # type: ignore[attr-defined]
        "documents_asked": asked,
        "collection": collection,
        "providers": choices(),
        "search_kinds": SEARCH_KINDS,
    }
    return render(request, "chat/conversation.html", context)


@require_safe
@login_required
def sources(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Show an answer's citations, including outdated ones, and the other passages in its prompt."""
    message = get_object_or_404(Message.objects.visible_to(request.user), pk=message_id)
    context = {
        "sources": read_sources(message, request.user),
        "gone": message.citations.filter(unit=None).order_by("number", "position"),
    }
    return render(request, "chat/_sources.html", context)


@require_POST
@login_required
def rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = visible_conversation(request, pk)
    if title := request.POST.get("title", "").strip()[:200]:
        shown.title = title
        shown.save(update_fields=["title"])
    return redirect("conversations")


@require_POST
@login_required
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Soft-delete the conversation and offer to undo it."""
    shown = visible_conversation(request, pk)
    shown.hide()
    return render(request, "chat/_deleted.html", {"conversation": shown})


@require_POST
@login_required
def restore(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(Conversation, pk=pk, owner=request.user).unhide()
    return redirect("conversations")


def why_silent(documents: DocumentQuerySet) -> str:
    """Return why no document can be asked: "none", "working" or "wordless"; '' when one can."""
    if documents.searchable().exists():
        return ""
    if not documents.exists():
        return "none"
    return "working" if documents.working().exists() else "wordless"


def as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


# --- The page of providers: configured models and health checks ---


@require_safe
@login_required
def providers(request: HttpRequest) -> HttpResponse:
    return render(request, "chat/providers.html", {"cards": cards(), **spaces_context()})


@require_POST
@login_required
def test(request: HttpRequest, name: str) -> HttpResponse:
    """Check a provider's health; return a fragment with the result."""
    if name not in provider_names():
        raise Http404
    return render(request, "chat/_health.html", {"health": check_health(name)})


MOST = 4
KEPT_SECONDS = 24 * 3600
LOOKED_AT = 8  # newest documents of a library
ENOUGH_PROSE = 250  # characters of a section; less follows a form's name, an address or a cover's caption
SAYS_NOTHING = re.compile(
    r"^((table of )?contents|index|(part|article) \w+|item \d+\w?|power of attorney|certifications?|glossary|"
    r"references|bibliography|page \d+|notes?|abstract|keywords|((executive|news) )?summary|overview|general|"
    r"introduction|conclusions?|methodology|ablation stud(y|ies)|limitations|related work|"
    r"description|(current|annual|quarterly) report|form [\w-]+|"
    r"(news|press|for immediate) release|"
    r"(this )?(agreement|contract|notice|certificate|order|letter|memorandum)|topics|what.?s new|"
    r"(appendix|exhibits?|acknowledg|figure|table \d|about\b|"
    r"safe harbor).*|.*(\bcontacts?\b|signatures?\b|forward.looking|\bguide|\bmanual|handbook).*|"
    r".*(\bagreement|\bcontract))$",
    re.IGNORECASE,
)
NUMBERING = re.compile(
    r"^\s*((item|part|section|chapter|note|article)\s+)?"
    r"(([\dIVXivx]+[.):]?)+[\w]?[.):]?|[A-Z](\.\d+)+\.?)(\s*[—–]\s*|\s+)",
    re.I,
)
ADDRESS = re.compile(r"\d{5}|^\d+ .*,")  # a postcode, house number or file number


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, and the number of characters of prose directly under it."""

    heading: str
    prose: int


def suggested_questions(document: Document) -> list[str]:
    """Return up to four questions: stored ones, else about informative sections throughout the document."""
    if given := document.metadata.get("questions"):
        return list(given)
    topics = spread(informative(sections_of(document), document.title), MOST)
    return [question_about(topic) for topic in topics]


def direct_questions(document: Document, user: User) -> list[str]:
    """Return up to four questions that the answerer without a model answers directly."""
    asked = [
        _("What is this document about?"),
        *topic_questions(document)[:1],
        *suggested_questions(document),
    ]
    return list(
        itertools.islice((question for question in asked if is_direct(question, document, user)), MOST)
    )


def topic_questions(document: Document) -> list[str]:
    """Questions on the whole document that a section of its own answers."""
    asked: dict[Topic, str] = {
        "findings": _("What are the main findings?"),
        "risks": _("What are the main risks?"),
        "obligations": _("What are the main obligations?"),
        "steps": _("What are the main steps?"),
    }
    return [question for topic, question in asked.items() if topic_units(topic, [document.pk], "en")]


def is_direct(question: str, document: Document, user: User) -> bool:
    """Return whether the document answers the question; cached until it is indexed again."""
    asked = sha256(f"{document.pk} {document.indexed_at} {question}".encode()).hexdigest()
    key = f"direct-answer-{asked}"
    if (known := cache.get(key)) is None:
        known = gives_answer(question, document, user)
        cache.set(key, known, KEPT_SECONDS)
    return bool(known)


def gives_answer(question: str, document: Document, user: User) -> bool:
    """Return whether the answer without a model is direct and has a citation."""
    found = find_evidence(question, Scope(user, document_ids=(document.pk,)))
    deltas = list(answer_without_model(question, found.passages, found.notes))
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    refusal = message(language_of(question), "none").rstrip(".。")
    return any(isinstance(delta, NativeCitation) for delta in deltas) and not text.startswith(refusal)


def library_questions(
    documents: DocumentQuerySet, fits: Callable[[str, Document], bool] = lambda question, document: True
) -> list[str]:
    """Return up to four questions, one per document, about the longest section of the newest documents."""
    newest = documents.searchable().order_by("-created_at")[:LOOKED_AT]
    asked = ((question_to(document), document) for document in newest)
    fitting = (question for question, document in asked if question and fits(question, document))
    return list(itertools.islice(fitting, MOST))


def question_to(document: Document) -> str:
    """Return a question to the library that this document answers; '' without an informative section."""
    if given := document.metadata.get("questions"):
        return str(given[0])
    topics = spread(informative(sections_of(document), document.title), 1)
    named = {"title": document.title, "topic": "".join(topics)}
    asks = bool(topics) and not looks_like_injection(document.title)
    return _("What does “%(title)s” say about “%(topic)s”?") % named if asks else ""


def sections_of(document: Document) -> list[Section]:
    """Return the document's sections in reading order."""
    prose = CitationUnit.objects.filter(
        document=document, unit_type__in=(CitationUnit.Type.PROSE, CitationUnit.Type.LIST)
    )
    rows = (
        prose.exclude(section_path=[])
        .values("section_path")
        .annotate(characters=Sum(Length("content")), first=Min("position"))
        .order_by("first")
    )
    return [Section(row["section_path"][-1], row["characters"]) for row in rows]


def informative(sections: Iterable[Section], title: str = "") -> list[Section]:
    """Return sections with a specific heading and enough text, without numbering and duplicates."""
    topics: dict[str, Section] = {}
    for section in sections:
        heading = " ".join(section.heading.split())
        topic = NUMBERING.sub("", heading).strip(" .:–—-[]")
        if (
            section.prose >= ENOUGH_PROSE
            and 6 <= len(topic) <= 70
            and re.search(r"[^\W\d_]{4}", topic)
            and not SAYS_NOTHING.match(topic)
            and not ADDRESS.search(heading)
            and not words(topic) <= words(title)
            and not looks_like_injection(heading)
        ):
            topics.setdefault(topic.casefold(), Section(topic, section.prose))
    return list(topics.values())


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def spread(topics: list[Section], most: int) -> list[str]:
    """Divide the sections into ``most`` equal parts, and return the heading of the longest in each."""
    bounds = [round(part * len(topics) / most) for part in range(most + 1)]
    stretches = [topics[start:end] for start, end in itertools.pairwise(bounds)]
    return [max(stretch, key=lambda topic: topic.prose).heading for stretch in stretches if stretch]


def question_about(topic: str) -> str:
    if topic.endswith("?"):
        return topic
    return _("What does the document say about “%(topic)s”?") % {"topic": topic}
