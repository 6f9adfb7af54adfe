"""Tasks of django-q2. They have no arguments: the rows are the queue.

Do not move this module: the queue stores the dotted names of tasks.
"""

from __future__ import annotations

from reviews.fill_queue import fill_next_row


def fill_row() -> int:
    """Fill cells of the next row. Return their number."""
    return fill_next_row()
