"""How much one file may cost. The caller passes them in; the defaults are those of the settings."""

from __future__ import annotations

import msgspec

MIB = 1024 * 1024


class Limits(msgspec.Struct, frozen=True):
    """Limits on one parse.

    Attributes:
        file_bytes: size of the file.
        pages: number of pages.
        memory_bytes: address space of each process that reads the file.
        base_seconds, page_seconds: CPU and wall time, for the file and for each of its pages.
        stall_seconds: wall time one page may take before it is given up.
        ocr_memory_bytes: address space of the process that recognises text: its models and a
            page's picture need more than reading does.
        ocr_page_seconds, ocr_seconds: wall time of recognition, for a page and for the whole file.
        model_page_seconds: wall time the layout model may take for a page.
    """

    file_bytes: int = 200 * MIB
    pages: int = 5000
    memory_bytes: int = 1024 * MIB
    base_seconds: float = 20.0
    page_seconds: float = 0.2
    stall_seconds: float = 6.0
    ocr_memory_bytes: int = 3072 * MIB
    ocr_page_seconds: float = 20.0
    ocr_seconds: float = 600.0
    model_page_seconds: float = 2.0

    def seconds(self, pages: int) -> float:
        """Time for a file of that many pages."""
        return self.base_seconds + self.page_seconds * pages
