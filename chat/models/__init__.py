"""Models: conversations, messages, citations, notes, annotations, reviews, share links,
connections to providers."""

from chat.models.citation import Citation
from chat.models.conversation import AnswerShare, Conversation, Message, Region, StreamEvent
from chat.models.note import Annotation, Note, NoteVersion, ReadingPlace, TourEnd
from chat.models.provider import ProviderConnection
from chat.models.review import (
    Review,
    ReviewCell,
    ReviewCellVersion,
    ReviewColumn,
    ReviewMark,
    ReviewRow,
    ReviewShare,
    ReviewTemplate,
)

__all__ = [
    "Annotation",
    "AnswerShare",
    "Citation",
    "Conversation",
    "Message",
    "Note",
    "NoteVersion",
    "ProviderConnection",
    "ReadingPlace",
    "Region",
    "Review",
    "ReviewCell",
    "ReviewCellVersion",
    "ReviewColumn",
    "ReviewMark",
    "ReviewRow",
    "ReviewShare",
    "ReviewTemplate",
    "StreamEvent",
    "TourEnd",
]
