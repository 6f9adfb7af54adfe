"""Conversations in the browser: questions, the stream of their answers, and the pages that show them.

htmx gets the exchange as a fragment; scripts get JSON (see ``chat.urls``).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AnonymousUser, User
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    JsonResponse,
    QueryDict,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from rest_framework.serializers import ValidationError

from chat.answers import question_commands
from chat.answers.event_stream import follow, from_database
from chat.answers.events import as_server_sent
from chat.answers.message_presenters import exchange_of, exchanges_of, read_sources
from chat.answers.question_commands import InvalidOperation
from chat.answers.runner import cancel_live, start_next
from chat.answers.suggested_questions import direct_questions, library_questions
from chat.models import AskedScope, Conversation, Message
from chat.providers.catalogue import PROVIDERS
from chat.providers.registry import choices
from chat.views import visible_answer, visible_conversation, visible_document
from documents.api.common.callers import rated
from documents.files.page_pictures import PictureFailed, region_picture
from documents.labels import labels_in_library
from documents.models import Collection, Document
from documents.models.document import DocumentQuerySet
from documents.models.library import uuid_or_none
from retrieval.api import RagConfigSerializer
from retrieval.results import RagConfig, cleared_switches
from text.numbers import whole_number

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def refusals_as(status: int) -> Callable[[View[P]], View[P]]:
    """Decorate a view of POSTs by signed-in users: convert InvalidOperation to a response with ``status``."""

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def decorated(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            try:
                return view(request, *args, **kwargs)
            except InvalidOperation as reason:
                return JsonResponse({"error": str(reason)}, status=status)

        return require_POST(decorated)

    return decorate


@rated("ask")
@refusals_as(400)
def ask_first(request: HttpRequest) -> HttpResponse:
    """Ask a question in the conversation that the form names, or in a new one."""
    if known := request.POST.get("conversation"):
        return asked(request, visible_conversation(request, uuid_or_refusal(known)))
    question, provider = (
        question_commands.validated_question(request.POST.get("question", "")),
        chosen_provider(request),
    )
    region = question_commands.validated_region(request.user, request.POST.get("region", ""))
    scope = chosen_scope(request)
    conversation = question_commands.start_conversation(
        request.user,
        visible_documents(request),
        provider=provider or "",
        model=request.POST.get("model", "")[:120],
        rag_config=(chosen_search(request) or RagConfig()).stored(),
    )
    if scope is not None:
        conversation.ask_in(scope)
    return started(request, question_commands.ask(conversation, question, region=region).answer)


@rated("ask")
@refusals_as(400)
def ask(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Ask a question in a conversation."""
    return asked(request, visible_conversation(request, conversation_id))


@refusals_as(409)
def cancel(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Stop an answer; its text so far is kept."""
    answer = visible_answer(request, message_id)
    question_commands.cancel(answer)
    cancel_live(answer.pk)
    return JsonResponse({"answer": str(answer.pk)})


@rated("ask")
@refusals_as(409)
def retry(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Write an answer again, by another provider if one is chosen."""
    answer = visible_answer(request, message_id)
    answer.conversation.choose(chosen_provider(request))
    question_commands.retry(answer, alone="alone" in request.POST)
    return started(request, answer)


@rated("ask")
@refusals_as(409)
def continue_(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Continue an incomplete answer."""
    answer = visible_answer(request, message_id)
    question_commands.continue_answer(answer)
    return started(request, answer)


def asked(request: HttpRequest, conversation: Conversation) -> HttpResponse:
    region = question_commands.validated_region(conversation.owner, request.POST.get("region", ""))
    conversation.choose(chosen_provider(request))
    if (scope := chosen_scope(request)) is not None:
        conversation.ask_in(scope)
    if (config := chosen_search(request)) is not None:
        conversation.search_by(config)
    question = request.POST.get("question", "")
    return started(request, question_commands.ask(conversation, question, region=region).answer)


@require_safe
def region(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Return the part of a page that a question refers to, as PNG."""
    shown = get_object_or_404(Message.objects.visible_to(request.user), pk=message_id).region
    if shown is None:
        raise Http404
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=shown.document)
    try:
        picture = region_picture(document, shown.page, shown.box)
    except PictureFailed:
        raise Http404 from None
    response = HttpResponse(picture, content_type="image/png")
    response["Cache-Control"] = "private, max-age=3600"
    return response


def started(request: HttpRequest, answer: Message) -> HttpResponse:
    """Start the answer, and return the address of its stream."""
    start_next(answer.conversation_id)
    answer.refresh_from_db()
    if request.headers.get("HX-Request"):
        return exchange_started(request, answer)
    ids = {"conversation": answer.conversation_id, "question": answer.question.pk}
    stream = reverse("answer-stream", args=[answer.pk])
    return JsonResponse(ids | {"answer": answer.pk, "stream": stream}, status=201)


def exchange_started(request: HttpRequest, answer: Message) -> HttpResponse:
    """Return the exchange as a fragment; on a conversation's own page also its title and URL."""
    own_page = "/conversations/" in request.headers.get("HX-Current-URL", "")
    context = {"exchange": exchange_of(answer), "started": True, "own_page": own_page}
    response = render(request, "chat/_exchange.html", context)
    if own_page:
        response["HX-Replace-Url"] = reverse("conversation", args=[answer.conversation_id])
    return response


def chosen_provider(request: HttpRequest) -> str | None:
    """Return the provider named in the form ('' is the server's default); None when none is named."""
    chosen = request.POST.get("provider")
    if chosen and chosen not in PROVIDERS:
        raise InvalidOperation("There is no such provider.")
    return chosen


def visible_documents(request: HttpRequest) -> list[Document]:
    """Return the documents named in the form. Raises InvalidOperation for one the user cannot see."""
    return documents_named(request, [text for text in request.POST.getlist("document") if text])


def documents_named(request: HttpRequest, texts: list[str]) -> list[Document]:
    ids = {uuid_or_refusal(text) for text in texts}
    documents = list(Document.objects.visible_to(request.user).filter(pk__in=ids))
    if len(documents) < len(ids):
        raise InvalidOperation("A document does not exist or you cannot access it.")
    return documents


def chosen_scope(request: HttpRequest) -> AskedScope | None:
    """Return the scope that the form names: "library", "documents" (those of the conversation), or
    "document" or "collection" with an id after a colon. None when it names none. Raises InvalidOperation.
    """
    kind, _, text = request.POST.get("scope", "").partition(":")
    match kind:
        case "":
            return None
        case "library" | "documents":
            return AskedScope(Conversation.ScopeKind(kind))
        case "document":
            return AskedScope(Conversation.ScopeKind.DOCUMENTS, documents_named(request, [text]))
        case "collection":
            return AskedScope(Conversation.ScopeKind.COLLECTION, collection=visible_collection(request, text))
        case _:
            raise InvalidOperation("There is no such scope.")


def visible_collection(request: HttpRequest, text: str) -> Collection:
    collection = Collection.objects.visible_to(request.user).filter(pk=uuid_or_refusal(text)).first()
    if collection is None:
        raise InvalidOperation("This collection does not exist or you cannot access it.")
    return collection


def uuid_or_refusal(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise InvalidOperation("Invalid id.") from None


# --- The event stream of an answer, over ASGI ---


@login_not_required
async def stream(request: HttpRequest, message_id: UUID) -> StreamingHttpResponse:
    """Stream the answer's events from ``Last-Event-ID`` (or ``?after=``) on; see ``chat.answers.events``."""
    user = await request.auser()
    await require_visible_answer(user, message_id)
    return event_stream(answer_events(message_id, last_event(request)))


async def require_visible_answer(user: User | AnonymousUser, message_id: UUID) -> None:
    """Check that the user may read the answer. Raises Http404."""
    answers = Message.objects.visible_to(user).filter(pk=message_id, role=Message.Role.ASSISTANT)
    if not await from_database(answers.exists):
        raise Http404


STILL_HERE = ": still here\n\n"  # a comment, so that no proxy closes a silent stream


def event_stream(events: AsyncIterator[str]) -> StreamingHttpResponse:
    """Return a stream of server-sent events. Callers check that the user may read the answer."""
    response = StreamingHttpResponse(events, content_type="text/event-stream")
    response["Cache-Control"] = "private, no-store, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


async def answer_events(message_id: UUID, after: int = 0) -> AsyncIterator[str]:
    # The request's thread used a connection to look up the session: release it while the model answers.
    await sync_to_async(close_connection)()
    yield "retry: 1000\n\n"
    async for event in follow(message_id, after):
        yield as_server_sent(*event) if event else STILL_HERE


def close_connection() -> None:
    connection.close()  # of this thread: ``connection`` is thread-local


def last_event(request: HttpRequest) -> int:
    """Return the number of the last event the client has seen; 0 for an invalid one."""
    number = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    return whole_number(number) or 0


# --- The search settings below the question box, as the form sends them ---

SEARCH_KINDS = (
    ("prose", "text"),
    ("table", "tables"),
    ("list", "lists"),
    ("code", "code"),
    ("caption", "captions"),
    ("footnote", "footnotes"),
    ("formula", "formulas"),
)
NUMBERS = ("year_from", "year_to", "page_from", "page_to")
LISTS = {"kind": "chunk_types", "headings": "sections", "tags": "tags", "authors": "authors"}


def chosen_search(request: HttpRequest) -> RagConfig | None:
    """Return the panel's settings, None where the form has no panel. Raises InvalidOperation."""
    form = request.POST
    if "search_panel" not in form:
        return None
    sent = RagConfigSerializer(data=sent_values(form), context={"request": request})
    try:
        sent.is_valid(raise_exception=True)
    except ValidationError as error:
        raise InvalidOperation(f"Search settings: {first_message(error.detail)}") from None
    return RagConfig.read(sent.validated_data)


def sent_values(form: QueryDict) -> dict[str, Any]:
    """Return the form's changed settings in the shape of the API."""
    filters: dict[str, Any] = {
        field: [text.strip()] for name, field in LISTS.items() if (text := form.get(name, "")).strip()
    }
    filters |= {name: as_number(text) for name in NUMBERS if (text := form.get(name, "").strip())}
    return {**switches(form), **depth(form), "filters": filters}


def switches(form: QueryDict) -> dict[str, bool]:
    """Return the changed switches: all are on unless cleared; compression is off unless ticked."""
    used = form.getlist("use")
    return cleared_switches(used) | ({"compression": True} if "compression" in used else {})


def depth(form: QueryDict) -> dict[str, Any]:
    found: dict[str, Any] = {"fts_level": level} if (level := form.get("fts_level", "")) else {}
    return found | ({"top_k": as_number(top_k)} if (top_k := form.get("top_k", "").strip()) else {})


def as_number(text: str) -> int | str:
    """Return the number; other text unchanged, for the serializer to refuse."""
    number = whole_number(text)
    return text if number is None else number


def first_message(detail: Any) -> str:
    """Return the first message of a tree of errors, with the field's name."""
    if isinstance(detail, dict):
        name, inner = next(iter(detail.items()))
        message = first_message(inner)
        return message if isinstance(inner, dict) else f"{str(name).replace('_', ' ')}: {message}"
    return first_message(detail[0]) if isinstance(detail, list) else str(detail)


# --- Pages: the panel beside a document, the list, one conversation, an answer's sources ---

CONVERSATIONS_A_PAGE = 40
EARLIER_SHOWN = 30  # conversations about a document, in its panel
MOST_ASKED = 500  # documents of one conversation


@require_safe
def panel(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the chat panel of a document: its latest conversation, the chosen one, or a new one."""
    document = visible_document(request, pk)
    own = Conversation.objects.visible_to(request.user).filter(documents=document)
    found = own
    if wanted := request.GET.get("conversation", ""):
        found = own.filter(pk=uuid_or_none(wanted))
    elif chosen := request.GET.get("citation", ""):
        found = Conversation.objects.visible_to(request.user).filter(
            messages__citations__pk=uuid_or_none(chosen)
        )
    conversation = None if "new" in request.GET else found.order_by("-updated_at").first()
    exchanges = exchanges_of(conversation) if conversation else []
    context = {
        "document": document,
        "conversation": conversation,
        "exchanges": exchanges,
        "earlier": own.exclude(pk=conversation and conversation.pk).order_by("-updated_at")[:EARLIER_SHOWN],
        "switched": "new" in request.GET or bool(wanted),
        "silent": not exchanges and why_silent(Document.objects.filter(pk=pk)),
        "suggestions": [] if exchanges else direct_questions(document, request.user),
        "providers": choices(),
        "search_kinds": SEARCH_KINDS,
    }
    collection = conversation.collection if conversation else None
    context |= scope_choices(request.user, conversation, [document], collection)
    return render(request, "chat/_conversation.html", context)


MOST_COLLECTIONS = 50  # in the list of scopes


def scope_choices(
    user: User, conversation: Conversation | None, asked: list[Document], collection: Collection | None = None
) -> dict[str, object]:
    """Return the template context of the form's ``scope``; see ``chosen_scope``.

    ``asked`` and ``collection`` are the scope of a new conversation; with neither it is the library.
    """
    kinds = Conversation.ScopeKind
    if conversation:
        documents, kind = list(conversation.documents.visible_to(user)), conversation.scope  # type: ignore[attr-defined]
    else:
        documents = asked
        kind = kinds.DOCUMENTS if asked else kinds.COLLECTION if collection else kinds.LIBRARY
    collections = Collection.objects.visible_to(user).order_by("name")[:MOST_COLLECTIONS]
    return {
        "scope": kind,
        "scope_documents": documents,
        "labels": labels_in_library(documents),
        "collection": collection,
        "collections": collections,
    }


@require_safe
def conversations(request: HttpRequest) -> HttpResponse:
    words = request.GET.get("q", "").strip()[:200]
    found = Conversation.objects.visible_to(request.user).prefetch_related("documents")
    for word in dict.fromkeys(words.casefold().split()):
        # A subquery: a join for each word would make the product of all messages.
        said = Message.objects.filter(conversation=OuterRef("pk"), content__icontains=word)
        found = found.filter(Q(title__icontains=word) | Exists(said))
    counted = found.annotate(
        questions=Count("messages", filter=Q(messages__role=Message.Role.USER), distinct=True)
    )
    page = Paginator(counted.order_by("-updated_at"), CONVERSATIONS_A_PAGE).get_page(request.GET.get("page"))
    labels = labels_in_library({one for listed in page for one in listed.documents.all()})
    context = {"section": "conversations", "page": page, "words": words, "labels": labels}
    return render(request, "chat/conversations.html", context)


@require_safe
def conversation(request: HttpRequest, pk: UUID | None = None) -> HttpResponse:
    """Show a conversation on its own page; without an id, a new one.

    Its scope is each ``?document=``, or ``?collection=``, or the whole library.
    """
    shown = visible_conversation(request, pk) if pk else None
    library = Document.objects.visible_to(request.user)
    asked: list[Document] = []
    collections = Collection.objects.visible_to(request.user)
    collection = collections.filter(pk=shown.collection_id).first() if shown else None
    if not shown and (ids := [uuid_or_none(text) for text in request.GET.getlist("document")[:MOST_ASKED]]):
        library = library.filter(pk__in=[pk for pk in ids if pk])
        asked = list(library)
        if not asked:
            raise Http404  # otherwise the scope would be the whole library
    elif not shown and (chosen := uuid_or_none(request.GET.get("collection", ""))):
        collection = get_object_or_404(collections, pk=chosen)
        library = library.filter(collections=collection)
    context = {
        "section": "conversations",
        "conversation": shown,
        "exchanges": exchanges_of(shown) if shown else [],
        "silent": not shown and why_silent(library),
        "suggestions": [] if shown else library_questions(library, request.user),
        "documents_asked": asked,
        "providers": choices(),
        "search_kinds": SEARCH_KINDS,
    }
    context |= scope_choices(request.user, shown, asked, collection)
    return render(request, "chat/conversation.html", context)


@require_safe
def news(request: HttpRequest) -> HttpResponse:
    """Return the exchanges of ``?conversation=`` without those ``?seen=`` (positions of their answers).

    A page asks again and again, since questions may be asked in another tab or on another device.
    """
    if (asked := uuid_or_none(request.GET.get("conversation", ""))) is None:
        return HttpResponse(status=204)
    seen = [whole_number(text) for text in request.GET.getlist("seen")]
    answers = visible_conversation(request, asked).messages.filter(role=Message.Role.ASSISTANT)
    unseen = [exchange_of(answer) for answer in answers.exclude(position__in=seen)]
    exchanges = [render_to_string("chat/_exchange.html", {"exchange": one}, request) for one in unseen]
    return HttpResponse("".join(exchanges)) if exchanges else HttpResponse(status=204)


@require_safe
def sources(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Show an answer's citations, including outdated ones, and the other passages in its prompt."""
    message = get_object_or_404(Message.objects.visible_to(request.user), pk=message_id)
    context = {
        "sources": read_sources(message, request.user),
        "gone": message.citations.filter(unit=None).order_by("number", "position"),
    }
    return render(request, "chat/_sources.html", context)


@require_POST
def rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = visible_conversation(request, pk)
    if title := request.POST.get("title", "").strip()[:200]:
        shown.title = title
        shown.save(update_fields=["title"])
    return redirect("conversations")


def why_silent(documents: DocumentQuerySet) -> str:
    """Return why no document can be asked: "none", "working" or "wordless"; '' when one can."""
    if documents.searchable().exists():
        return ""
    if not documents.exists():
        return "none"
    return "working" if documents.in_progress().exists() else "wordless"
