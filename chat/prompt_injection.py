"""Sentences that try to steer a language model instead of informing a reader.

An answer without a model follows no orders, but it repeats sentences: one that tries to steer
a model answers nobody's question.
"""

from __future__ import annotations

import re

_ORDERS = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override|bypass)\b .{0,30}?
        \b(?:previous|prior|above|all|any|your|these|the)\b .{0,30}?
        \b(?:instructions?|rules?|prompts?|guidelines|directions)\b
  | \b(?:ignore|disregard|forget)\s+(?:everything|all|the)\s+(?:above|before|previous)
  | \b(?:system|developer)\s+(?:prompt|message|override)\b
  | \byou\s+are\s+(?:now|no\s+longer)\b .{0,60}? (?:\bassistant\b|\bAI\b|\bmodel\b|\bDAN\b|\brules\b)
  | \bas\s+an\s+AI\b | \blanguage\s+model\b .{0,40}? \byou\s+must\b
  | \b(?:reply|respond|answer|output)\b .{0,30}? \b(?:only\s+with|exactly|with\s+the\s+word)\b
  | \b(?:reply|respond|answer|output|print|say|write|append|include|repeat)\b .{0,30}?
        \bthe\s+(?:string|token|phrase|word|code)\b
  | <\|?\s*/?\s*(?:im_start|im_end|system|assistant|user|endoftext)\b | \[/?(?:INST|SYS)\] | <</?SYS>>
  | ^\W*(?:system|assistant|user|developer)\s*: | \#{2,}\s*(?:system|assistant|instructions?)\b
  | !\[[^\]]*\]\( | \]\(\s*(?:javascript|data|vbscript): | javascript:
  | (?:忽略|无视|無視).{0,12}(?:指令|指示|说明|命令|規則|规则)
  | (?:ignorez?|oubliez)\s.{0,20}instructions | ignorier.{0,30}(?:anweisung|instruktion)
  | ignor[ae]\s.{0,30}instruc+iones
    """,
    re.IGNORECASE | re.VERBOSE,
)


# Each alternative that ASCII can match holds one of these; to look for them takes a tenth of the time.
_TELLING = (
    *("ignor", "disregard", "forget", "overrid", "bypass", "system", "developer", "assistant", "user"),
    *("you", "ai", "language", "only", "exactly", "string", "token", "phrase", "word", "code"),
    *("instruction", "javascript", "<", "[", "]("),
)


def looks_like_injection(text: str) -> bool:
    """Whether a text tries to steer a model, or holds markup that would call another server."""
    if text.isascii():
        lower = text.lower()
        if not any(map(lower.__contains__, _TELLING)):
            return False
    return bool(_ORDERS.search(text))
