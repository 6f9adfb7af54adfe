"""Which conversation a chat front end goes on with: it sends the whole talk each time, and no id."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from chat.models import Conversation


class ChatThread(models.Model):
    """A conversation, found by a digest of the talk so far as the front end has it."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    conversation = models.OneToOneField(Conversation, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, help_text="SHA-256 of model, questions and answers")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["owner", "digest"], name="chat_thread_digest")]

    def __str__(self) -> str:
        return f"{self.conversation_id}"
