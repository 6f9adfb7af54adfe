"""What passes between the processes of a parse: frames of MessagePack, validated on the way in.

A frame is its length (4 bytes, big endian) and that many bytes. Requests go to
``pdf.sandbox.server`` on its standard input, answers come back on its standard
output; between the child and the readers it forks the same frames run through a pipe.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import sys
import time
from collections.abc import Sequence
from typing import Generic, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from pdf.failures import FailureCode
from pdf.geometry import Rect
from pdf.sandbox.limits import MIB, Limits
from pdf.structure import Layer, OutlineEntry, ParsedPage

FRAME_BYTES = 256 * MIB
_LENGTH = struct.Struct(">I")
_READ_BYTES = _PIPE_BYTES = 1 << 20

T = TypeVar("T")
Stroke = tuple[tuple[float, float], ...]  # points of a drawn line, in page space
Maker = Literal["image", "book", "text", "markdown", "html"]


class ParseRequest(msgspec.Struct, frozen=True, tag="parse"):
    """Read the file at ``path``; answer with the pages of these numbers, all where None.

    Attributes:
        recognised: what ``ParsedPage.recognised`` said when the file was read before, by page number.
        unrecognised: why recognising a page was given up, by page number.
        pictures: the words of pictures on pages with text are wanted, too.
        recognise: recognise the other pages that need it, too; else they say what they await.
    """

    path: str
    limits: Limits
    pages: tuple[int, ...] | None = None
    password: str | None = None
    recognised: dict[int, bytes] = {}
    unrecognised: dict[int, str] = {}
    recognise: bool = True
    pictures: bool = False


class RecogniseRequest(msgspec.Struct, frozen=True, tag="recognise"):
    """Recognise the text of these pages from their pictures, in this order.

    ``background``: whatever else the machine has to do goes first.
    """

    path: str
    pages: tuple[int, ...]
    limits: Limits
    password: str | None = None
    background: bool = False


class DrawRequest(msgspec.Struct, frozen=True, tag="draw"):
    """Read the file, then draw what was found on a page; answer with a PNG."""

    reading: ParseRequest
    page: int
    layers: tuple[Layer, ...]

    @property
    def limits(self) -> Limits:
        return self.reading.limits


class PictureRequest(msgspec.Struct, frozen=True, tag="picture"):
    """Draw a page as a viewer shows it; answer with a PNG. Nothing of its text is read."""

    path: str
    page: int
    dpi: int
    limits: Limits
    password: str | None = None


class TextLayerRequest(msgspec.Struct, frozen=True, tag="text_layer"):
    """Lay the recognised words of the pages under them; answer with the whole PDF."""

    path: str
    pages: tuple[ParsedPage, ...]
    limits: Limits
    password: str | None = None


class UnlockRequest(msgspec.Struct, frozen=True, tag="unlock"):
    """Answer with the PDF as it is without its password."""

    path: str
    password: str
    limits: Limits


YELLOW = (1.0, 0.84, 0.29)


class Highlight(msgspec.Struct, frozen=True):
    """Words to highlight: ``rects`` in page space; ``label`` stands beside them, ``note`` opens.

    Attributes:
        colour: red, green, blue in 0..1.
        author: who made it; its label when nobody is named.
    """

    label: str
    rects: tuple[Rect, ...]
    note: str = ""
    colour: tuple[float, float, float] = YELLOW
    underline: bool = False
    author: str = ""
    strokes: tuple[Stroke, ...] = ()  # a drawing; its rects are not painted


class HeldAnnotation(msgspec.Struct, frozen=True):
    """An annotation that a PDF holds; rectangles and strokes in page space.

    Attributes:
        xref: the number of its PDF object.
        kind: "highlight", "underline" (lines through or under words), "ink" or "note".
        rects: one for each line of words; of a note or a drawing, where it lies.
    """

    page: int
    xref: int
    kind: Literal["highlight", "underline", "ink", "note"]
    rects: tuple[Rect, ...]
    strokes: tuple[Stroke, ...]
    colour: tuple[float, float, float] | None
    note: str


class HeldAnnotations(msgspec.Struct, frozen=True):
    """The annotations of a PDF in its order; ``fingerprint`` is how pdf.js and Hypothesis name the file."""

    fingerprint: str
    annotations: tuple[HeldAnnotation, ...]


class HighlightedPage(msgspec.Struct, frozen=True):
    """A page of a file, from 1, and what to highlight on it."""

    number: int
    marks: tuple[Highlight, ...]


class HighlightedFile(msgspec.Struct, frozen=True):
    path: str
    title: str
    pages: tuple[HighlightedPage, ...]


class EvidenceRequest(msgspec.Struct, frozen=True, tag="evidence"):
    """Bind the HTML and the marked pages of the files into one PDF; answer with it."""

    html: str
    files: tuple[HighlightedFile, ...]
    limits: Limits


class AnnotateRequest(msgspec.Struct, frozen=True, tag="annotate"):
    """Add the marks to their pages as annotations; answer with the whole PDF.

    ``without``: objects of the PDF's own annotations that the marks take the place of.
    """

    path: str
    pages: tuple[HighlightedPage, ...]
    limits: Limits
    without: tuple[int, ...] = ()


class HeldRequest(msgspec.Struct, frozen=True, tag="held"):
    """Answer with the JSON of the file's HeldAnnotations."""

    path: str
    limits: Limits


class ConvertRequest(msgspec.Struct, frozen=True, tag="convert"):
    """Turn a file of another kind into a PDF; answer with it. ``filetype`` is MuPDF's name of the kind."""

    path: str
    maker: Maker
    filetype: str
    limits: Limits


class Opened(msgspec.Struct, frozen=True, tag="opened"):
    """The file could be opened and has this many pages."""

    page_count: int


class About(msgspec.Struct, frozen=True, tag="about"):
    """What the file says of itself.

    ``tagged``: its pages are read with their author's structure. ``sealed``: as in ``ParsedDocument``.
    """

    metadata: dict[str, str] = {}
    outline: tuple[OutlineEntry, ...] = ()
    language: str = ""
    tagged: bool = False
    sealed: bool = False


class Progress(msgspec.Struct, frozen=True, tag="progress"):
    done: int
    total: int
    stage: str = "read"


class MoreTime(msgspec.Struct, frozen=True, tag="more_time"):
    """A stage begins that may take so many seconds from now on; believed within the limits."""

    seconds: float


class PageParsed(msgspec.Struct, frozen=True, tag="page"):
    page: ParsedPage


class PageRecognised(msgspec.Struct, frozen=True, tag="page_recognised"):
    """What the picture of a page said, as ``ParsedPage.recognised`` keeps it."""

    number: int
    packed: bytes


class PageNotRecognised(msgspec.Struct, frozen=True, tag="page_not_recognised"):
    """The page could not be recognised. ``detail`` is for the log."""

    number: int
    code: FailureCode
    detail: str = ""


class Produced(msgspec.Struct, frozen=True, tag="produced"):
    """The PNG or PDF asked for."""

    data: bytes


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The whole file cannot be read. ``message`` is for people, ``detail`` for the log."""

    code: FailureCode
    message: str = ""
    detail: str = ""


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """Everything was said. Seconds by stage."""

    stages: dict[str, float] = {}


Request = (
    ParseRequest
    | RecogniseRequest
    | DrawRequest
    | PictureRequest
    | TextLayerRequest
    | UnlockRequest
    | EvidenceRequest
    | AnnotateRequest
    | HeldRequest
    | ConvertRequest
)
Answer = (
    Opened
    | About
    | Progress
    | MoreTime
    | PageParsed
    | PageRecognised
    | PageNotRecognised
    | Produced
    | Failed
    | Finished
)


def files_of(request: Request) -> list[str]:
    """Paths of the files that answering the request opens."""
    if isinstance(request, EvidenceRequest):
        return [file.path for file in request.files]
    return [request.reading.path if isinstance(request, DrawRequest) else request.path]


def with_files(request: Request, paths: Sequence[str]) -> Request:
    """The request with other paths for the same files, in the order of ``files_of``."""
    if isinstance(request, EvidenceRequest):
        files = [replace(file, path=path) for file, path in zip(request.files, paths, strict=True)]
        return replace(request, files=tuple(files))
    if isinstance(request, DrawRequest):
        return replace(request, reading=replace(request.reading, path=paths[0]))
    return replace(request, path=paths[0])


_encoder = msgspec.msgpack.Encoder()


def frame(message: object) -> bytes:
    body = _encoder.encode(message)
    return _LENGTH.pack(len(body)) + body


def widen(descriptor: int) -> None:
    """Lets who writes to the pipe be some 20 dense pages ahead of who reads, where the system allows it."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def send(descriptor: int, message: object) -> None:
    """Writes one frame, however slowly the other side reads."""
    rest = memoryview(frame(message))
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class Frames(Generic[T]):
    """Reads frames of one type from a pipe."""

    def __init__(self, descriptor: int, kind: object) -> None:
        self._descriptor = descriptor
        self._decoder: msgspec.msgpack.Decoder[T] = msgspec.msgpack.Decoder(kind)
        self._buffer = bytearray()

    def next(self, deadline: float) -> T | None:
        """The next message, or None at the end of the stream.

        Raises TimeoutError when ``time.monotonic()`` passes the deadline first, and
        msgspec.ValidationError when what came is not a message of the type.
        """
        while (body := self._complete()) is None:
            wait = deadline - time.monotonic()
            if wait <= 0 or not select.select([self._descriptor], [], [], wait)[0]:
                raise TimeoutError
            piece = os.read(self._descriptor, _READ_BYTES)
            if not piece:
                return None
            self._buffer += piece
        return self._decoder.decode(body)

    def _complete(self) -> bytes | None:
        if len(self._buffer) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._buffer)
        if length > FRAME_BYTES:
            raise msgspec.ValidationError(f"a frame of {length} bytes")
        end = _LENGTH.size + length
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[_LENGTH.size : end])
        del self._buffer[:end]
        return body
