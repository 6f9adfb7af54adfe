"""Models: conversations, messages, citations, notes, annotations, share links, connections to providers."""

from chat.models.citation import Citation
from chat.models.conversation import AnswerShare, AskedScope, Conversation, Message, Region, StreamEvent
from chat.models.note import Annotation, Note, NoteVersion, ReadingPlace, TourEnd
from chat.models.provider import ProviderConnection

__all__ = [
    "Annotation",
    "AnswerShare",
    "AskedScope",
    "Citation",
    "Conversation",
    "Message",
    "Note",
    "NoteVersion",
    "ProviderConnection",
    "ReadingPlace",
    "Region",
    "StreamEvent",
    "TourEnd",
]
