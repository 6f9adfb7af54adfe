"""One look at a document's structure tree: whether its pages' tags are worth reading at all.

A sample of the tree is walked, never more than ``ELEMENTS`` of its elements: trees
have tens of thousands, and hostile ones lead in a circle or go down without end.
"""

from __future__ import annotations

from collections.abc import Iterator

import pymupdf
from pymupdf import mupdf

from pdf.tags.elements import BLOCKS, CELLS, standard

# So many elements are looked at, of the children of one so many, spread evenly.
ELEMENTS = 120
CHILDREN = 12
# MuPDF follows an element up to the root in time that grows with the square of its depth.
DEEPEST = 40
# Less than this share of the content under types that say something: the tags are distrusted.
MEANINGFUL_SHARE = 0.6
_LARGEST_ROLE_MAP = 500

RoleMap = dict[str, str]


def readable_tags(document: pymupdf.Document) -> RoleMap | None:
    """The document's role map, where its pages' tags are worth reading; None where it has none such.

    Raises what MuPDF raises on damaged files.
    """
    catalog = mupdf.pdf_dict_gets(mupdf.pdf_trailer(pymupdf._as_pdf_document(document)), "Root")
    marked = mupdf.pdf_dict_gets(mupdf.pdf_dict_gets(catalog, "MarkInfo"), "Marked")
    if not mupdf.pdf_to_bool(marked):
        return None
    root = mupdf.pdf_dict_gets(catalog, "StructTreeRoot")
    if not mupdf.pdf_is_dict(mupdf.pdf_dict_gets(root, "ParentTree")):
        return None
    role_map = _role_map(mupdf.pdf_dict_gets(root, "RoleMap"))
    return role_map if _says_something(root, role_map) else None


def _role_map(named: mupdf.PdfObj) -> RoleMap:
    """What the document's own types stand for.

    MuPDF takes one step through the map and forgets elements whose type is no standard one
    then; so steps are joined in the open document, never in its file.
    """
    count = min(mupdf.pdf_dict_len(named), _LARGEST_ROLE_MAP)
    found = {
        mupdf.pdf_to_name(mupdf.pdf_dict_get_key(named, i)): mupdf.pdf_to_name(
            mupdf.pdf_dict_get_val(named, i)
        )
        for i in range(count)
    }
    for own, role in found.items():
        if role in found and (last := standard(role, found)) != role:
            mupdf.pdf_dict_puts(named, own, mupdf.pdf_new_name(last))
    return found


def _says_something(root: mupdf.PdfObj, role_map: RoleMap) -> bool:
    """Whether most of the sampled content, cells of tables aside, is under types that say what it is."""
    content = meaningful = 0
    waiting = [(kid, "", 1) for kid in _sampled(root)]
    for _ in range(ELEMENTS):
        if not waiting:
            break
        element, known, depth = waiting.pop()
        if depth > DEEPEST:
            return False
        role = _role(element, role_map)
        known = role if role in BLOCKS or (role in CELLS and known not in BLOCKS) else known
        held = False
        for kid in _sampled(element):
            if _is_element(kid):
                waiting.append((kid, known, depth + 1))
            else:
                held = True
        content += held and known not in CELLS
        meaningful += held and known in BLOCKS
    return content > 0 and meaningful >= MEANINGFUL_SHARE * content


def _sampled(element: mupdf.PdfObj) -> Iterator[mupdf.PdfObj]:
    """Some children, the first last, for the walk takes the last first."""
    kids = mupdf.pdf_dict_gets(element, "K")
    count = mupdf.pdf_array_len(kids)
    if not count:
        if not mupdf.pdf_is_null(kids):
            yield kids
        return
    step = max(1, -(-count // CHILDREN))
    for i in reversed(range(0, count, step)):
        yield mupdf.pdf_array_get(kids, i)


def _is_element(kid: mupdf.PdfObj) -> bool:
    """Whether it is an element, not content: a number (MCID) or a reference to content."""
    return bool(mupdf.pdf_is_dict(kid)) and bool(mupdf.pdf_is_name(mupdf.pdf_dict_gets(kid, "S")))


def _role(element: mupdf.PdfObj, role_map: RoleMap) -> str:
    return standard(mupdf.pdf_to_name(mupdf.pdf_dict_gets(element, "S")), role_map)
