"""Resource limits of one file. The defaults equal those of the settings."""

from __future__ import annotations

import msgspec

MIB = 1024 * 1024
# Layout needs a base, and memory per page (measured: 0.5 MB for a dense page of a filing).
_LAYOUT_BYTES, _LAYOUT_PAGE_BYTES = 256 * MIB, 3 * MIB // 4

_READING_SHARE = 0.7


# Wall time per second of CPU time, and its bounds: enough at a load of 20.
_WALL_FOR_CPU, _LEAST_WALL_SECONDS, _MOST_WALL_SECONDS = 30.0, 60.0, 1800.0


def wall_seconds(cpu_seconds: float) -> float:
    """Return the wall time in seconds after which work of this CPU time must be stuck."""
    return max(cpu_seconds, min(_MOST_WALL_SECONDS, max(_LEAST_WALL_SECONDS, _WALL_FOR_CPU * cpu_seconds)))


class Limits(msgspec.Struct, frozen=True):
    """Limits on one parse.

    Attributes:
        file_bytes: size of the file.
        pages: number of pages.
        words: number of words of the whole file.
        readers: the number of processes that read one file in parallel.
        memory_bytes: address space of each of them.
        base_seconds, page_seconds: CPU time for the file and for each page. Wall time is bounded by
            ``wall_seconds`` of it, since a busy machine is slow.
        stall_seconds: CPU time per page before it is given up.
        ocr_memory_bytes: address space of the OCR process; its models and a page's picture need more
            than reading does (measured: 1.0 GB).
        ocr_page_seconds: CPU time for OCR of a page (measured: 10 ms a word); the wall time is 45 times that.
        tesseract: languages (``rus+ara``) for Tesseract, where our models recognise little.
    """

    file_bytes: int = 200 * MIB
    pages: int = 5000
    words: int = 5_000_000
    readers: int = 2
    memory_bytes: int = 1024 * MIB
    base_seconds: float = 20.0
    page_seconds: float = 0.2
    stall_seconds: float = 6.0
    ocr_memory_bytes: int = 2048 * MIB
    ocr_page_seconds: float = 40.0
    tesseract: str = ""

    def layout_bytes(self, pages: int) -> int:
        """Return the address space of the layout process, which never opens the file."""
        return max(self.memory_bytes, _LAYOUT_BYTES + pages * _LAYOUT_PAGE_BYTES)

    def seconds(self, pages: int) -> float:
        """Return the CPU time for a file of this many pages."""
        return self.base_seconds + self.page_seconds * pages

    def reading_seconds(self, pages: int) -> float:
        """Return the part of it for reading; the rest is for the layout."""
        return _READING_SHARE * self.seconds(pages)

    @property
    def most_extra_seconds(self) -> float:
        """The most wall time of any further stage."""
        return self.base_seconds + self.pages * 45 * self.ocr_page_seconds
