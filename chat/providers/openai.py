"""OpenAI and servers with its chat completions API: Gemini, Ollama, vLLM, llama.cpp."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Any, Literal

import httpx2  # the HTTP client of both SDKs, whose errors occur while a stream is read
import openai
from openai.types.chat import ChatCompletionChunk

from chat.answers.prompt import Prompt, turns
from chat.providers.base import (
    WEB_PAGE,
    Delta,
    HostedModel,
    Progress,
    StreamEnd,
    TextDelta,
    Usage,
    at_the_border,
    failed,
)
from chat.providers.context_window import reply_tokens, served, window_of
from chat.providers.open_requests import client_for

REASONS: dict[str, Literal["stop", "length", "refused"]] = {"length": "length", "content_filter": "refused"}

REASONING = ("reasoning_content", "reasoning")  # DeepSeek, vLLM, llama.cpp; Ollama, OpenRouter


class ChatCompletions(HostedModel):
    """Any server with ``/chat/completions``."""

    def stream(self, prompt: Prompt) -> Iterator[Delta]:
        with (
            at_the_border(self.name, openai, httpx2),
            client_for(openai, self.api_key, self.base_url, self.timeout).chat.completions.create(
                **self._request(prompt)
            ) as chunks,
        ):
            if "html" in chunks.response.headers.get("content-type", ""):
                raise failed(WEB_PAGE, self.name, permanent=True)
            for chunk in chunks:
                yield from deltas(chunk)

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [{"role": "system", "content": prompt.system}]
        messages += [{"role": turn.role, "content": turn.text} for turn in turns(prompt)]
        if prompt.pictures and self.sees:
            asked = messages[1 + len(prompt.history)]
            asked["content"] = [
                *map(picture_part, prompt.pictures),
                {"type": "text", "text": asked["content"]},
            ]
        limit = "max_completion_tokens" if self.name == "openai" else "max_tokens"
        request: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            limit: reply_tokens(window_of(self), self.max_tokens),
        }
        if served(self).reports_progress:
            # llama.cpp notices a closed connection only when it writes: with this, between two batches
            request["extra_body"] = {"return_progress": True}
        if prompt.schema:
            wanted = {"name": "reply", "schema": prompt.schema, "strict": True}
            request["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return request


def picture_part(png: bytes) -> dict[str, Any]:
    """Return a PNG as an inline message part, so that the server need not reach ours."""
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(png).decode()}"}}


def deltas(chunk: ChatCompletionChunk) -> Iterator[Delta]:
    """Yield the events of one chunk. The usage is in the last chunk, which has no choices."""
    if isinstance(progress := getattr(chunk, "prompt_progress", None), dict):
        yield Progress(int(progress.get("processed") or 0), int(progress.get("total") or 0))
    for choice in chunk.choices[:1]:
        if choice.delta and choice.delta.content:
            yield TextDelta(choice.delta.content)
        elif choice.delta and any(getattr(choice.delta, name, None) for name in REASONING):
            yield Progress(thinks=True)
        if choice.finish_reason:
            yield StreamEnd(REASONS.get(choice.finish_reason, "stop"))
    if chunk.usage:
        yield Usage(chunk.usage.prompt_tokens or 0, chunk.usage.completion_tokens or 0)
