"""Terms as search stores them; the analysis itself is ``text.terms``."""

from __future__ import annotations

from zlib import crc32

from documents.pdf.collecting import forgotten_with_each
from text.terms import BREAK, YEAR, Token, forget_words, run_together, terms_of, terms_of_each, tokens_of

__all__ = ["BREAK", "YEAR", "Token", "run_together", "term_number", "terms_of", "terms_of_each", "tokens_of"]

forgotten_with_each(forget_words)


def term_number(term: str) -> int:
    """The term as a signed 32-bit number (CRC-32): a collision costs a little rank, nothing else."""
    number = crc32(term.encode())
    return number - (1 << 32) if number >= 1 << 31 else number
