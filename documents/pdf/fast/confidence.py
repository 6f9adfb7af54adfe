"""How sure the engine is of a page's blocks and order."""

from __future__ import annotations

from documents.pdf.fast.sheets import Sheet
from documents.pdf.geometry import Rect


def confidence(sheet: Sheet) -> float:
    """0..1: the share of the page's characters in blocks whose shape leaves little doubt.

    In doubt are blocks whose rectangles run into another block's (the order may
    be wrong), and one-line prose that is neither heading nor closed by
    punctuation (labels of figures, forms, tables that were not recognised).
    """
    total = doubtful = 0
    boxes = [(block, block.rect) for block in sheet.blocks if block.table is None]
    for i, (block, rect) in enumerate(boxes):
        chars = sum([line.chars for line in block.lines])
        total += chars
        loose = (
            block.kind == "prose"
            and len(block.lines) == 1
            and not block.lines[0].text.endswith((".", ":", "。"))
        )
        crossed = any(_run_together(rect, other) for _, other in boxes[max(0, i - 3) : i])
        doubtful += chars if crossed else chars // 2 if loose else 0
    return round(1 - doubtful / total, 3) if total else 1.0


def _run_together(a: Rect, b: Rect) -> bool:
    apart = a.y0 >= b.y1 or b.y0 >= a.y1  # as nearly all are
    return not apart and a.overlap_y(b) > 2 and a.overlap_x(b) > 1
