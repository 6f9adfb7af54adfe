"""Who is calling: set by each transport before it hands a call to the MCP server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from agents.evidence import Agent

_calling: ContextVar[Agent] = ContextVar("calling_agent")


def calling_agent() -> Agent:
    """The agent on whose behalf the present call is made. Raises LookupError outside of a call."""
    return _calling.get()


@contextmanager
def called_by(agent: Agent) -> Iterator[None]:
    token = _calling.set(agent)
    try:
        yield
    finally:
        _calling.reset(token)
