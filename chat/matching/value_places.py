"""Where a quoted value stands that the page writes otherwise: ``3577`` for ``$3,577``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chat.decimal_marks import decimal_mark
from chat.matching.agreement import agreement, page_scale
from chat.matching.occurrences import Occurrence
from chat.matching.page_text import PageText
from chat.values import Value, values_in

_SEPARATORS = re.compile(r"[.,\s'’]")
_MOST_OTHER_LETTERS = 12  # letters beside its values, of a quote that is no more than a value


def value_places(pages: Sequence[PageText], quote: str) -> list[Occurrence]:
    """Every place of the quote's one value, when the quote is little more than a value."""
    values = values_in(quote)
    if len(values) != 1 or sum(map(str.isalpha, quote.replace(values[0].text, ""))) > _MOST_OTHER_LETTERS:
        return []
    return [place for page in pages for place in _on_page(page, values[0], quote)]


def _on_page(page: PageText, value: Value, quote: str) -> Iterator[Occurrence]:
    if _significant(value.digits) not in _SEPARATORS.sub("", page.text) and value.kind != "date":
        return
    scale, mark = page_scale([page.text]), decimal_mark(page.text)
    quoted = values_in(quote, decimal_mark(quote) or mark)
    for printed in values_in(page.text, mark):
        if any(agreement(value, printed, scale) for value in quoted):
            at, _ = page.folded.folded_range(printed.start, printed.end)
            yield Occurrence(page, printed.start, printed.end, at, 1)


def _significant(digits: str) -> str:
    return _SEPARATORS.sub("", digits).strip("0")
