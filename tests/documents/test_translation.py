"""The interface in another language: a complete catalogue, and translated pages, answers and messages."""

from __future__ import annotations

import ast
import gettext
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.extract import extract
from babel.messages.pofile import read_po
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils.translation import override
from django.utils.translation.template import templatize

from chat.citations.stored_citations import passages_shown
from documents.models import CitationUnit, Document
from documents.translation import translated
from pdf.failures import PAGE_FAILURES, RECOGNITION_FAILURES, FailureCode
from tests.test_architecture import ORDER, ROOT, sources, tree


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """Restore the language: a request's language stays active in its thread."""
    with override("en-gb"):
        yield


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


CATALOGUES = sorted((ROOT / "locale").glob("*/LC_MESSAGES/django.po"))
PLACES = re.compile(r"%\(\w+\)s|%\d*[sd]|\{\w*\}")
KEYWORDS = {"_": None, "gettext": None, "gettext_lazy": None, "gettext_noop": None}
KEYWORDS |= {"ngettext": (1, 2), "ngettext_lazy": (1, 2)}


def texts() -> Iterator[str]:
    """Every text that templates and modules mark for translation; of a plural its singular."""
    files = [path for package in ORDER for path in sources(package)]
    files += sorted((ROOT / "templates").rglob("*.html"))
    for path in files:
        source = path.read_text()
        if path.suffix == ".html":
            source = re.sub(r"(?m)^[ \t]+", "", templatize(source))
        for _line, text, _comments, _context in extract("python", io.BytesIO(source.encode()), KEYWORDS):
            first = text if isinstance(text, str) else next(part for part in text if part)
            if first:
                yield first


def entries(path: Path) -> dict[str, Message]:
    with path.open("rb") as file:
        return {
            message.id if isinstance(message.id, str) else message.id[0]: message
            for message in read_po(file)
            if message.id
        }


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_every_text_is_translated_and_no_other(path: Path) -> None:
    """Messages that are stored in English are in the code as they are in the catalogue."""
    known = entries(path)
    wanted = set(texts())
    assert len(wanted) > 650
    assert wanted - set(known) == set()
    assert set(known) - wanted - literals() == set()
    assert [name for name, entry in known.items() if entry.fuzzy or not all(strings(entry))] == []


def strings(entry: Message) -> list[str]:
    return [entry.string] if isinstance(entry.string, str) else list(entry.string)


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_translations_keep_the_places_of_values(path: Path) -> None:
    for entry in entries(path).values():
        ids = [entry.id] if isinstance(entry.id, str) else list(entry.id)
        for english, other in zip(ids, strings(entry), strict=True):
            assert len(PLACES.findall(english)) == len(PLACES.findall(other)), english
            if "{}" not in english:  # positions may be named: {1} before {0}
                assert sorted(PLACES.findall(english)) == sorted(PLACES.findall(other)), english


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_the_compiled_catalogue_is_that_of_the_source(path: Path) -> None:
    with path.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for name, entry in entries(path).items():
        plural = not isinstance(entry.id, str)
        said = [compiled.ngettext(*entry.id, n) for n in (1, 2)] if plural else [compiled.gettext(name)]
        assert said == strings(entry)


def literals() -> set[str]:
    """Every string of the code, with ``{}`` for its values."""
    found = set()
    for node in (node for package in ORDER for path in sources(package) for node in ast.walk(tree(path))):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            found.add("".join(str(part) for part in parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(re.sub(r"\{\w*(:\w+)?\}", "{}", node.value))
    return found


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_reasons_of_the_parser_and_kinds_of_passages_are_translated(path: Path) -> None:
    reasons = {code.label for code in FailureCode} | {*PAGE_FAILURES.values(), *RECOGNITION_FAILURES.values()}
    assert reasons | {*CitationUnit.Type.values} <= entries(path).keys()  # facets of a search name kinds


def test_a_stored_message_is_said_in_the_language_of_the_page() -> None:
    reason = "The claim says 5 mg, the page 5 g."
    assert translated(reason) == reason
    with override("de"):
        assert translated(reason) == "Die Aussage sagt 5 mg, die Seite 5 g."
        assert translated("This PDF has no pages.") == "Dieses PDF hat keine Seiten."
        took = (
            "Reading this PDF took more than 60 seconds of processor time. It may be damaged or very complex."
        )
        assert "mehr als 60 Sekunden Rechenzeit gebraucht" in translated(took)
        assert translated("What somebody wrote.") == "What somebody wrote."
        assert passages_shown(3) == "3 Stellen"


@pytest.mark.django_db
def test_pages_speak_the_language_of_the_browser_until_one_is_chosen(page: Client) -> None:
    assert '<html lang="en-gb"' in page.get("/").content.decode()
    german = page.get("/", headers={"Accept-Language": "de-AT,de;q=0.9"}).content.decode()
    assert '<html lang="de"' in german
    assert "Ihre Bibliothek ist leer" in german
    answer = page.post("/language/", {"language": "de", "next": "/search/"})
    assert answer.headers["Location"] == "/search/"
    assert "Bibliothek durchsuchen" in page.get("/search/").content.decode()
    page.post("/language/", {"language": "en-gb", "next": "/"})
    assert "Your library is empty" in page.get("/", headers={"Accept-Language": "de"}).content.decode()


@pytest.mark.django_db
def test_a_failure_that_a_worker_stored_is_said_in_german(page: Client, alice: User) -> None:
    Document.objects.create(
        owner=alice,
        title="Report",
        status="failed",
        failure_code="no_pages",
        failure_message="This PDF has no pages.",
    )
    german = page.get("/", headers={"Accept-Language": "de"}).content.decode()
    assert "Dieses PDF hat keine Seiten." in german
    assert "This PDF has no pages." not in german


def test_an_installation_keeps_what_libraries_say_in_each_language() -> None:
    kept = (ROOT / ".ci/prune").read_text()
    assert all(f"! -name '{code.partition('-')[0]}*'" in kept for code, _ in settings.LANGUAGES)
