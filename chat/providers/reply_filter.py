"""Takes out of a reply what is not its words: reasoning, tags around the answer, tokens of the chat template.

==================================================  =======================================================
written                                             read as
==================================================  =======================================================
``<think>…</think>`` at the beginning of a line     left out; ``[THINK]``, ``<|channel|>analysis``, too
``</think>`` that nothing opened, on its own line   what was written before it is taken back: its template
                                                    had opened it
``<answer>…</answer>`` around lines                 the words inside
``<|im_end|>``, ``</s>``, ``<end_of_turn>``         left out
anything in code                                    text
==================================================  =======================================================
"""

from __future__ import annotations

import re

from citing.marker_decoder import CodeState

_REASONING = {
    **{
        f"<{name}>": f"</{name}>"
        for name in (
            *("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "analysis"),
            *("scratchpad", "inner_monologue", "seed:think"),
        )
    },
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|start_thinking|>": "<|end_thinking|>",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel|>commentary<|message|>": "<|end|>",
}
_AROUND = {
    f"<{slash}{name}>" for name in ("answer", "final", "final_answer", "response") for slash in ("", "/")
}
_TOKENS = {
    *("<s>", "</s>", "<bos>", "<eos>", "<pad>", "<unk>", "[inst]", "[/inst]", "<<sys>>", "<</sys>>"),
    *("<start_of_turn>model", "<start_of_turn>", "<end_of_turn>", "<end_of_utterance>", "[eos]", "[bos]"),
    *("<|im_start|>assistant", "<|start_header_id|>assistant<|end_header_id|>", "<|start|>assistant"),
    "<|channel|>final<|message|>",
}
_CLOSINGS = set(_REASONING.values()) - {"<|end|>"}
_LITERALS = {*_REASONING, *_CLOSINGS, *_AROUND, *_TOKENS}
_SPECIAL = re.compile(r"<[|｜][^|｜<>\n]{1,40}[|｜]>$")  # "<|eot_id|>"
_SPECIAL_BEGUN = re.compile(r"<(?:[|｜](?:[^|｜<>\n]{0,40}[|｜]?)?)?$")
_STARTS = frozenset(literal[0] for literal in _LITERALS)


class ReplyFilter:
    """``feed`` returns the words of the next piece; any split gives the same words.

    Attributes:
        thinks: the reply is inside its reasoning.
        took_back: all that was returned before the last ``feed`` was reasoning, too.
    """

    def __init__(self, thinks: bool = False) -> None:
        self.thinks, self.took_back = thinks, False
        self._closing = "</think>" if thinks else ""
        self._reasoned: list[str] = []
        self._held = ""
        self._line = ""  # what was shown of the present line
        self._has_shown, self._is_behind_tag = False, thinks
        self._closed = False  # the last characters were a closing tag that nothing opened
        self._code = CodeState()
        self._out: list[str] = []

    def feed(self, piece: str) -> str:
        self.took_back = False
        for character in piece:
            self._read(character)
        return self._taken()

    def flush(self, is_whole: bool = True) -> str:
        """Return what was held at the end; the reasoning of a whole reply that has nothing else.

        ``is_whole``: the reply was not cut off, perhaps inside a tag.
        """
        self.took_back = False
        held, self._held = self._held, ""
        if self.thinks:
            words = "".join(self._reasoned).strip()
            self._out += [words] if is_whole and not self._has_shown else []
        elif held.lower() not in _LITERALS and not _SPECIAL.match(held) and (is_whole or len(held) < 2):
            self._show(held)
        return self._taken()

    def _taken(self) -> str:
        text, self._out = "".join(self._out), []
        return text

    def _read(self, character: str) -> None:
        if self._closed:
            self._closed = False
            if character == "\n":
                self._take_back()
        if self.thinks:
            self._read_reasoning(character)
        elif self._held:
            self._read_tag(character)
        elif character in _STARTS and not self._code.inside:
            self._held = character
        else:
            self._show(character)

    def _read_reasoning(self, character: str) -> None:
        self._reasoned.append(character)
        end = "".join(self._reasoned[-len(self._closing) :]).lower()
        if end == self._closing:
            self.thinks = False
            self._line = ""

    def _read_tag(self, character: str) -> None:
        candidate = self._held + character
        lower = candidate.lower()
        may_grow = _SPECIAL_BEGUN.match(candidate) or any(
            literal.startswith(lower) and literal != lower for literal in _LITERALS
        )
        if may_grow or lower in _LITERALS or _SPECIAL.match(candidate):
            self._held = candidate
            if not may_grow:
                self._end_tag()
            return
        self._end_tag()
        self._read(character)

    def _end_tag(self) -> None:
        """Act on the longest tag that was read, or show it."""
        held, self._held = self._held, ""
        lower = held.lower()
        if lower in _REASONING and not self._line.strip(" *>#"):
            self.thinks, self._closing, self._reasoned = True, _REASONING[lower], []
            self._is_behind_tag = True
        elif lower in _CLOSINGS and not self._closing and self._has_shown:
            self._closing = lower  # of a reply only the first
            if self._line.strip():
                self._closed = True
            else:
                self._take_back()
        elif lower in _CLOSINGS or lower in _TOKENS or lower in _AROUND or _SPECIAL.match(held):
            self._is_behind_tag = True
        else:
            self._show(held[0])
            for character in held[1:]:
                self._read(character)

    def _take_back(self) -> None:
        self.took_back = self._is_behind_tag = True
        self._has_shown = False
        self._line = ""
        self._out.clear()

    def _show(self, text: str) -> None:
        for character in text:
            self._code.read(character)
            self._line = "" if character == "\n" else self._line + character
            if self._is_behind_tag and not self._has_shown and character.isspace():
                continue
            self._has_shown = True
            self._out.append(character)
