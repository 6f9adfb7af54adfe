"""Time to the first painted page and from a citation's click to its highlight, in real Chromium.

The first page is measured with the same file, the same server and a cold cache,
turn by turn in one run, against pdf.js's own viewer components on a bare page
(their "simple viewer" example: no toolbar, no panel, its settings as they come),
and, with ``--stock``, against pdf.js's stock viewer. The pages of both come from
the test browser, not from a server, and so sooner than ours. Needs Playwright
and Chromium.
"""

from __future__ import annotations

import ast
import re
import shutil
import statistics
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from bench._installation import chromium, ingested, new_tab, server
from chat.models import Citation, Conversation, Message, ReadingPlace
from documents.models import Document

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


# pdf.js's own stock viewer, whole: toolbar, sidebar and all, as Mozilla builds it.
#
# pdf.js's npm package does not hold it; ``npm pack pdfjs-viewer-element`` brings a folder
# ``dist`` that does (its ``viewer.html`` as a string in a module). It is served as static
# files are, by the server that is measured, while the measure lasts.

PLACE = "stock-viewer"
NEEDED = ("viewer.mjs", "viewer.css", "pdf.mjs", "pdf.worker.min.mjs")
_HTML = re.compile(r"""^var \w+=('(?:[^'\\]|\\.)*')""")
_POLICY = re.compile(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>")
HEAD = """<link rel="stylesheet" href="/static/{place}/viewer.css">
<script>
document.addEventListener("webviewerloaded", () => {{
  PDFViewerApplicationOptions.setAll({{ workerSrc: "/static/{place}/pdf.worker.min.mjs",
    cMapUrl: "/static/pdfjs/cmaps/", standardFontDataUrl: "/static/pdfjs/standard_fonts/",
    wasmUrl: "/static/pdfjs/wasm/", disablePreferences: true }});
  PDFViewerApplication.initializedPromise.then(() => PDFViewerApplication.eventBus.on(
    "pagerendered", () => performance.mark("first-page"), {{ once: true }}));
}});
</script>
<script type="module" src="/static/{place}/pdf.mjs"></script>
<script type="module" src="/static/{place}/viewer.mjs"></script>
</head>"""


@contextmanager
def stock_viewer(folder: Path) -> Iterator[str]:
    """Yield the viewer's page, to be opened with ``?file=…``. Raises CommandError."""
    page = read_page(folder)
    place = Path(settings.STATIC_ROOT) / PLACE
    shutil.copytree(folder, place, dirs_exist_ok=True)
    try:
        yield page
    finally:
        shutil.rmtree(place)


def read_page(folder: Path) -> str:
    found = next(folder.glob("_virtual_pdfjs-viewer-html-*.js"), None)
    written = _HTML.match(found.read_text()) if found else None
    if written is None or not all((folder / name).exists() for name in NEEDED):
        raise CommandError(f"{folder} is not the folder dist of the npm package pdfjs-viewer-element 4.")
    html = str(ast.literal_eval(written[1]))  # a string of JavaScript that is one of Python, too
    return _POLICY.sub("", html).replace("</head>", HEAD.format(place=PLACE))


BARE = """<!doctype html><link rel="stylesheet" href="/static/pdfjs/web/pdf_viewer.css">
<style>#c{position:absolute;inset:0;overflow:auto}</style><div id="c"><div class="pdfViewer"></div></div>
<script type="module">
import * as pdfjs from "/static/pdfjs/build/pdf.min.mjs";
import { EventBus, PDFLinkService, PDFViewer } from "/static/pdfjs/web/pdf_viewer.mjs";
pdfjs.GlobalWorkerOptions.workerSrc = "/static/pdfjs/build/pdf.worker.min.mjs";
const eventBus = new EventBus(), linkService = new PDFLinkService({ eventBus });
const viewer = new PDFViewer({ container: document.getElementById("c"), eventBus, linkService });
eventBus.on("pagesinit", () => (viewer.currentScaleValue = "auto"));
eventBus.on("pagerendered", () => performance.mark("first-page"), { once: true });
const pdf = await pdfjs.getDocument({ url: "FILE", cMapUrl: "/static/pdfjs/cmaps/",
  standardFontDataUrl: "/static/pdfjs/standard_fonts/", wasmUrl: "/static/pdfjs/wasm/" }).promise;
viewer.setDocument(pdf);
linkService.setDocument(pdf);
</script>"""
PAUSE = 1.0  # seconds in which the tab before, which was just closed, comes to its end
BARE_MEANS = "(bare: PDFViewer on an empty page; pdf.js's npm package has no viewer.html)"
# Time from the click to the frame after the one that shows the painted anchor in the window.
CLICK = """(number) => new Promise((resolve) => {
  const place = document.querySelector(`a[data-citation][data-number="${number}"]`);
  const room = document.querySelector("[data-pages]").getBoundingClientRect();
  const start = performance.now();
  const look = () => {
    const own = `[data-highlight="${place.dataset.citation}"].lit-anchor`;
    const lit = document.querySelector(`.page[data-loaded] ${own}`);
    const box = lit?.getBoundingClientRect();
    const drawn = lit?.closest(".page").querySelector("canvas:not([hidden])");
    if (box && drawn && box.top >= room.top && box.bottom <= room.bottom) resolve(performance.now() - start);
    else requestAnimationFrame(look);
  };
  place.click();
  requestAnimationFrame(look);
})"""

# Time from typing a word into the find bar to its first match on a drawn page, and the count beside it.
FIND = """(word) => new Promise((resolve) => {
  const bar = document.querySelector("[data-find]");
  const start = performance.now();
  bar.elements.words.value = word;
  bar.elements.words.dispatchEvent(new Event("input", { bubbles: true }));
  const look = () => {
    const counted = /\\d/.test(bar.querySelector("output").textContent);
    const isFound = counted && document.querySelector(".match-on");
    if (isFound) resolve(performance.now() - start);
    else requestAnimationFrame(look);
  };
  look();
})"""
# Time from pointing at a citation to its card with the picture of the place.
CARD = """(number) => new Promise((resolve) => {
  const card = document.getElementById("hover-card");
  const start = performance.now();
  const place = document.querySelector(`a[data-citation][data-number="${number}"]`);
  place.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  const look = () => {
    const image = card.querySelector("img");
    if (card.hidden || !image?.complete || !image.naturalWidth) return requestAnimationFrame(look);
    place.dispatchEvent(new PointerEvent("pointerout", { bubbles: true }));
    resolve(performance.now() - start);
  };
  look();
})"""


# What moved without being asked to, from the first byte until both citations were clicked:
# https://web.dev/articles/cls; buffered entries are those of before.
SHIFT = """() => new Promise((resolve) => {
  const sum = (entries) => entries.reduce((all, one) => all + (one.hadRecentInput ? 0 : one.value), 0);
  const watch = new PerformanceObserver((list) => resolve(sum(list.getEntries())));
  watch.observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum(watch.takeRecords())), 200);
})"""


class ReadingFigures(msgspec.Struct):
    """Medians in milliseconds. Each ratio is our time to the first page, divided by that of the other viewer.

    ``…_p95`` are the 95th percentiles of the runs; ``layout_shift`` is the largest of all runs.
    """

    pages: int
    runs: int
    first_page: float
    first_page_bare: float
    ratio: float
    first_page_stock: float | None
    ratio_stock: float | None
    highlight_same_page: float
    highlight_far_page: float
    highlight_other_page: float
    highlight_same_page_p95: float
    highlight_far_page_p95: float
    highlight_other_page_p95: float
    card: float
    card_p95: float
    find: float
    find_p95: float
    layout_shift: float


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a long PDF")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--stock", type=Path, metavar="DIR", help="folder of pdf.js's stock viewer")
    parser.add_argument("--json", action="store_true")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    stock = stock_viewer(options["stock"]) if options["stock"] else nullcontext("")
    with ingested(options["file"]) as document, stock as stock_page, server() as address:
        cite(document)
        figures = measure(document, address, options["runs"], stock_page)
    if options["json"]:
        command.stdout.write(msgspec.json.encode(figures).decode())
        return 0
    command.stdout.write(f"{figures.pages} pages, medians of {figures.runs} runs")
    command.stdout.write(f"first page painted     {figures.first_page:8.0f} ms")
    command.stdout.write(
        f"pdf.js components bare {figures.first_page_bare:8.0f} ms, ours × {figures.ratio:.2f}"
    )
    if figures.first_page_stock and figures.ratio_stock:
        command.stdout.write(
            f"pdf.js stock viewer    {figures.first_page_stock:8.0f} ms, ours × {figures.ratio_stock:.2f}"
        )
    same, far = figures.highlight_same_page_p95, figures.highlight_far_page_p95
    other = figures.highlight_other_page_p95
    command.stdout.write(f"citation, same page    {figures.highlight_same_page:8.0f} ms, p95 {same:.0f}")
    command.stdout.write(f"citation, far page     {figures.highlight_far_page:8.0f} ms, p95 {far:.0f}")
    command.stdout.write(f"  not drawn ahead      {figures.highlight_other_page:8.0f} ms, p95 {other:.0f}")
    command.stdout.write(f"card with its picture  {figures.card:8.0f} ms, p95 {figures.card_p95:.0f}")
    command.stdout.write(f"first match of a find  {figures.find:8.0f} ms, p95 {figures.find_p95:.0f}")
    command.stdout.write(f"layout shift           {figures.layout_shift:8.3f}")
    command.stdout.write(BARE_MEANS)
    return 0


def measure(document: Document, address: str, runs: int, stock_page: str) -> ReadingFigures:
    """Measure the visits in turn; ``stock_page`` is '' without pdf.js's stock viewer."""
    with chromium() as browser:
        ours: list[float] = []
        bare: list[float] = []
        stock: list[float] = []
        clicked: list[Clicks] = []
        turns = [(bare, bare_components), (ours, our_reader)]
        if stock_page:
            turns.append((stock, partial(stock_viewer_of, stock_page)))
        for _ in range(runs):
            for times, opened in turns:
                time.sleep(PAUSE)
                times.append(first_page(browser, address, document, opened))
            turns.reverse()  # none always follows the same other
            clicked.append(clicks(browser, address, document))
    near, far, others, cards, finds, shifts = map(list, zip(*clicked, strict=True))
    first, alone = statistics.median(ours), statistics.median(bare)
    whole = statistics.median(stock) if stock else None
    return ReadingFigures(
        document.page_count,
        runs,
        first,
        alone,
        first / alone,
        whole,
        first / whole if whole else None,
        statistics.median(near),
        statistics.median(far),
        statistics.median(others),
        p95(near),
        p95(far),
        p95(others),
        statistics.median(cards),
        p95(cards),
        statistics.median(finds),
        p95(finds),
        max(shifts),
    )


def p95(times: list[float]) -> float:
    """Return the 95th percentile; of few runs, the slowest."""
    return sorted(times)[min(len(times) - 1, round(0.95 * len(times)))]


def first_page(browser: Browser, address: str, document: Document, opened: Any) -> float:
    page = new_tab(browser, address)
    opened(page, address, document)
    page.wait_for_function("() => performance.getEntriesByName('first-page').length > 0")
    elapsed = float(page.evaluate("performance.getEntriesByName('first-page')[0].startTime"))
    page.context.close()
    return elapsed


def our_reader(page: Page, address: str, document: Document) -> None:
    ReadingPlace.objects.filter(document=document).delete()  # it opens at its first page
    page.goto(f"{address}/documents/{document.pk}/", wait_until="commit")


def bare_components(page: Page, address: str, document: Document) -> None:
    body = BARE.replace("FILE", f"/documents/{document.pk}/file")
    page.route("**/bare", lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto(f"{address}/bare", wait_until="commit")


def stock_viewer_of(body: str, page: Page, address: str, document: Document) -> None:
    page.route("**/viewer.html**", lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto(f"{address}/viewer.html?file=/documents/{document.pk}/file", wait_until="commit")


class Clicks(NamedTuple):
    """Milliseconds of one visit: to the highlight on the page in sight, on one far away, and on one that was
    not drawn ahead; to the card, and to the first match; the layout shift of it all."""

    same_page: float
    far_page: float
    other_page: float
    card: float
    find: float
    shift: float


def clicks(browser: Browser, address: str, document: Document) -> Clicks:
    page = new_tab(browser, address)
    our_reader(page, address, document)
    page.locator("a[data-citation]").nth(1).wait_for()
    page.wait_for_timeout(500)
    same, far = page.evaluate(CLICK, 1), page.evaluate(CLICK, 2)
    page.wait_for_timeout(1500)  # reading
    other = page.evaluate(CLICK, CITED)
    page.wait_for_timeout(1500)  # reading
    card = page.evaluate(CARD, 1)
    page.wait_for_timeout(500)  # until the card is gone
    page.keyboard.press("Control+f")
    page.wait_for_timeout(300)  # until the first letter is typed
    done = Clicks(same, far, other, card, page.evaluate(FIND, "the"), page.evaluate(SHIFT))
    page.context.close()
    return done


CITED = 8  # more pages than the reader draws ahead


def cite(document: Document) -> None:
    """Store an answer with citations of the first page, a far one, and others. Raises CommandError."""
    places = [1, *(document.page_count * share // 12 for share in (8, 3, 5, 10, 2, 7, 11))]
    cited = [
        document.units.filter(page_number__gte=place).order_by("page_number", "position").first()
        for place in places
    ]
    units = [unit for unit in cited if unit is not None]
    if len({unit.page_number for unit in units}) < CITED or units[0].page_number > 1:
        raise CommandError("This file has too little text to measure.")
    conversation = Conversation.objects.create(owner=document.owner, scope=Conversation.ScopeKind.DOCUMENTS)
    conversation.documents.add(document)
    Message.objects.create(conversation=conversation, position=0, role="user", content="?")
    text = " ".join(f"[[cite:{unit.pk}:{unit.page_number}]]" for unit in units)
    answer = Message.objects.create(conversation=conversation, position=1, role="assistant", content=text)
    for number, unit in enumerate(units, 1):
        Citation.objects.create(
            message=answer,
            number=number,
            position=number,
            document=document,
            unit=unit,
            quote=unit.content,
            page_number=unit.page_number,
            rects=unit.rects[:1],
            unit_rects=unit.rects,
            verdict=Citation.Verdict.EXACT,
        )
