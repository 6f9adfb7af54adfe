"""Tags of the search page."""

from __future__ import annotations

from django import template
from django.template import Context
from django.utils.translation import gettext as _

register = template.Library()


@register.simple_tag(takes_context=True)
def url_with(context: Context, name: str, value: str) -> str:
    """The present query string with one parameter set, whose name is only known here."""
    parameters = context["request"].GET.copy()
    parameters.pop("page", None)
    parameters[name] = value
    return "?" + parameters.urlencode()


@register.filter
def list_name(name: str) -> str:
    """A list of a search as people read it: 'question' ranked by words, 'meaning of question' by meaning."""
    own = {"question": _("by words"), "meaning of question": _("by meaning")}
    return own.get(name, name)
