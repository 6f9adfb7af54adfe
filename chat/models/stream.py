"""The StreamEvent: what was said of an answer while it was written."""

from __future__ import annotations

from django.db import models

from chat.models.conversation import Message


class StreamEvent(models.Model):
    """One event of an answer's stream, kept so that a lost connection can be resumed from any process.

    ``data`` is the event's JSON (``chat.events``). Rows are of no use once the
    answer has been read; ``chat.streaming`` deletes them after a day.
    """

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="events")
    sequence = models.IntegerField(help_text="from 1, through all attempts at the answer")
    kind = models.CharField(max_length=12)
    data = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["message", "sequence"]
        constraints = [models.UniqueConstraint(fields=["message", "sequence"], name="one_event_per_sequence")]
        indexes = [models.Index(fields=["created_at"])]

    def __str__(self) -> str:
        return f"{self.sequence} {self.kind}"
