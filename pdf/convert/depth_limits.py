"""Refuse files whose nesting or unpacked size would take minutes to convert.

The raw bytes are scanned once, before any parser runs. For the confined processes only.
"""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from pathlib import PurePosixPath

from pdf.failures import FailureCode, ParseFailure
from pdf.sandbox.messages import MIB

# Nested elements. Blink flattens deeper ones (kMaximumHTMLParserDOMTreeDepth).
DEEPEST = 512
MOST_TEXT_BYTES = 32 * MIB  # of HTML, Markdown or text: some 10,000 pages
MOST_UNPACKED_BYTES = 1024 * MIB  # of all members of a ZIP archive
MOST_MEMBERS = 20_000
MARKUP = {".xml", ".html", ".xhtml", ".htm", ".fpage", ".fdoc", ".fdseq", ".rels", ".opf", ".ncx", ".svg"}
TOO_DEEP = f"This file nests its elements more than {DEEPEST} deep."
TOO_MUCH_TEXT = f"This file holds more than {MOST_TEXT_BYTES // MIB} MB of text."
TOO_MUCH_UNPACKED = f"This file unpacks to more than {MOST_UNPACKED_BYTES // MIB} MB."
TOO_MANY_MEMBERS = f"This file is an archive of more than {MOST_MEMBERS} files."
UNREADABLE = (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, OSError, EOFError)

codecs.lookup("cp437")  # zipfile needs it, and a confined process may be unable to load it
# Void elements, and elements with an optional end tag (HTML, 13.1.2): unclosed, they do not nest.
_DO_NOT_NEST = frozenset(
    b"area base br col embed hr img input link meta source track wbr param p li dt dd tr td th thead tbody"
    b" tfoot option optgroup rp rt colgroup".split()
)
# To the next angle bracket: a quoted bracket splits a tag, and its second half counts as text.
_TAG = re.compile(rb"<(/?)([A-Za-z][\w:.-]*)([^<>]*)>")


def check_size(content: bytes) -> None:
    """Raise ParseFailure for more text than is converted."""
    if len(content) > MOST_TEXT_BYTES:
        raise ParseFailure(FailureCode.TOO_LARGE, TOO_MUCH_TEXT)


def check_depth(content: bytes) -> None:
    """Raise ParseFailure for HTML or XML that is nested too deeply."""
    if deepest(content) > DEEPEST:
        raise ParseFailure(FailureCode.TOO_LARGE, TOO_DEEP)


def deepest(content: bytes) -> int:
    """Return the depth of the most deeply nested element, at most ``DEEPEST`` + 1."""
    depth = most = 0
    for tag in _TAG.finditer(content):
        closing, name, rest = tag.groups()
        if name.lower() in _DO_NOT_NEST or rest.endswith(b"/"):
            continue
        depth = max(0, depth - 1) if closing else depth + 1
        most = max(most, depth)
        if most > DEEPEST:
            break
    return most


def check_archive(content: bytes) -> None:
    """Raise ParseFailure for a ZIP archive (EPUB, XPS, office) that is too large or nested too deeply."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS:
                raise ParseFailure(FailureCode.TOO_LARGE, TOO_MANY_MEMBERS)
            if sum(member.file_size for member in members) > MOST_UNPACKED_BYTES:
                raise ParseFailure(FailureCode.TOO_LARGE, TOO_MUCH_UNPACKED)
            for member in members:
                if PurePosixPath(member.filename.lower()).suffix in MARKUP:
                    with archive.open(member) as packed:  # not more than the declared size
                        check_depth(packed.read(member.file_size))
    except UNREADABLE:
        raise ParseFailure(FailureCode.DAMAGED, detail="not a ZIP archive that can be read") from None
