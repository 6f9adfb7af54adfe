"""Models: conversations, messages, citations, notes, annotations, reviews, share links."""

from chat.models.citation import Citation
from chat.models.conversation import Conversation, Message, Region, StreamEvent
from chat.models.note import Annotation, Note, NoteVersion, ReadingPlace, TourEnd
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
from chat.models.share import AnswerShare

__all__ = [
    "Annotation",
    "AnswerShare",
    "Citation",
    "Conversation",
    "Message",
    "Note",
    "NoteVersion",
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
