"""axe-core on every page, in both themes and at three widths: no violation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from uuid import uuid4

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Model
from playwright.sync_api import Browser, Page, expect

from chat.models import Conversation, Message, Note
from documents.models import Collection, Document, Share, Tag
from tests.browser.conftest import PASSWORD, READY_MS, Upload, committed, sign_in
from tests.browser.sheets import report
from tests.browser.site import ROOT, Site

AXE = Path(ROOT / "node_modules/axe-core/axe.min.js")
RUN = """async (rules) => {
  await document.fonts.ready;
  document.getAnimations().forEach((animation) => animation.finish());
  const { violations } = await axe.run(document, { resultTypes: ["violations"], ...rules });
  const shown = (nodes) => nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ");
  return violations.map(({ id, nodes }) => `${id}: ${shown(nodes)}`);
}"""
RULES: dict[str, dict[str, list[str]]] = {
    "light": {},
    "dark": {"runOnly": ["color-contrast", "link-in-text-block"]},  # other rules ignore the theme
}
PAGES = [
    *(
        "/jobs/",
        "/licence/",
        "/",
        "/?as=list",
        "/?q=nothing",
        "/search/",
        "/search/?q=northern+division",
        "/search/history/",
    ),
    *(
        "/conversations/",
        "/conversations/new/",
        "/conversations/{conversation}/",
        "/conversations/providers/",
    ),
    *("/notes/", "/notes/{note}/", "/account/", "/documents/{document}/details/"),
    *("/collections/", "/collections/{collection}/", "/tags/{tag}/", "/shares/", "/chat/links/", "/bin/"),
    *("/papers/", "/documents/{document}/metadata/", "/documents/{paper}/papers/"),
    "{share}",
    *("/documents/{working}/", "/documents/{failed}/", "/documents/{paper}/"),
]


@pytest.fixture(params=[(1440,), pytest.param((1024, 768, 390), marks=pytest.mark.slow, id="narrow")])
def widths(request: pytest.FixtureRequest) -> tuple[int, ...]:
    """The widths in CSS px at which each page is looked at."""
    return tuple(request.param)


@pytest.fixture(params=["light", pytest.param("dark", marks=pytest.mark.slow)])
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="package")  # slow tests run first, so this module runs twice on one site
def ids() -> dict[str, str]:
    return {}


@pytest.fixture
def furnished(ids: dict[str, str], upload: Upload, page: Page, site: Site) -> dict[str, str]:
    """A document with tags and a conversation, a note, one document at work and one that failed."""
    if ids:
        return ids
    reader = upload(report(), "Accessible.pdf")
    page.goto(site.url(reader))
    page.get_by_label("Your question").fill("What was the revenue of the northern division?")
    page.keyboard.press("Enter")
    page.locator("[data-message][data-status=complete]").last.wait_for(timeout=READY_MS)
    page.get_by_role("button", name="Save, export or share").last.click()
    page.get_by_role("button", name="Share by a link").last.click()
    link = page.locator("[data-below] input").last.input_value().removeprefix(site.address)
    made = {"document": reader.split("/")[2], "share": link}
    committed(lambda: rows_for(User.objects.get(username="alice"), made))
    ids.update(made)  # once all of it is there: a test that is run again makes it anew
    return ids


@transaction.atomic
def rows_for(alice: User, ids: dict[str, str]) -> None:
    """Create rows and commit them, so that the server sees them: all or none."""
    document = Document.objects.get(pk=ids["document"])
    # Tests of other files give Alice a tag "accounts".
    tag = Tag.objects.create(owner=alice, name="accessible accounts", colour="teal")
    collection = Collection.objects.create(owner=alice, name="Reports")
    document.tags.add(tag)
    document.collections.add(collection)
    Share.objects.create(collection=collection, group=Group.objects.create(name="Readers"))
    ids["tag"], ids["collection"] = str(tag.pk), str(collection.pk)
    states = {
        "working": Document(title="At work", status="parsing", progress=0.4),
        "failed": Document(title="Failed", status="failed", failure_message="No text."),
        "paper": Document(title="A paper", status="ready", kind="paper", abstract="It is brown."),
    }
    for name, row in states.items():
        row.owner = alice
        row.save()
        ids[name] = str(row.pk)
    note = Note.objects.create(owner=alice, title="Of divisions", content="#### North\n\nTwo.\n\n# South\n")
    ids["note"] = str(note.pk)
    ids["conversation"] = str(Conversation.objects.filter(owner=alice).latest("updated_at").pk)
    answer = Message.objects.filter(conversation=ids["conversation"], role=Message.Role.ASSISTANT).latest(
        "created_at"
    )
    answer.content = f"##### The division\n\n{answer.content}"  # as deep as a model may write
    answer.save()


@pytest.mark.parametrize("pages", [PAGES[::3], pytest.param(PAGES, marks=pytest.mark.slow, id="all")])
def test_every_page_passes_axe_in_both_themes(
    page: Page,
    site: Site,
    furnished: dict[str, str],
    widths: tuple[int, ...],
    theme: str,
    pages: list[str],
) -> None:
    complaints = []
    for path in pages:
        page.goto(site.url(path.format(**furnished)))
        complaints += violations(page, path, widths, (theme,))
    assert complaints == []


def test_the_reader_passes_axe_with_an_answer_and_a_citation_open(
    page: Page, site: Site, furnished: dict[str, str], widths: tuple[int, ...], theme: str
) -> None:
    page.goto(site.url(f"/documents/{furnished['document']}/"))
    page.locator("a[data-citation]").first.click()
    page.locator(".lit-anchor").first.wait_for()
    complaints = violations(page, "answer", widths, (theme,))
    page.get_by_role("button", name="Contents and pages").click()
    for tab in ("Pages", "Figures", "Search", "Notes", "Highlights", "Passages"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(500)
        complaints += violations(page, tab, widths, (theme,))
    assert complaints == []


READER = """
- banner:
  - heading "Northern division" [level=1]
  - toolbar "Pages"
  - button "Panel" [expanded]
- main:
  - region "Pages of the document":
    - document "Northern division"
  - complementary "Panel":
    - tablist "Panel":
      - tab "Ask" [selected]
    - tabpanel "Ask":
      - log "Questions and answers":
        - list "Conversation":
          - listitem:
            - heading "What was the revenue of the northern division?" [level=3]
            - article "Answer":
              - blockquote:
                - paragraph:
                  - superscript:
                    - link "Citation 1, page 1, found"
"""


def test_the_way_to_the_cited_words_is_told_to_a_screen_reader(
    page: Page, site: Site, furnished: dict[str, str]
) -> None:
    page.goto(site.url(f"/documents/{furnished['document']}/"))
    citation = page.get_by_role("article", name="Answer").get_by_role("link", name="Citation 1").first
    citation.focus()
    expect(page.get_by_role("tooltip")).to_contain_text("4,711 million")
    expect(citation).to_have_accessible_description(re.compile("4,711 million.*p. 1", re.S))
    expect(page.locator("body")).to_match_aria_snapshot(READER)
    page.keyboard.press("Enter")
    expect(citation).to_have_attribute("aria-current", "true")
    page.keyboard.press("Control+f")
    page.get_by_role("searchbox", name="Find in this document").fill("million")
    expect(page.locator("[data-find]").get_by_role("status")).to_have_text("1 of 1")  # an output is live
    assert nameless(page) == []


@pytest.mark.slow
def test_whatever_can_be_pressed_or_filled_in_has_a_name(
    page: Page, site: Site, furnished: dict[str, str]
) -> None:
    without = {}
    for path in PAGES:
        page.goto(site.url(path.format(**furnished)))
        tree = nameless(page)
        if tree or page.get_by_role("main").count() != 1 or page.locator("h1").count() != 1:
            without[path] = tree
    assert without == {}


NAMED = {
    "button",
    "link",
    "textbox",
    "searchbox",
    "combobox",
    "checkbox",
    "radio",
    "tab",
    "menuitem",
    "slider",
}


def nameless(page: Page) -> list[str]:
    """Return the roles of elements without a name in Chromium's accessibility tree."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    return [
        node["role"]["value"]
        for node in nodes
        if not node["ignored"]
        and node["role"]["value"] in NAMED | {"image", "heading", "dialog"}
        and not node.get("name", {}).get("value", "").strip()
    ]


def test_pages_for_nobody_in_particular_pass_axe(
    chromium: Browser, site: Site, widths: tuple[int, ...]
) -> None:
    page = chromium.new_page(reduced_motion="reduce")
    complaints = []
    for path in ("/account/sign-in/", f"/documents/{uuid4()}/", "/chat/shared/forged:link/"):
        page.goto(site.url(path))
        complaints += violations(page, path, widths)
    page.close()
    assert complaints == []


@pytest.mark.slow
def test_the_api_docs_pass_axe_with_a_request_made(page: Page, site: Site, widths: tuple[int, ...]) -> None:
    page.goto(site.url("/api/docs/"))
    page.locator("#operations-tag-documents").click()
    operation = page.locator("#operations-documents-documents_list")
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    operation.get_by_text("Response body").wait_for()
    assert violations(page, "API", widths) == []


@pytest.mark.parametrize("models", [(Document,), pytest.param((), marks=pytest.mark.slow, id="all")])
def test_the_admin_passes_axe(
    models: tuple[type[Model], ...],
    chromium: Browser,
    site: Site,
    furnished: dict[str, str],
    widths: tuple[int, ...],
    theme: str,
) -> None:
    """The lists, and of each model the page of one row. Most have the same templates."""
    committed(root)
    page = chromium.new_page(reduced_motion="reduce")
    sign_in(page, site, "root")
    complaints = []
    for path in ["/admin/", "/admin/dashboard/", "/admin/password_change/", *admin_pages(models)]:
        page.goto(site.url(path))
        complaints += violations(page, path, widths, (theme,))
    page.close()
    assert complaints == []


def root() -> None:
    if not User.objects.filter(username="root").exists():
        User.objects.create_superuser("root", password=PASSWORD)


def admin_pages(models: tuple[type[Model], ...]) -> Iterator[str]:
    for model in models or admin.site._registry:
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        yield path
        if row := model._default_manager.order_by("pk").last():
            yield f"{path}{row.pk}/change/"


def violations(
    page: Page, name: str, widths: tuple[int, ...] = (), themes: tuple[str, ...] = ("light", "dark")
) -> list[str]:
    """Return what axe finds in these themes, at these widths, else as wide as the page is."""
    found = []
    before = page.viewport_size
    assert before
    for width, theme in product(widths or (before["width"],), themes):
        page.set_viewport_size({"width": width, "height": before["height"]})
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        if theme == "dark":  # the transition of colours takes some frames
            page.wait_for_timeout(150)
            page.evaluate(
                "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
        if not page.evaluate("'axe' in window"):
            page.evaluate(AXE.read_text())
        rules = RULES[theme]
        found += [f"{name}, {theme}, {width} px: {broken}" for broken in page.evaluate(RUN, rules)]
    page.set_viewport_size(before)
    return found
