"""Functions for agents: list, search, read, locate, verify, ask, add; with one user's rights, typed results.

Each call takes an ``Agent``: who asks, what its token allows, and how places are addressed.
A call that makes no sense raises ``Refused``, whose message says what to do instead.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, cast
from uuid import UUID

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import Count, Q
from pydantic import Field
from rest_framework.request import Request

from agents.results import (
    NOTICE,
    Added,
    Addresses,
    Answered,
    Documents,
    Located,
    PagesRead,
    PassageFound,
    ReportRead,
    ReviewAnswer,
    ReviewRead,
    SearchFound,
    UnitRead,
    Verified,
    VersionsRead,
    card,
    cell_read,
    cited_read,
    part,
    verdict_read,
)
from chat.answers import question_commands
from chat.answers.message_presenters import shown_message
from chat.answers.question_commands import InvalidOperation, start_conversation
from chat.answers.runner import start_next
from chat.api.messages import wait_for
from chat.citations.source_units import Sources, load_sources
from chat.citations.stored_pages import locate
from chat.exports.markdown import as_markdown, exported_note, numbered
from chat.models import Conversation, Message, Report
from chat.reports.report_commands import InvalidReport, Limits, begin, new_report, new_versions
from chat.reports.report_queue import cancel, pause
from chat.reports.report_sections import sections_of
from citing.claims import VERIFIED, Claim, SourceUnit, Verdict, Verification
from citing.verdict import verify, with_quote_sought
from documents.api.common.callers import take
from documents.contents import trail
from documents.files.uploads import UploadRefused, store_upload
from documents.ingestion.recognition import pages_left, prioritise_pages
from documents.models import ApiToken, CitationUnit, Document, Page, TokenScope
from documents.models.document import page_numbers
from retrieval.query.scope import Scope
from retrieval.results import SearchOptions
from retrieval.search import search as search_library
from reviews import review_commands
from reviews.column_sets import InvalidReview, templates
from reviews.models import Review, ReviewCell, ReviewColumn
from reviews.question_answer import ColumnAnswer, column_answers
from reviews.review_presenters import first_citations, grid
from text.budget import ProcessorBudget

PAGES_AT_ONCE = 10
UNITS_AT_ONCE = 400
CELLS_AT_ONCE = 100
MOST_VALUES = 100  # of a column that are listed
VALUE_CHARS = 300
_BEST_FIRST: tuple[Verdict, ...] = ("exact", "normalized", "computed", "moved")
VERIFIED_AGAINST = 12  # units that a claim without a place is compared with


CHECK_SECONDS = 1.5  # of processor time of a check in a request
TOO_MUCH = "This check takes too long. Send fewer claims, or a shorter text, at a time."


class Refused(Exception):
    """The call is refused. The message is shown to the agent and its user."""


@dataclass(frozen=True, slots=True)
class Agent:
    """The user on whose behalf an agent acts.

    Attributes:
        scopes: of the token: ``read``, ``ask``, ``write``.
    """

    user: User
    scopes: frozenset[str]
    addresses: Addresses

    def needs(self, scope: str) -> None:
        """Check the scope of the token. Raises Refused."""
        if scope not in self.scopes:
            raise Refused(f"This token has no '{scope}' scope. Make one that has it in your settings.")


ALL_SCOPES = frozenset(TokenScope.values)


def agent_of(request: Request, resources: bool = True) -> Agent:
    """Return the agent of a request: a token has its scopes, a browser session has all scopes."""
    token = request.auth
    scopes = frozenset(token.scopes) if isinstance(token, ApiToken) else ALL_SCOPES
    base = request.build_absolute_uri("/").rstrip("/")
    return Agent(cast(User, request.user), scopes, Addresses(base, resources))


# --- Tools: MCP shows agents their parameters and docstrings (``agents.mcp_server``) ---

DocumentId = Annotated[str, Field(description="a document's id, as list_documents and search give it")]
DocumentIds = Annotated[Sequence[str], Field(max_length=50, description="ids; none for the whole library")]
PageNumbers = Annotated[int, Field(ge=1)] | Annotated[str, Field(max_length=200)]


def list_documents(
    agent: Agent,
    query: Annotated[str, Field(max_length=200, description="words of title, author or name")] = "",
    offset: Annotated[int, Field(ge=0)] = 0,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> Documents:
    """List the documents you may read, the latest first."""
    agent.needs(TokenScope.READ)
    found = Document.objects.visible_to(agent.user)
    for word in query.split():
        found = found.filter(
            Q(title__icontains=word) | Q(original_name__icontains=word) | Q(authors__icontains=word)
        )
    total = found.count()
    rows = found.order_by("-created_at", "pk")[offset : offset + limit]
    cards = [card(agent.addresses, row) for row in rows]
    return Documents(documents=cards, total=total, next_offset=_next(offset, limit, total))


def search(
    agent: Agent,
    query: Annotated[str, Field(max_length=4000)],
    documents: DocumentIds = (),
    limit: Annotated[int, Field(ge=1, le=50)] = 5,
    offset: Annotated[int, Field(ge=0, le=10_000)] = 0,
) -> SearchFound:
    """Find passages that speak of the query, best first, each with page, lines, link and picture."""
    agent.needs(TokenScope.READ)
    chosen = [visible(agent, document).pk for document in documents]
    scope = Scope(agent.user, document_ids=tuple(chosen) or None)
    found = search_library(query, scope, SearchOptions(limit=limit, offset=offset))
    units = CitationUnit.objects.in_bulk([hit.best_unit_ids[0] for hit in found.hits])
    frames = Page.objects.frames((unit.document_id, unit.page_number) for unit in units.values())
    passages = []
    for hit in found.hits:
        if (unit := units.get(hit.best_unit_ids[0])) is None:
            continue
        frame = frames.get((unit.document_id, unit.page_number))
        boxes = frame.display_boxes(unit.rects) if frame else []
        passages.append(
            PassageFound(
                document=str(hit.document_id),
                title=hit.document_title,
                page=hit.page,
                lines=[unit.line_start, unit.line_end],
                section=trail(list(hit.section_path), hit.document_title),
                unit=str(unit.pk),
                text=hit.passage,
                score=round(hit.score, 4),
                link=agent.addresses.place(hit.document_id, hit.page, unit=unit.pk),
                picture=agent.addresses.picture(hit.document_id, hit.page, boxes),
            )
        )
    return SearchFound(
        passages=passages,
        total=found.total,
        next_offset=_next(offset, limit, found.total),
        message=found.message,
        pages_left=pages_left(scope.documents()),
    )


def read(
    agent: Agent,
    document: DocumentId,
    pages: Annotated[PageNumbers, Field(description="such as 3, 3-9 or 1,4-6")] = "1",
) -> PagesRead:
    """Read pages of a document, unit by unit (paragraphs, table rows, …), with their lines."""
    agent.needs(TokenScope.READ)
    row = visible(agent, document)
    try:
        numbers = page_numbers(str(pages))
    except ValueError as error:
        raise Refused(str(error)) from None
    numbers = [number for number in numbers if number <= row.page_count]
    if not numbers:
        raise Refused(f"“{row.title}” has {row.page_count} pages.")
    wanted = numbers[:PAGES_AT_ONCE]
    units = list(
        CitationUnit.objects.filter(document=row, page_number__in=wanted).order_by("position")[
            : UNITS_AT_ONCE + 1
        ]
    )
    left = numbers[PAGES_AT_ONCE:]
    if len(units) > UNITS_AT_ONCE and units[-1].page_number > wanted[0]:
        last = units[-1].page_number  # this page is not whole: it comes first next time
        units = [unit for unit in units if unit.page_number < last]
        left = [number for number in numbers if number >= last]
    unread = Page.objects.filter(document=row, number__in=wanted).exclude(awaits="")
    being_read = list(unread.values_list("number", flat=True))
    if being_read:
        prioritise_pages(row, being_read[0])
    return PagesRead(
        document=str(row.pk),
        title=row.title,
        page_count=row.page_count,
        units=[
            UnitRead(
                unit=str(unit.pk),
                page=unit.page_number,
                lines=[unit.line_start, unit.line_end],
                kind=unit.unit_type,
                text=unit.content,
            )
            for unit in units
        ],
        next_page=left[0] if left else (wanted[-1] + 1 if wanted[-1] < row.page_count else None),
        pages_being_read=being_read,
    )


def locate_quote(
    agent: Agent,
    document: DocumentId,
    quote: Annotated[str, Field(max_length=10_000)],
    context: Annotated[str, Field(max_length=10_000, description="words around it")] = "",
) -> Located:
    """Find where quoted words stand in a document: rectangles, a link, a picture of the line."""
    agent.needs(TokenScope.READ)
    row = visible(agent, document)
    anchor = locate(row.pk, quote, context)
    if anchor is None:
        return Located(verdict="none", text="", page=None, parts=[], link="", picture="")
    parts = [part(found.page.number, found.page.frame, found.rects) for found in anchor.parts]
    return Located(
        verdict=anchor.verdict,
        text=anchor.text,
        page=anchor.page,
        parts=parts,
        link=agent.addresses.place(row.pk, anchor.page, anchor.text),
        picture=agent.addresses.picture(row.pk, anchor.page, parts[0].rects),
    )


def verify_claim(
    agent: Agent,
    document: DocumentId,
    claim: Annotated[str, Field(max_length=4000, description="one sentence")],
    quote: Annotated[str, Field(max_length=10_000, description="the words that must support it")] = "",
    page: Annotated[int | None, Field(ge=1)] = None,
    budget: ProcessorBudget | None = None,
) -> Verified:
    """Check one sentence against a document: verified or not, why, and the words that decide it."""
    # It is compared with the given page, else with the place of the quote, else with the passages most
    # similar to the claim. Raises OverBudget between two units.
    budget = budget or ProcessorBudget(CHECK_SECONDS)
    agent.needs(TokenScope.READ)
    row = visible(agent, document)
    if not claim.strip():
        raise Refused("Write the claim that is to be verified.")
    sources = load_sources(_units_to_compare(agent, row, claim, quote, page))
    if not sources.shown:
        where = f"Page {page} of" if page else "Nothing in"
        raise Refused(f"{where} “{row.title}” speaks of this claim: search for other words.")
    made = Claim(claim, quote)
    verified = []
    for unit in sources.shown:
        budget.check()
        verified.append(verify(made, unit, sources.neighbours(unit)))
    best = with_quote_sought(min(verified, key=preference), lambda: locate(row.pk, quote))
    return _verified(agent, row, sources, best)


def preference(found: Verification) -> int:
    """Sort key of results: verified, then contradicted, then found words only."""
    if found.verdict in VERIFIED:
        return _BEST_FIRST.index(found.verdict)
    return 10 if found.conflicts else 20 if found.verdict == "found" else 30


def _units_to_compare(agent: Agent, row: Document, claim: str, quote: str, page: int | None) -> list[UUID]:
    if page is None and quote.strip():
        anchor = locate(row.pk, quote, claim)
        page = anchor.page if anchor else None
    if page is not None:
        on_page = CitationUnit.objects.filter(document=row, page_number=page).order_by("position")
        return list(on_page.values_list("pk", flat=True))
    scope = Scope(agent.user, document_ids=(row.pk,))
    hits = search_library(claim, scope, SearchOptions(limit=VERIFIED_AGAINST)).hits
    return list(dict.fromkeys(unit for hit in hits for unit in hit.best_unit_ids))[:VERIFIED_AGAINST]


def _verified(agent: Agent, row: Document, sources: Sources, found: Verification) -> Verified:
    unit: SourceUnit = found.unit
    place = sources.places.get(unit.id)
    stands = found.verdict not in ("unsupported",) or bool(found.quote)
    rects = found.rects or (place.rects if place else ())
    lit = part(found.page, place.frame, rects) if place and stands else None
    return verdict_read(
        Verified,
        found,
        notice=NOTICE,
        page=found.page if stands else None,
        lines=list(place.lines) if place and stands else None,
        section=trail(list(unit.section_path), row.title),
        parts=[lit] if lit else [],
        link=agent.addresses.place(row.pk, found.page, found.quote, unit=unit.id) if stands else "",
        picture=agent.addresses.picture(row.pk, found.page, lit.rects) if lit else "",
    )


def ask(
    agent: Agent,
    question: Annotated[str, Field(max_length=4000)],
    documents: DocumentIds = (),
    conversation: Annotated[str, Field(description="id of an earlier answer to continue")] = "",
) -> Answered:
    """Have a question answered from the documents, every claim cited and checked."""
    agent.needs(TokenScope.ASK)
    if wait := take("ask", f"user {agent.user.pk}"):
        raise Refused(f"Too many questions in a short time. Ask again in {wait} seconds.")
    talk = _conversation(agent, conversation, documents)
    try:
        asked = question_commands.ask(talk, question)
    except InvalidOperation as reason:
        raise Refused(str(reason)) from None
    start_next(talk.pk)
    wait_for(asked.answer.pk)
    return answered(agent, Message.objects.get(pk=asked.answer.pk))


def _conversation(agent: Agent, conversation: str, documents: Iterable[str]) -> Conversation:
    if conversation:
        found = Conversation.objects.visible_to(agent.user).filter(pk=_uuid(conversation)).first()
        if found is None:
            raise Refused("There is no such conversation, or you cannot access it.")
        return found
    chosen = [visible(agent, document) for document in documents]
    return start_conversation(agent.user, chosen)


def answered(agent: Agent, answer: Message) -> Answered:
    """Convert a stored answer to the result type for agents."""
    shown = shown_message(answer)
    return Answered(
        answer=numbered(answer.content, shown.citations),
        citations=[cited_read(agent.addresses, cited) for cited in shown.citations],
        summary=shown.summary.text,
        uncited=[answer.content[start:end] for start, end in answer.uncited],
        status=answer.status,
        error=answer.error,
        conversation=str(answer.conversation_id),
        link=agent.addresses.conversation(answer.conversation_id),
    )


def add_document(
    agent: Agent,
    name: Annotated[str, Field(max_length=255, description="file name with its ending")],
    content_base64: Annotated[str, Field(description="the file's bytes")],
) -> Added:
    """Add a file to the library. It can be searched once its status is ready."""
    # No addresses: a malicious document could make an agent send secrets to one.
    agent.needs(TokenScope.WRITE)
    try:
        content = base64.b64decode(content_base64, validate=True)
    except (binascii.Error, ValueError):
        raise Refused("The content is not base64.") from None
    try:
        document = store_upload(agent.user, ContentFile(content), name)
    except UploadRefused as refused:
        if refused.existing is None:
            raise Refused(refused.message) from None
        return Added(document=card(agent.addresses, refused.existing), already_there=True)
    return Added(document=card(agent.addresses, document), already_there=False)


def start_review(
    agent: Agent,
    name: str,
    documents: Iterable[str],
    columns: Sequence[ReviewColumn],
    template: str = "",
    question: str = "",
) -> ReviewRead:
    """Put the columns' questions, or a question, to each of the documents, in the background.

    With a question, no documents mean all that the agent's user may see.
    """
    agent.needs(TokenScope.ASK)
    agent.needs(TokenScope.WRITE)
    if wait := take("ask", f"user {agent.user.pk}"):
        raise Refused(f"Too many questions in a short time. Ask again in {wait} seconds.")
    chosen = [visible(agent, document) for document in documents]
    if question and not chosen:
        chosen = list(Document.objects.visible_to(agent.user).order_by("title"))
    if not chosen:
        raise Refused("Name the documents to review. list_documents gives their ids.")
    if template and template not in templates():
        raise Refused(f"There is no such template; there are {', '.join(templates())}.")
    try:
        with transaction.atomic():
            review = review_commands.start_review(
                agent.user, name, chosen, template=template, columns=columns, question=question
            )
            review_commands.fill_cells(ReviewCell.objects.filter(row__review=review))
    except InvalidReview as reason:
        raise Refused(str(reason)) from None
    return read_review(agent, str(review.pk))


def read_review(agent: Agent, review: str, offset: int = 0) -> ReviewRead:
    """Return a review with a limited number of cells."""
    agent.needs(TokenScope.READ)
    found = Review.objects.visible_to(agent.user).filter(pk=_uuid(review)).first()
    if found is None:
        raise Refused("There is no such review, or you cannot access it.")
    cells = ReviewCell.objects.filter(row__review=found).visible_to(agent.user)
    states = dict(cells.order_by().values_list("state").annotate(n=Count("pk")))
    total = sum(states.values())
    ordered = cells.select_related("row__document", "column").order_by("row__position", "column__position")
    page = list(ordered[offset : offset + CELLS_AT_ONCE])
    cited = first_citations(page)
    return ReviewRead(
        review=str(found.pk),
        name=found.name,
        answer=answers_read(column_answers(grid(found, agent.user))),
        link=agent.addresses.review(found.pk),
        states=states,
        cells=[cell_read(agent.addresses, cell, cited.get(cell.pk)) for cell in page],
        total=total,
        next_offset=_next(offset, CELLS_AT_ONCE, total),
    )


def write_report(
    agent: Agent,
    documents: DocumentIds = (),
    question: Annotated[str, Field(max_length=1000, description="of a new report")] = "",
    sections: Annotated[Sequence[str], Field(max_length=100, description="titles")] = (),
    most_tokens: Annotated[int | None, Field(ge=1, description="the budget")] = None,
    report: Annotated[str, Field(description="id of a report, to read it")] = "",
    do: Literal["read", "start", "pause", "cancel"] = "read",
) -> ReportRead:
    """Have a report written section by section in the background, every sentence cited and checked."""
    agent.needs(TokenScope.READ)
    if report and do == "read":
        return report_read(agent, own_report(agent, report, Report.Kind.REPORT))
    agent.needs(TokenScope.ASK)
    agent.needs(TokenScope.WRITE)
    outline = "\n".join(sections)
    try:
        if report:
            found = own_report(agent, report, Report.Kind.REPORT)
            limits = Limits(most_tokens, found.most_minutes) if most_tokens else None
            acts = {"pause": pause, "cancel": cancel}
            acts.get(do, lambda one: begin(one, outline or None, limits))(found)
        else:
            if wait := take("ask", f"user {agent.user.pk}"):
                raise Refused(f"Too many questions in a short time. Ask again in {wait} seconds.")
            chosen = [visible(agent, document) for document in documents]
            found = new_report(agent.user, question, chosen, outline, limits=Limits(most_tokens))
    except InvalidReport as reason:
        raise Refused(str(reason)) from None
    return report_read(agent, found)


def own_report(agent: Agent, report: str, kind: Report.Kind) -> Report:
    found = Report.objects.visible_to(agent.user).filter(pk=_uuid(report), kind=kind).first()
    if found is None:
        raise Refused("There is no such report, or you cannot access it.")
    return found


def report_read(agent: Agent, found: Report) -> ReportRead:
    written = found.note if found.note and found.note.deleted_at is None else None
    return ReportRead(
        report=str(found.pk),
        link=agent.addresses.report(found.pk),
        state=found.state,
        error=found.error,
        sections=[one.title for one in sections_of(found)],
        done=sum(one.is_done for one in sections_of(found)),
        tokens=found.tokens,
        text=as_markdown(exported_note(written)) if written else "",
    )


def compare_versions(
    agent: Agent,
    documents: Annotated[Sequence[str], Field(max_length=20, description="ids, in order")] = (),
    report: Annotated[str, Field(description="id of a comparison, to read it")] = "",
) -> VersionsRead:
    """Compare versions, or a contract and its amendments: sections, changed values, last values."""
    agent.needs(TokenScope.READ)
    if report:
        found = own_report(agent, report, Report.Kind.VERSIONS)
    else:
        agent.needs(TokenScope.WRITE)
        try:
            found = new_versions(agent.user, [visible(agent, document) for document in documents])
        except InvalidReport as reason:
            raise Refused(str(reason)) from None
    result = found.result or {"comparisons": [], "chains": []}
    return VersionsRead(
        report=str(found.pk),
        link=agent.addresses.report(found.pk),
        state=found.state,
        error=found.error,
        comparisons=[
            one | {"sections": one["sections"][:MOST_VALUES], "changes": one["changes"][:MOST_VALUES]}
            for one in result["comparisons"]
        ],
        chains=result["chains"][:MOST_VALUES],
    )


def answers_read(answers: Iterable[ColumnAnswer]) -> list[ReviewAnswer]:
    """Return the counts of each column without their cells."""
    return [
        ReviewAnswer(
            column=one.column.title,
            documents=one.documents,
            states=one.states,
            within=one.within,
            numbers=[
                {name: getattr(each, name) for name in ("unit", "count", "total", "least", "median", "most")}
                for each in one.numbers
            ],
            values={group.value[:VALUE_CHARS]: group.count for group in one.groups[:MOST_VALUES]},
        )
        for one in answers
    ]


def visible(agent: Agent, document: str) -> Document:
    """Return the document. Raises Refused when it does not exist or the user may not read it."""
    found = Document.objects.visible_to(agent.user).filter(pk=_uuid(document)).first()
    if found is None:
        raise Refused("There is no such document, or you cannot access it. list_documents names them.")
    return found


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Refused(
            f"“{text[:60]}” is not an id: ids look like 7b0e6a3e-5f0f-4c6a-9f6e-0d4f5b1c2a3d."
        ) from None


def _next(offset: int, limit: int, total: int) -> int | None:
    return offset + limit if offset + limit < total else None
