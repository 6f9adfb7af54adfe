"""Lines are checked before they are said: the answerer says nothing that its own verifier would strike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from chat.claim_spans import claim_before, plain
from chat.claims import Claim, Verification
from chat.extractive.asked import YEAR, Asked
from chat.extractive.candidate import Candidate
from chat.extractive.markdown import bullet
from chat.extractive.row_lines import said_row
from chat.prompting import Passage
from chat.verification import verify


class Proof:
    """Checks lines as the finished answer's citations will be checked, each once.

    A row that does not hold as it is written is tried without the values that
    were struck, then word for word as the page has it; but not when it was
    to be of a year that was asked for: then it is of another.
    """

    def __init__(self, asked: Asked, passages: Sequence[Passage]) -> None:
        self._asked = asked
        self._shown = [passage.unit for passage in passages]
        self._known: dict[int, Candidate | None] = {}

    def holding(self, offered: Iterable[Candidate]) -> Iterator[Candidate]:
        """Those of the lines that hold, as they hold, in their order; checked as they are asked for."""
        for candidate in offered:
            if id(candidate) not in self._known:
                self._known[id(candidate)] = next(filter(self.holds, self._versions(candidate)), None)
            if held := self._known[id(candidate)]:
                yield held

    def holds(self, candidate: Candidate) -> bool:
        return self._verified(candidate).supported

    def _versions(self, candidate: Candidate) -> Iterator[Candidate]:
        yield candidate
        if not candidate.values:
            return
        struck = {" ".join(text.split()) for text in self._verified(candidate).missing}
        kept = [value for value in candidate.values if " ".join(value.cell.text.split()) not in struck]
        if 0 < len(kept) < len(candidate.values):
            text, quote = said_row(candidate.passage, candidate.label, kept)
            yield replace(candidate, text=text, quote=quote, values=tuple(kept))
        of_another_year = len(kept) < len(candidate.values) and self._asked.years & set(
            YEAR.findall(candidate.text)
        )
        if not of_another_year:
            text = " ".join(candidate.passage.unit.text.split())
            yield replace(candidate, text=text, quote=text)

    def _verified(self, candidate: Candidate) -> Verification:
        written = bullet(candidate.text)
        span = claim_before(written)
        claim = Claim(plain(written[span.start : span.end]), candidate.quote)
        return verify(claim, candidate.passage.unit, candidate.passage.around, self._shown)
