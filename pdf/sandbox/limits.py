"""How much one file may cost. The caller passes them in; the defaults are those of the settings."""

from __future__ import annotations

import msgspec

MIB = 1024 * 1024
# What laying out takes beside the pages, and for each (measured: 0.5 MB for a dense page of a filing).
_LAYOUT_BYTES, _LAYOUT_PAGE_BYTES = 256 * MIB, 3 * MIB // 4

_READING_SHARE = 0.7


# Wall time for a second of CPU time, and the least: who waits for a processor at load 20 does not meet it.
_WALL_FOR_CPU, _LEAST_WALL_SECONDS, _MOST_WALL_SECONDS = 30.0, 60.0, 1800.0


def wall_seconds(cpu_seconds: float) -> float:
    """Wall time in which what may take so much CPU time is surely done, unless it stands still."""
    return max(cpu_seconds, min(_MOST_WALL_SECONDS, max(_LEAST_WALL_SECONDS, _WALL_FOR_CPU * cpu_seconds)))


class Limits(msgspec.Struct, frozen=True):
    """Limits on one parse.

    Attributes:
        file_bytes: size of the file.
        pages: number of pages.
        words: number of words of the whole file.
        readers: how many processes read one file at once.
        memory_bytes: address space of each of them.
        base_seconds, page_seconds: CPU time, for the file and for each of its pages. Wall time is bounded by
            ``wall_seconds`` of it: on a busy machine a file is slow without being hostile.
        stall_seconds: CPU time one page may take before it is given up.
        ocr_memory_bytes: address space of the process that recognises text: its models and a
            page's picture need more than reading does (measured: 1.0 GB).
        ocr_page_seconds: CPU time for recognising a page (measured: 10 ms a word); 45 times that
            in wall time.
        tesseract: languages (``rus+ara``) that Tesseract recognises where our own models read little.
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
        """Address space of the process that lays out all pages; it never opens the file itself."""
        return max(self.memory_bytes, _LAYOUT_BYTES + pages * _LAYOUT_PAGE_BYTES)

    def seconds(self, pages: int) -> float:
        """Time for a file of that many pages."""
        return self.base_seconds + self.page_seconds * pages

    def reading_seconds(self, pages: int) -> float:
        """The part of them in which the pages are read; the rest is for their layout."""
        return _READING_SHARE * self.seconds(pages)

    @property
    def most_extra_seconds(self) -> float:
        """The most a stage beyond reading and layout may ever take."""
        return self.base_seconds + self.pages * 45 * self.ocr_page_seconds
