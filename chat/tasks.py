"""Tasks of django-q2. They have no arguments: the rows are the queue.

Do not move this module: the queue stores the dotted names of tasks.
"""

from __future__ import annotations

from chat.reports.report_queue import work_on_next


def work_on_report() -> bool:
    """Work on the next report. Return whether there was one."""
    return work_on_next()
