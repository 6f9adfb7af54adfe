"""HTTP byte ranges (RFC 9110, section 14): one range a request, which is what pdf.js asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass

SINGLE_RANGE = re.compile(r"bytes=(\d*)-(\d*)\s*")


class RangeNotSatisfiable(Exception):
    """The range lies outside the file: answer 416."""


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes ``start`` to ``end``, both included, of a file of ``size`` bytes."""

    start: int
    end: int
    size: int

    @property
    def length(self) -> int:
        return self.end - self.start + 1

    @property
    def content_range(self) -> str:
        return f"bytes {self.start}-{self.end}/{self.size}"


def requested_range(header: str, size: int) -> ByteRange | None:
    """The range a Range header asks for; None when the whole file is to be sent.

    A header that is malformed or asks for several ranges is ignored, as the
    RFC allows. Raises RangeNotSatisfiable when it lies outside the file.
    """
    match = SINGLE_RANGE.fullmatch(header.strip())
    if match is None or match[0].strip() == "bytes=-":
        return None
    first, last = match.groups()
    if not first:
        start, end = max(size - int(last), 0), size - 1
        if int(last) == 0:
            raise RangeNotSatisfiable
    else:
        start, end = int(first), min(int(last) if last else size - 1, size - 1)
        if last and int(last) < start:
            return None
    if start >= size:
        raise RangeNotSatisfiable
    return ByteRange(start, end, size)
