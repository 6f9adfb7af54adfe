"""The page of providers: which model answers, how it is connected, and whether it works.

Everybody signed in sees the page and tests a provider; superusers connect and disconnect. Each POST
returns the part ``#models`` of the page, with one sentence on what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat.answers.without_model.answer import NAME as EXTRACTIVE
from chat.models import ProviderConnection
from chat.providers.catalogue import KEYED, PROVIDERS
from chat.providers.connections import SEARCH, connect_key, connection_of, is_key, listed_models
from chat.providers.local_servers import OWN_SERVER, local_models
from chat.providers.registry import cards, check_health, default_name
from documents.api.common.callers import rated
from documents.translation import translated
from retrieval.index.backfill import move_into
from retrieval.provider_calls import ProviderError
from retrieval.views import spaces_context

GONE = gettext_lazy("This provider was disconnected in the meantime. Paste its key again.")
NO_KEY = gettext_lazy("This is not a key. Copy it again from the provider's page of keys.")
PUT_OFF = "model-offer-put-off"  # key of the session
MOST_OFFERED = 3
P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def superusers_only(view: View[P]) -> View[P]:
    """Refuse with 403 whoever is no superuser: keys cost money, and receive the documents' text."""

    @wraps(view)
    def decorated(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_superuser:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return decorated


@require_safe
def providers(request: HttpRequest) -> HttpResponse:
    return render(request, "chat/providers.html", _models_context() | spaces_context())


@rated("ask")
@require_POST
def test(request: HttpRequest, name: str) -> HttpResponse:
    """Check a provider's health; return a fragment with the result."""
    if name not in PROVIDERS:
        raise Http404
    return render(request, "chat/_health.html", {"health": check_health(name)})


@require_POST
@sensitive_post_parameters("key")
@superusers_only
def connect_pasted_key(request: HttpRequest) -> HttpResponse:
    """Connect the provider of a pasted ``key``, after it accepted that key."""
    name, key = request.POST.get("provider", ""), request.POST.get("key", "").strip()
    if name not in KEYED:
        raise Http404
    if connection_of(name).source == "environment":
        return _refused(
            request, _("This provider's key is set in the server's environment. Change it there.")
        )
    if not is_key(key):
        return _refused(request, str(NO_KEY))
    try:
        connect_key(name, key)
    except ProviderError as error:
        return _refused(request, translated(error.message))
    return _done(request, _("Connected. Choose another model below, or test this one."))


@superusers_only
@require_http_methods(["GET", "HEAD", "POST"])
def local(request: HttpRequest) -> HttpResponse:
    """List the models of servers on this machine; POST connects one of them (``base_url``, ``model``)."""
    found = local_models()
    if request.method != "POST":
        context = {"found": found, "used": connection_of("compatible"), "default": default_name()}
        return render(request, "chat/_local_models.html", context)
    if connection_of("compatible").source == "environment":
        return _refused(
            request, _("The address of your own server is set in the server's environment. Change it there.")
        )
    wanted = (request.POST.get("base_url", ""), request.POST.get("model", ""))
    model = next((model for model in found if (model.base_url, model.name) == wanted), None)
    if model is None:
        return _refused(
            request, _("This model is no longer available. Start its server, then load this page again.")
        )
    ProviderConnection.connect("compatible", base_url=model.base_url, model=model.name)
    return _done(request, _("Connected. Answers are now written by a model on this machine."))


@superusers_only
@require_http_methods(["GET", "HEAD", "POST"])
def offer(request: HttpRequest) -> HttpResponse:
    """Offer a model to write answers, while none does; POST puts the offer off for this session."""
    if request.method == "POST":
        request.session[PUT_OFF] = True
    if request.session.get(PUT_OFF) or default_name() != EXTRACTIVE:
        return HttpResponse()
    found = [model for model in local_models() if not model.embeds]
    return render(request, "chat/_model_offer.html", {"found": found[:MOST_OFFERED]})


@superusers_only
@require_http_methods(["GET", "HEAD", "POST"])
def models(request: HttpRequest, name: str) -> HttpResponse:
    """List the models of a connected provider; POST lets one of them answer."""
    if name not in KEYED:
        raise Http404
    if connection_of(name).source != "page":
        return _refused(request, str(GONE)) if request.method == "POST" else HttpResponse()
    try:
        listed = listed_models(name)
    except ProviderError as error:
        if request.method == "POST":
            return _refused(request, translated(error.message))
        return render(request, "chat/_listed_models.html", {"name": name, "refusal": error.message})
    if request.method != "POST":
        chosen = connection_of(name).model
        return render(request, "chat/_listed_models.html", {"name": name, "listed": listed, "chosen": chosen})
    if request.POST.get("model") not in listed:
        return _refused(request, _("The provider no longer offers this model. Choose another one."))
    if not ProviderConnection.choose_model(name, request.POST["model"]):
        return _refused(request, str(GONE))
    return _done(request, _("This model answers now."))


@require_POST
@sensitive_post_parameters("key")
@superusers_only
def connect_embedder(request: HttpRequest) -> HttpResponse:
    """Search by a ``model``: of a ``provider`` by a pasted ``key``, or of a server of this machine.

    A POST without a model deletes the connection.
    """
    name, model = request.POST.get("provider", ""), request.POST.get("model", "").strip()
    url, key = request.POST.get("base_url", ""), request.POST.get("key", "").strip()
    refusal = ""
    if name not in (*KEYED, OWN_SERVER):
        raise Http404
    try:
        if not model:
            ProviderConnection.disconnect(SEARCH + name)
        elif name == OWN_SERVER and not any(found.base_url == url for found in local_models()):
            refusal = _("This model is no longer available. Start its server, then load this page again.")
        elif name in KEYED and not is_key(key):
            refusal = str(NO_KEY)
        else:
            if name in KEYED:
                listed_models(name, key)
            own = url if name == OWN_SERVER else ""  # a key goes to its provider only
            ProviderConnection.connect(SEARCH + name, api_key=key, base_url=own, answers=False)
            move_into(f"{name}:{model}")
    except ProviderError as error:
        refusal = translated(error.message)
    return render(request, "retrieval/_spaces.html", spaces_context() | {"refusal": refusal})


@require_POST
@superusers_only
def disconnect(request: HttpRequest, name: str) -> HttpResponse:
    """Delete a provider's stored key and address."""
    ProviderConnection.disconnect(name)
    return _done(
        request, _("Disconnected. The key was deleted here; revoke it at the provider if nobody needs it.")
    )


def _models_context() -> dict[str, object]:
    found = cards()
    open_to_keys = [card for card in found if card.name in KEYED and card.source != "environment"]
    own = next(card for card in found if card.name == "compatible")
    return {"cards": found, "open_to_keys": open_to_keys, "local_is_open": own.source != "environment"}


def _done(request: HttpRequest, sentence: str) -> HttpResponse:
    return render(request, "chat/_models.html", _models_context() | {"done": sentence})


def _refused(request: HttpRequest, sentence: str) -> HttpResponse:
    """Say why not; the form keeps the provider that was chosen, never the key."""
    context = {"refusal": sentence, "asked": request.POST.get("provider", "")}
    return render(request, "chat/_models.html", _models_context() | context)
