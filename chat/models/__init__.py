"""Models: conversations, messages, citations, notes, annotations, share links, providers, reports."""

from chat.models.citation import Citation
from chat.models.conversation import AnswerShare, AskedScope, Conversation, Message, Region, StreamEvent
from chat.models.note import Annotation, Note, NoteVersion, ReadingPlace, TourEnd
from chat.models.provider import ProviderConnection
from chat.models.report import Report

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
    "Report",
    "StreamEvent",
    "TourEnd",
]
