"""Tagged PDFs with any page content and any structure tree, even an invalid one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pymupdf

from pdf.layout.pipeline import read_pages
from pdf.structure import ParsedPage, ParsedUnit

FONTS = {"F": "Helvetica", "B": "Helvetica-Bold"}
LEADING = 12.0


@dataclass
class Tag:
    """An element: its type, and its children, which are elements or pieces of content (MCIDs)."""

    role: str
    kids: Sequence[Tag | int] = ()


@dataclass
class TaggedDrawing:
    """One page of 600 by 800 points; y runs down. Each piece of content has a number of its own."""

    pieces: list[bytes] = field(default_factory=list)
    role_map: dict[str, str] = field(default_factory=dict)
    marked: str = "true"

    def lines(
        self,
        texts: Sequence[str],
        y: float,
        x: float = 72,
        size: float = 10,
        font: str = "F",
        leading: float = LEADING,
    ) -> int:
        """Lines one below the other as one piece of content; returns its number."""
        number = len(self.pieces)
        drawn = b"".join(
            b"BT /%s %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n"
            % (font.encode(), size, x, 800 - y - n * leading, text.encode("latin-1"))
            for n, text in enumerate(texts)
        )
        self.pieces.append(b"/Span <</MCID %d>> BDC\n%sEMC\n" % (number, drawn))
        return number

    def artifact(self, text: str, y: float, x: float = 72) -> None:
        drawn = b"BT /F 10 Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n" % (x, 800 - y, text.encode("latin-1"))
        self.pieces.append(b"/Artifact BMC\n%sEMC\n" % drawn)

    def pdf(self, tree: Tag) -> bytes:
        """The file with this structure tree."""
        objects: dict[int, bytes] = {}
        parents: dict[int, int] = {}
        waiting: list[tuple[Tag, int, int]] = [(tree, 20, 5)]
        free = 21
        while waiting:
            tag, number, parent = waiting.pop()
            kids = []
            for kid in tag.kids:
                if isinstance(kid, Tag):
                    waiting.append((kid, free, number))
                    kids.append(b"%d 0 R" % free)
                    free += 1
                else:
                    parents[kid] = number
                    kids.append(b"%d" % kid)
            objects[number] = b"<</S /%s /P %d 0 R /Pg 3 0 R /K [%s]>>" % (
                tag.role.encode(),
                parent,
                b" ".join(kids),
            )
        nums = b" ".join(b"%d 0 R" % parents[n] if n in parents else b"null" for n in range(len(self.pieces)))
        return self.file(objects, nums)

    def file(self, elements: dict[int, bytes], parents: bytes) -> bytes:
        """The file with these objects as elements, object 20 the root; ``parents``: of the content."""
        content = b"".join(self.pieces)
        fonts = b" ".join(
            b"/%s <</Type /Font /Subtype /Type1 /BaseFont /%s>>" % (key.encode(), name.encode())
            for key, name in FONTS.items()
        )
        roles = b" ".join(b"/%s /%s" % (a.encode(), b.encode()) for a, b in self.role_map.items())
        objects = {
            1: b"<</Type /Catalog /Pages 2 0 R /MarkInfo <</Marked %s>> /StructTreeRoot 5 0 R>>"
            % self.marked.encode(),
            2: b"<</Type /Pages /Kids [3 0 R] /Count 1>>",
            3: b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /StructParents 0 "
            b"/Resources <</Font <<%s>>>>>>" % fonts,
            4: b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
            5: b"<</Type /StructTreeRoot /K 20 0 R /ParentTree 6 0 R /RoleMap <<%s>>>>" % roles,
            6: b"<</Nums [0 [%s]]>>" % parents,
            **elements,
        }
        return written(objects)

    def read(self, tree: Tag, tags: bool = True) -> ParsedPage:
        return read_bytes(self.pdf(tree), tags)

    def units(self, tree: Tag, tags: bool = True) -> list[ParsedUnit]:
        return list(self.read(tree, tags).units)


def read_bytes(pdf: bytes, tags: bool = True) -> ParsedPage:
    (page,) = read_pages(pymupdf.open("pdf", pdf), [1], tags=tags)
    return page


def written(objects: dict[int, bytes]) -> bytes:
    """A PDF of these objects, the first of which is its catalog."""
    out = b"%PDF-1.7\n"
    offsets = {}
    for number, body in sorted(objects.items()):
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    size = max(objects) + 1
    entries = [
        b"%010d 00000 n \n" % offsets[n] if n in offsets else b"0000000000 65535 f \n" for n in range(size)
    ]
    return (
        out
        + b"xref\n0 %d\n" % size
        + b"".join(entries)
        + b"trailer <</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, len(out))
    )
