"""The search settings below the question box, as the form sends them."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, QueryDict
from rest_framework.serializers import ValidationError

from chat.answers.question_commands import InvalidOperation
from retrieval.api import RagConfigSerializer
from retrieval.rag_config import SWITCHES, RagConfig

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
    """The panel's settings, None where the form has no panel. Raises InvalidOperation."""
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
    """The form in the API's shape; what is left as it comes is left out."""
    filters: dict[str, Any] = {
        field: [text.strip()] for name, field in LISTS.items() if (text := form.get(name, "")).strip()
    }
    filters |= {name: as_number(text) for name in NUMBERS if (text := form.get(name, "").strip())}
    return {**switches(form), **depth(form), "filters": filters}


def switches(form: QueryDict) -> dict[str, bool]:
    """All are on unless their boxes are cleared; compression is off unless it is ticked."""
    used = set(form.getlist("use"))
    cleared = {name: False for name in SWITCHES if name != "compression" and name not in used}
    return cleared | ({"compression": True} if "compression" in used else {})


def depth(form: QueryDict) -> dict[str, Any]:
    found: dict[str, Any] = {"fts_level": level} if (level := form.get("fts_level", "")) else {}
    return found | ({"top_k": as_number(top_k)} if (top_k := form.get("top_k", "").strip()) else {})


def as_number(text: str) -> int | str:
    """The number; text that is none is left for the serializer to refuse."""
    return int(text) if text.isascii() and text.lstrip("-").isdigit() and len(text) < 10 else text


def first_message(detail: Any) -> str:
    """One sentence of a tree of errors, with the field's name."""
    if isinstance(detail, dict):
        name, inner = next(iter(detail.items()))
        message = first_message(inner)
        return message if isinstance(inner, dict) else f"{str(name).replace('_', ' ')}: {message}"
    return first_message(detail[0]) if isinstance(detail, list) else str(detail)
