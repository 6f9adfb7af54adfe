import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Element, openPage } from "./page.mjs";
import { pageLayer } from "../../static/js/reader/page_layer.js";

for (const name of ["DOMMatrix", "ImageData", "Path2D"]) globalThis[name] ??= class {}; // nothing is painted here
const { getDocument } = await import("../../node_modules/pdfjs-dist/legacy/build/pdf.mjs");

beforeEach(() => openPage());

/** A page of pdf.js of 400 × 600 points with 50 points cut off at its left and 100 at its foot. */
async function pageOf(rotate = 0) {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /CropBox [50 100 400 600] /Rotate ${rotate} >>`,
  ];
  const body = objects.map((object, index) => `${index + 1} 0 obj ${object} endobj\n`).join("");
  const text = `%PDF-1.7\n${body}trailer << /Root 1 0 R /Size 4 >>\n%%EOF`;
  const pdf = await getDocument({ data: new TextEncoder().encode(text), verbosity: 0 }).promise;
  return pdf.getPage(1);
}

/** A viewer of one page, as it is shown now; `emit` calls what listens to an event. */
function viewerOf(pdfPage, viewport) {
  const listeners = new Map();
  const view = { div: new Element(), pdfPage, viewport };
  return {
    count: 1,
    view: () => view,
    on: (name, action) => listeners.set(name, action),
    emit: (name, event) => listeners.get(name)(event),
  };
}

const made = (item, put) => put(new Element({ className: item.name }), item.box);
const box = [0.1, 0.2, 0.5, 0.3];

function placeOf(viewer) {
  const { left, top, width, height } = viewer.view(1).div.children[0].children[0].style;
  return [left, top, width, height].map((value) => Number(Number.parseFloat(value).toFixed(4)));
}

for (const rotate of [0, 90, 180, 270]) {
  test(`a box stands where its fractions say on a page that its file turns by ${rotate}`, async () => {
    const page = await pageOf(rotate);
    const viewer = viewerOf(page, page.getViewport({ scale: 1.5 }));
    pageLayer(viewer, "marks", made).show([{ page: 1, box }]);
    assert.deepEqual(placeOf(viewer), [10, 20, 40, 10]);
  });
}

test("a box turns with the page that its reader turns", async () => {
  const page = await pageOf();
  const viewer = viewerOf(page, page.getViewport({ scale: 1, rotation: 90 }));
  pageLayer(viewer, "marks", made).show([{ page: 1, box }]);
  assert.deepEqual(placeOf(viewer), [70, 10, 10, 40]); // clockwise: from the right, by the old top
});

test("a page that is drawn again gets its layer once, and other items replace it", async () => {
  const page = await pageOf();
  const viewer = viewerOf(page, page.getViewport({ scale: 1 }));
  const layer = pageLayer(viewer, "marks", made);
  const names = () => viewer.view(1).div.children.map(({ children }) => children.map(({ className }) => className));
  layer.show([{ page: 1, box, name: "first" }]);
  viewer.emit("pagerendered", { pageNumber: 1 });
  assert.deepEqual(names(), [["first"]]);
  layer.show([{ page: 1, box, name: "second" }, { page: 1, box, name: "third" }]);
  assert.deepEqual(names(), [["second", "third"]]);
  layer.show([]);
  assert.deepEqual(names(), []);
});

test("what has the focus keeps it when its page is drawn again, unless another stands there now", async () => {
  const page = await pageOf();
  const viewer = viewerOf(page, page.getViewport({ scale: 1 }));
  const layer = pageLayer(viewer, "marks", ({ element }, put) => put(element, box));
  const [mark, next] = [new Element(), new Element()];
  layer.show([{ page: 1, element: mark }]);
  mark.focus();
  viewer.view(1).div.children[0].remove(); // as pdf.js does
  viewer.emit("scalechanging", {});
  assert.equal(document.activeElement, mark);
  layer.show([{ page: 1, element: next }]);
  assert.equal(document.activeElement, document.body);
});
