"""pdf.js's own stock viewer, whole: toolbar, sidebar and all, as Mozilla builds it.

pdf.js's npm package does not hold it; ``npm pack pdfjs-viewer-element`` brings a folder
``dist`` that does (its ``viewer.html`` as a string in a module). It is served as static
files are, by the server that is measured, while the measure lasts.
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

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
    """The viewer's page, to be opened with ``?file=…``; its parts lie in STATIC_ROOT. Raises CommandError."""
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
