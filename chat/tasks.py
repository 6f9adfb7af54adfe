"""The tasks of django-q2. They carry no data: the rows say what there is to do.

Their dotted names are stored in the queue: this module stays where it is.
"""

from __future__ import annotations

from chat.reviews.fill_queue import fill_next_row


def fill_row() -> int:
    """Fills cells of the next row in turn. Returns how many."""
    return fill_next_row()
