"""A server of OpenAI's chat completions that writes reports and deceives in a third of its sentences.

It reads the passages of each prompt. Two of three sentences copy one of them with its citation; the third
invents (a sentence of no passage, cited or not), misquotes (a quotation with other words in it) or drifts (a
number or a name changed, or more said than the passage says). Asked to correct, it does so half the time.
``told`` has each sentence with its kind.
"""

from __future__ import annotations

import json
import random
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PASSAGE = re.compile(
    r"^\[(u\d+) · p\. (\d+)[^\]\n]*\] (.+?)(?=^\[u\d+ · |^</passages)", re.MULTILINE | re.DOTALL
)
SENTENCE = re.compile(r"[A-ZÄÖÜ][^.!?\n\[\]|]{40,240}[.](?=\s|$)")
WRONG = re.compile(r"^(\d+)\. (.+?) \(Wrong: [^)]*\.\)$", re.MULTILINE)
NUMBER = re.compile(r"\d+")
NAMES = ("Hollis Brandt", "the Marburg office", "Ostrava Holdings", "Mr. Delacroix")
HONEST = "honest"
DECEITS = (
    *("invented", "invented with citation", "misquoted", "drifted", "overstated", "reversed", "opinion"),
)
REVERSED = (
    *(("increase", "decrease"), ("higher", "lower"), ("more", "less"), ("before", "after"), ("may", "must")),
    *(("decrease", "increase"), ("lower", "higher"), ("shall", "shall not"), ("will", "will not")),
    *(("is", "is not"), ("are", "are not"), ("was", "was not"), ("were", "were not"), ("has", "has not")),
)


@dataclass
class DeceivingWriter:
    """The replies, drawn from ``seed``; ``told``: the kind of each sentence, by its words."""

    seed: int = 1
    sentences: int = 9  # of a section
    told: dict[str, str] = field(default_factory=dict)
    prompts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._drawn = random.Random(self.seed)
        self._count = 0

    def reply(self, body: dict[str, Any]) -> str:
        system, *turns = [message["content"] for message in body["messages"]]
        asked = turns[-1]
        self.prompts.append(json.dumps(body))
        if "You plan a report" in system:
            return "1. What is reported?\n2. Which figures are stated?"
        if "You prepare a section" in system:
            return f"- {asked.splitlines()[0]}\n- Which numbers are stated on this?"
        passages = self.passages_in(asked)
        if "You correct sentences" in system:
            return self.corrections(asked, passages)
        if "These passages are part" in asked:
            return "\n".join(f"- {text} [[cite:{alias}:{page}]]" for alias, page, text in passages[:8])
        return self.section(passages)

    def passages_in(self, asked: str) -> list[tuple[str, str, str]]:
        """Return alias, page and a sentence of each passage that has one."""
        found = []
        for alias, page, text in PASSAGE.findall(asked):
            words = SENTENCE.findall(" ".join(text.split()))
            found += [(alias, page, sentence) for sentence in words[:2]]
        return found

    def section(self, passages: list[tuple[str, str, str]]) -> str:
        if not passages:
            return "The documents do not say."
        chosen = self._drawn.sample(passages, min(self.sentences, len(passages)))
        return " ".join(self.sentence(*one) for one in chosen)

    def sentence(self, alias: str, page: str, text: str) -> str:
        self._count += 1
        kind = DECEITS[self._count // 3 % len(DECEITS)] if self._count % 3 == 0 else HONEST
        return self.written(kind, alias, page, text)

    def written(self, kind: str, alias: str, page: str, text: str) -> str:
        words = text.split()
        number = NUMBER.search(text)
        cited = f"[[cite:{alias}:{page}]]"
        amount = self._drawn.randrange(1000, 9000)
        name = self._drawn.choice(NAMES)
        match kind:
            case "invented":
                text, cited = f"According to {name}, a loss of {amount} million was expected in 2031.", ""
            case "invented with citation":
                text = f"A total of {amount} units were returned to {name} because of defects."
            case "misquoted":
                middle = len(words) // 2
                text = (
                    f"The report says “{' '.join([*words[:middle], 'hardly', *words[middle:]]).rstrip('.')}”."
                )
            case "drifted" if number:
                text = text[: number.start()] + str(int(number[0]) + 3) + text[number.end() :]
            case "reversed" if turned := reversed_text(text):
                text = turned
            case "opinion":
                text, cited = "Taken together, this shows a clear and lasting improvement over time.", ""
            case "drifted" | "overstated" | "reversed":
                text = f"{text.rstrip('.')}, which {name} called the largest change in {amount} years."
            case _:
                pass
        self.told[re.sub(r"\W+", "", text)] = kind
        return f"{text} {cited}".strip()

    def corrections(self, asked: str, passages: list[tuple[str, str, str]]) -> str:
        lines = []
        for number, _ in WRONG.findall(asked):
            kind = HONEST if self._drawn.random() < 0.5 else self._drawn.choice(DECEITS)
            if passages:
                lines.append(f"{number}. {self.written(kind, *self._drawn.choice(passages))}")
        return "\n".join(lines)

    def kind_of(self, sentence: str) -> str:
        """Return the kind of a sentence by its words; '' if it is not this writer's."""
        return self.told.get(re.sub(r"\W+", "", sentence), "")


def reversed_text(text: str) -> str:
    """Return the sentence with one word turned to its opposite; '' if it has none."""
    for word, other in REVERSED:
        turned = re.sub(rf"\b{word}(?=\b|s\b|d\b)", other, text, count=1)
        if turned != text:
            return turned
    return ""


@contextmanager
def deceiving_server(writer: DeceivingWriter) -> Iterator[str]:
    """Serve the writer and yield the address for ``PINCITE_COMPATIBLE_URL``."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = writer.reply(body)
            usage = {"prompt_tokens": len(json.dumps(body)) // 4, "completion_tokens": len(text) // 4 + 1}
            chunks = [chunk(text), chunk(None, "stop"), chunk(None, usage=usage | {"total_tokens": 0})]
            data = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n\n"
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(data.encode())))
            self.end_headers()
            self.wfile.write(data.encode())

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def chunk(text: str | None, finish: str | None = None, usage: dict[str, int] | None = None) -> dict[str, Any]:
    delta = {"content": text} if text is not None else {}
    choices = [] if usage else [{"index": 0, "delta": delta, "finish_reason": finish}]
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "deceiving"}
    return head | {"choices": choices, "usage": usage}
