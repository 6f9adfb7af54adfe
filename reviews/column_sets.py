"""Sets of columns: built-in templates, users' templates, and CSV or JSON files."""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from documents.contents import disarmed
from reviews.models import Review, ReviewColumn, ReviewTemplate

BOUND = re.compile(r"(<=|>=|<|>|=) ?(\d{4}(?:-\d\d){1,2}|-?\d+(?:\.\d+)?)")
MOST_COLUMNS = 60
MOST_BYTES = 1_000_000  # of a file of columns
MOST_ERRORS = 20  # of one file that are listed
LONGEST = {
    "title": 120,
    "question": 1000,
    "kind": 10,
    "unit": 40,
    "choices": 120,
    "condition": 40,
    "note": 1000,
}
FIELDS = tuple(LONGEST)
HEADS = {"type": "kind", "column": "title", "options": "choices"}  # other names of fields in a CSV
Kind = ReviewColumn.Kind
KINDS = {name: kind.value for kind in Kind for name in (kind.value, str(kind.label).casefold())}
KINDS |= {"yes/no": "boolean", "yes or no": "boolean", "amount": "money", "list": "choices", "": "text"}


class InvalidReview(Exception):
    """The change is invalid in the present state; the message is for the user."""


class InvalidColumns(InvalidReview):
    """Invalid columns of a file or template. ``errors``: a sentence for each."""

    def __init__(self, errors: Sequence[str]) -> None:
        more = len(errors) - MOST_ERRORS
        self.errors = [*errors[:MOST_ERRORS], *([_("And %(count)s more.") % {"count": more}] * (more > 0))]
        super().__init__(" ".join(self.errors))


class ColumnValues(msgspec.Struct, forbid_unknown_fields=True):
    """A column as JSON."""

    title: str
    question: str
    kind: str = "text"
    unit: str = ""
    choices: list[str] = []
    condition: str = ""
    note: str = ""


class ColumnFile(msgspec.Struct):
    """A template as JSON, as in its export and the API."""

    columns: list[Any]
    name: str = ""


# --- Columns ---


def check_column(column: ReviewColumn) -> None:
    """Raise InvalidReview for a column that contradicts itself."""
    column.title, column.question = " ".join(column.title.split()), column.question.strip()
    column.choices = list(dict.fromkeys(choice.strip() for choice in column.choices if choice.strip()))
    if not column.title:
        raise InvalidReview(_("Give the column a title."))
    if not column.question:
        raise InvalidReview(_("Write the question that the column asks of each document."))
    if column.kind in (Kind.CHOICE, Kind.CHOICES) and len(column.choices) < 2:
        raise InvalidReview(_("Name at least two choices."))
    if column.kind not in (Kind.CHOICE, Kind.CHOICES) and column.choices:
        raise InvalidReview(_("Only “One of a list” and “Several of a list” have choices."))
    if column.unit and column.kind != Kind.NUMBER:
        raise InvalidReview(_("Only a number has a unit."))
    if column.condition and not is_bound(column):
        raise InvalidReview(_("Write a limit as < 0.8, or for a date as >= 2026-11-23."))


def is_bound(column: ReviewColumn) -> bool:
    """Return whether the column's condition is a bound of its kind of values; normalise its spaces."""
    column.condition = " ".join(column.condition.split())
    match = BOUND.fullmatch(column.condition)
    is_date = bool(match and "-" in match[2][1:])
    return bool(match) and column.kind in ((Kind.DATE,) if is_date else (Kind.NUMBER, Kind.MONEY, Kind.DATE))


def column_of(values: ColumnValues) -> ReviewColumn:
    """Return an unsaved column. Raise InvalidReview for values that contradict each other or are too long."""
    if values.kind not in Kind.values:
        known = ", ".join(Kind.values)
        raise InvalidReview(
            _("“%(kind)s” is not a type. Types: %(known)s.") % {"kind": values.kind, "known": known}
        )
    column = ReviewColumn(**msgspec.structs.asdict(values))
    check_column(column)
    for name, most in LONGEST.items():
        texts = column.choices if name == "choices" else [getattr(column, name)]
        if any(len(text) > most for text in texts):
            message = _("“%(name)s” is too long: %(most)s characters at most.")
            raise InvalidReview(message % {"name": name, "most": most})
        if any("\x00" in text for text in texts):
            raise InvalidReview(_("“%(name)s” contains a NUL character.") % {"name": name})
    return column


def values_of(column: ReviewColumn) -> dict[str, Any]:
    return {name: getattr(column, name) for name in FIELDS}


def columns_of(listed: Sequence[tuple[str, Any]]) -> list[ReviewColumn]:
    """Return columns of (name for messages, values). Raise InvalidColumns with all errors."""
    errors, columns, titles = [], [], dict[str, str]()
    for name, values in listed:
        try:
            if isinstance(values, InvalidReview):
                raise values
            column = column_of(msgspec.convert(values, ColumnValues))
        except (InvalidReview, msgspec.ValidationError) as error:
            errors.append(f"{name}: {error}")
            continue
        if before := titles.get(column.title):
            message = _("The title “%(title)s” is already used by %(before)s.")
            errors.append(f"{name}: {message % {'title': column.title, 'before': before}}")
        titles.setdefault(column.title, name)
        columns.append(column)
    if not listed:
        errors.append(_("There are no columns."))
    if len(listed) > MOST_COLUMNS:
        errors.insert(0, _("A review has %(most)s columns at most.") % {"most": MOST_COLUMNS})
    if errors:
        raise InvalidColumns(errors)
    return columns


# --- Files ---


def columns_in(data: bytes) -> tuple[str, list[ReviewColumn]]:
    """Return the name (of JSON, else '') and columns of a file. Raise InvalidColumns."""
    if len(data) > MOST_BYTES:
        raise InvalidColumns([_("This file is too large: 1 MB at most.")])
    text = decoded(data)
    if text.lstrip().startswith(("{", "[")):
        return columns_in_json(text)
    return "", columns_of(list(csv_lines(text)))


def decoded(data: bytes) -> str:
    """Decode UTF-8, UTF-16 with a byte order mark, or Windows-1252, as Excel writes them."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def columns_in_json(text: str) -> tuple[str, list[ReviewColumn]]:
    try:
        read = json.loads(text)
        file = msgspec.convert({"columns": read} if isinstance(read, list) else read, ColumnFile)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise InvalidColumns([_("This JSON cannot be read: %(error)s") % {"error": error}]) from None
    named = ((_("Column %(number)s") % {"number": at}, one) for at, one in enumerate(file.columns, 1))
    return " ".join(file.name.split())[:200], columns_of(list(named))


def csv_lines(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the name and values of each line below the header. Raise InvalidColumns for an invalid header."""
    if "\x00" in text:
        raise InvalidColumns([_("This is not a text file.")])
    first = text.lstrip("\r\n").partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        heads: list[str] = []
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if not heads:
                heads = fields_of(cells)
                continue
            yield _("Line %(number)s") % {"number": reader.line_num}, line_values(heads, cells)
    except csv.Error as error:
        message = _("Line %(number)s cannot be read: %(error)s.")
        raise InvalidColumns([message % {"number": reader.line_num, "error": error}]) from None


def fields_of(cells: Sequence[str]) -> list[str]:
    """Return the fields named by a header. Raise InvalidColumns."""
    names = [HEADS.get(name, name) for name in (cell.strip().casefold() for cell in cells)]
    known = {"known": ", ".join(FIELDS)}
    errors = [
        _("Line 1: “%(head)s” is not a field of a column. Fields: %(known)s.") % ({"head": name} | known)
        for name in names
        if name not in FIELDS
    ]
    errors += [
        _("Line 1: the heading “%(head)s” is missing.") % {"head": name}
        for name in ("title", "question")
        if name not in names
    ]
    if len(set(names)) < len(names):
        errors.append(_("Line 1: two headings are the same."))
    if errors:
        raise InvalidColumns(errors)
    return names


def line_values(heads: Sequence[str], cells: Sequence[str]) -> dict[str, Any] | InvalidReview:
    """Return the values of a line. Choices are in one cell, separated by | or ;."""
    if any(cell.strip() for cell in cells[len(heads) :]):
        return InvalidReview(
            _("There are more cells than headings. Put quotes around a cell that contains commas.")
        )
    texts = dict(zip(heads, (as_words(cell) for cell in cells), strict=False))
    kind = texts.get("kind", "").casefold()
    between = "|" if "|" in texts.get("choices", "") else ";"
    values: dict[str, Any] = texts | {"kind": KINDS.get(kind, kind)}
    values["choices"] = [choice for choice in texts.get("choices", "").split(between) if choice.strip()]
    return {"title": "", "question": ""} | values


def as_words(cell: str) -> str:
    """Return a cell without the apostrophe by which a spreadsheet marks text that looks like a formula."""
    text = cell.strip()
    return text[1:] if text[:1] == "'" and disarmed(text[1:]) == text else text


# --- Templates ---


@cache
def templates() -> dict[str, dict[str, Any]]:
    """Return the built-in templates by name: ``{"title", "columns"}``."""
    return tomllib.loads(Path(__file__).with_name("templates.toml").read_text(encoding="utf-8"))


def template_columns(user: User, template: str) -> list[Mapping[str, Any]]:
    """Return the columns of a template, by its name or the id of a visible one. Raise InvalidReview."""
    if not template:
        return []
    if template in templates():
        return list(templates()[template]["columns"])
    try:
        own = ReviewTemplate.objects.visible_to(user).filter(pk=UUID(template)).first()
    except ValueError:
        own = None
    if own is None:
        raise InvalidReview(_("This template does not exist or is no longer shared with you."))
    return list(own.columns)


def keep_template(user: User, name: str, columns: Sequence[ReviewColumn]) -> ReviewTemplate:
    """Save columns as a template. Raise InvalidReview."""
    name = " ".join(name.replace("\x00", "").split())[:200]
    if not name:
        raise InvalidReview(_("Give the template a name."))
    if not columns:
        raise InvalidReview(_("There are no columns."))
    return ReviewTemplate.objects.create(
        owner=user, name=name, columns=[values_of(column) for column in columns]
    )


def template_of(review: Review, user: User, name: str = "") -> ReviewTemplate:
    """Save the review's columns as a template of the user. Raise InvalidReview."""
    return keep_template(user, name or review.name, list(review.columns.order_by("position")))


def as_json(template: ReviewTemplate) -> bytes:
    """Return a template as a file, which ``columns_in`` reads."""
    return json.dumps(
        {"name": template.name, "columns": template.columns}, ensure_ascii=False, indent=2
    ).encode()
