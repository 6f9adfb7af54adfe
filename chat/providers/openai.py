"""OpenAI and servers with its chat completions API: Gemini, Ollama, vLLM, llama.cpp."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

import httpx2  # the HTTP client of both SDKs, whose errors occur while a stream is read
import openai

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
        request = self._request(prompt)
        with at_the_border(self.name, openai, httpx2):
            client = client_for(openai, self.api_key, self.base_url, self.timeout)
            if served(self).reads_pieces:
                yield from read_in_pieces(client, self.base_url, request)
            # The SDK's ``create`` would make objects of each chunk, which takes as long as all else.
            how: dict[str, Any] = {"cast_to": object, "stream": True, "stream_cls": openai.Stream[object]}
            with client.post("/chat/completions", body=request, **how) as chunks:
                if "html" in chunks.response.headers.get("content-type", ""):
                    raise failed(WEB_PAGE, self.name, permanent=True)
                for chunk in chunks:
                    yield from deltas(chunk)

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [{"role": "system", "content": prompt.system}]
        messages += [{"role": turn.role, "content": turn.text} for turn in turns(prompt)]
        if prompt.pictures and self.sees:
            asked = messages[1 + 2 * prompt.example + len(prompt.history)]
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
        if served(self).reads_pieces:
            request["return_progress"] = True
        if prompt.schema:
            wanted = {"name": "reply", "schema": prompt.schema, "strict": True}
            request["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return request


# llama.cpp notices a closed connection only between two batches of 2,048 tokens, which take minutes on a slow
# machine. What it has read stays in its cache. Pieces of 32 tokens cost a fifth more than of 128, of 64 3 %
# more (processor time for 600 tokens, SmolLM2 135M: 5.93, 4.83, 4.99 s).
LEAST_PIECE, MOST_GROWTH = 64, 4  # tokens; times the piece before
PIECE_MILLISECONDS = 1000


def read_in_pieces(client: Any, base_url: str, request: dict[str, Any]) -> Iterator[Progress]:
    """Let llama.cpp read all but the last piece of a prompt, each in about a second."""
    address = base_url.rstrip("/").removesuffix("/v1")

    def asked(path: str, **body: Any) -> Any:
        return client.post(f"{address}{path}", cast_to=object, body={"model": request["model"], **body})

    fields = {name: request[name] for name in ("messages", "response_format") if name in request}
    with suppress(openai.APIStatusError, KeyError, TypeError):  # such as pictures: it reads them at once
        text = asked("/apply-template", **fields)["prompt"]
        tokens = asked("/tokenize", content=text, add_special=True, parse_special=True)["tokens"]
        read, piece = 0, LEAST_PIECE
        while read + piece < len(tokens):
            took = asked("/completion", prompt=tokens[: read + piece], n_predict=0)["timings"]
            if took["cache_n"] < read:  # its cache holds another prompt by now
                return
            read += piece
            yield Progress(read, len(tokens))
            growth = PIECE_MILLISECONDS / max(took["prompt_ms"], 1)
            piece = max(LEAST_PIECE, int(piece * min(growth, MOST_GROWTH)))


def picture_part(png: bytes) -> dict[str, Any]:
    """Return a PNG as an inline message part, so that the server need not reach ours."""
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(png).decode()}"}}


def deltas(chunk: dict[str, Any]) -> Iterator[Delta]:
    """Yield the events of one chunk. The usage is in the last chunk, which has no choices."""
    if isinstance(progress := chunk.get("prompt_progress"), dict):
        yield Progress(int(progress.get("processed") or 0), int(progress.get("total") or 0))
    for choice in (chunk.get("choices") or [])[:1]:
        delta = choice.get("delta") or {}
        if text := delta.get("content"):
            yield TextDelta(text)
        elif any(map(delta.get, REASONING)):
            yield Progress(thinks=True)
        if reason := choice.get("finish_reason"):
            yield StreamEnd(REASONS.get(reason, "stop"))
    if usage := chunk.get("usage"):
        yield Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0)
