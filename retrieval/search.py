"""One question in, the right units out."""

from __future__ import annotations

from retrieval.providers.language import LanguageModel
from retrieval.results import SearchOptions, SearchResult
from retrieval.scope import Scope


def search(
    query: str,
    scope: Scope,
    options: SearchOptions | None = None,
    *,
    language_model: LanguageModel | None = None,
) -> SearchResult:
    """The chunks in ``scope`` that speak of ``query``, best first, and what was done to find them.

    Never raises for what a person typed: an empty or hopeless query gives a
    result without hits and a ``message``. A provider that fails costs its own
    strategy, which says so in ``strategies``.
    """
    return SearchResult(query=query, message="Nothing is indexed yet.")
