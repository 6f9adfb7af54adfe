"""Tags of the search page."""

from __future__ import annotations

from dataclasses import dataclass

from django import template
from django.template import Context
from django.utils.translation import gettext as _

from documents.translation import translated
from retrieval.provider_calls import ProviderError, configured_language_model

register = template.Library()


@dataclass(frozen=True, slots=True)
class FacetLink:
    """``href`` sets the value, or takes it back when it ``is_chosen``."""

    href: str
    is_chosen: bool


@register.simple_tag(takes_context=True)
def facet_link(context: Context, name: str, value: str) -> FacetLink:
    """From the present search to the one with this value of a facet, or without it."""
    parameters = context["request"].GET.copy()
    parameters.pop("page", None)
    is_chosen = value in parameters.getlist(name)
    if is_chosen:
        del parameters[name]
    else:
        parameters[name] = value
    return FacetLink("?" + parameters.urlencode(), is_chosen)


@register.simple_tag
def helped_by_model() -> bool:
    """Return whether a language model can help search, so that its strategies are worth a choice."""
    try:
        return configured_language_model() is not None
    except ProviderError:
        return False


@register.filter
def list_name(name: str) -> str:
    """Return the name of a list for people: 'question' by words, 'meaning of question' by meaning."""
    own = {"question": _("by words: rank"), "meaning of question": _("by meaning: rank")}
    return own.get(name, name)


@register.filter
def kind_name(kind: str) -> str:
    """Return the name of a kind of passage or section for people: 'related_work' is 'related work'."""
    own = {"mixed": _("several kinds"), "related_work": _("related work")}
    return own.get(kind) or translated(kind)


@register.filter
def limited_to(filters: dict[str, str]) -> str:
    """Return the filters of a search for people: 'page 64, years 2015–2019, author Rowe'."""
    limits = []
    for name, many in (("page", _("pages")), ("year", _("years"))):
        first, last = filters.get(f"{name}_from"), filters.get(f"{name}_to")
        if first and first == last:
            limits.append(f"{_(name)} {first}")
        elif first or last:
            limits.append(f"{many} {first or ''}–{last or ''}")
    spans = {f"{name}_{end}" for name in ("page", "year") for end in ("from", "to")}
    limits += [f"{filter_name(name)} {value}" for name, value in filters.items() if name not in spans]
    return ", ".join(limits)


@register.filter
def filter_name(name: str) -> str:
    """Return the name of a past filter (``Scope.describe``) for people: 'document_ids' is 'document'."""
    plain = name.removesuffix("s").removesuffix("_id").replace("_", " ")
    title = plain.capitalize()
    return plain if (translation := _(title)) == title else translation


@register.filter
def named(value: str, names: dict[str, str]) -> str:
    """Return a filter's value with names in the place of ids."""
    return ", ".join(names.get(part, part) for part in value.split(", "))
