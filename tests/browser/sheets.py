"""PDFs whose pages lie in their files in odd ways, all with the same words at known places."""

from __future__ import annotations

import pymupdf

WORDS = "Revenue grew to 4,711 million in the year"
ANCHOR = "4,711 million"


def odd_pages() -> bytes:
    """Five pages: plain; /Rotate 90 with a CropBox; /Rotate 180; /Rotate 270, a MediaBox that does not
    begin at (0, 0); UserUnit 1.5 with a CropBox."""
    document = pymupdf.open()
    for rotation, crop, origin, user_unit in (
        (0, None, None, None),
        (90, (40, 50, 560, 700), None, None),
        (180, None, None, None),
        (270, None, (30, 60), None),
        (0, (40, 50, 560, 700), None, 1.5),
    ):
        page = document.new_page(width=612, height=792)
        fill(page)
        if origin:
            x, y = origin
            document.xref_set_key(page.xref, "MediaBox", f"[{-x} {-y} {612 - x} {792 - y}]")
        if crop:
            document.xref_set_key(page.xref, "CropBox", "[{} {} {} {}]".format(*crop))
        if user_unit:
            document.xref_set_key(page.xref, "UserUnit", str(user_unit))
        page.set_rotation(rotation)
    return bytes(document.tobytes())


def fill(page: pymupdf.Page) -> None:
    page.insert_text((90, 150), "Annual report", fontsize=20, fontname="hebo")
    page.insert_text(
        (90, 200), "The board met four times and approved the accounts as presented to it.", fontsize=11
    )
    page.insert_text((90, 300), f"{WORDS} under review, and costs fell.", fontsize=11)
    page.insert_text(
        (90, 400), "Nothing else of note happened, and the outlook is unchanged for now.", fontsize=11
    )


def report() -> bytes:
    """Two pages to ask about: a plain one, and one with /Rotate 90 and a CropBox."""
    document = pymupdf.open()
    for heading, sentence in (
        ("Northern division", "Revenue of the northern division grew to 4,711 million in 2031."),
        ("Southern office", "Headcount of the southern office fell to 1,842 people in 2031."),
    ):
        page = document.new_page(width=612, height=792)
        page.insert_text((90, 150), heading, fontsize=20, fontname="hebo")
        page.insert_text((90, 200), "The board met four times and approved the accounts.", fontsize=11)
        page.insert_text((90, 300), sentence, fontsize=11)
        page.insert_text(
            (90, 400), "Nothing else of note happened, and the outlook is unchanged.", fontsize=11
        )
    document.xref_set_key(document[1].xref, "CropBox", "[40 50 560 700]")
    document[1].set_rotation(90)
    return bytes(document.tobytes())


def long_document(count: int) -> bytes:
    """So many pages in portrait, each with its number."""
    document = pymupdf.open()
    for number in range(1, count + 1):
        document.new_page(width=612, height=792).insert_text((90, 150), f"{WORDS} {2000 + number}.")
    return bytes(document.tobytes())


def mixed_sizes(count: int) -> bytes:
    """So many pages: the first portrait, then by turns portrait, landscape, turned and of another unit."""
    document = pymupdf.open()
    for number in range(count):
        width, height = (792, 612) if number % 4 == 1 else (612, 792)
        page = document.new_page(width=width, height=height)
        page.insert_text((90, 150), f"{WORDS} {2001 + number}.")
        if number % 4 == 2:
            page.set_rotation(90)
        if number % 4 == 3:
            document.xref_set_key(page.xref, "UserUnit", "1.5")
    return bytes(document.tobytes())
