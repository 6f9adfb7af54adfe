"""Paths of the chat app.

==========================================  ======  =====================================================
path                                        method  does
==========================================  ======  =====================================================
chat/ask/                                   POST    starts a conversation with its first question
chat/<conversation>/ask/                    POST    asks a question in a conversation
chat/messages/<message>/stream/             GET     the answer as server-sent events (``chat.events``)
chat/messages/<message>/cancel/             POST    stops the answer; what was written is kept
chat/messages/<message>/retry/              POST    writes the answer anew
chat/messages/<message>/continue/           POST    goes on where an incomplete answer stopped
==========================================  ======  =====================================================

``ask`` takes form fields: ``question``; for a new conversation also ``document``
(repeated) or ``collection`` (neither: the whole library), ``provider``,
``model``. All POSTs that write an answer return 201 and
``{"conversation", "question", "answer", "stream"}``: three ids and the URL to
read with EventSource, which resumes by Last-Event-ID. Errors are
``{"error": "a sentence"}`` with 400 or 404; 409 when a message cannot be
continued, retried or cancelled as it stands.
"""

from __future__ import annotations

from django.urls import URLPattern, URLResolver

urlpatterns: list[URLPattern | URLResolver] = []
