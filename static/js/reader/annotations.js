// <div data-reader data-annotations-url="…"> <button data-do="highlight" data-colour="green"> <li id="annotation-ID">
// A person's own highlights and underlines: made of what is selected, painted on the pages, listed in the panel.

import { request } from "../ui/request.js";
import { toast } from "../ui/toasts.js";
import { boxOnPage, drawing, pageLayer } from "./page_layer.js";

/** `openList()` resolves to the pane that lists them. */
export function watchAnnotations(viewer, openList) {
  const url = viewer.element.dataset.annotationsUrl;
  const layer = pageLayer(viewer, "own-layer", paint);
  let colour = "yellow"; // the last that was chosen

  function paint({ id, kind, colour: name, comment, boxes, strokes }, put, view) {
    const lines = strokes ? [drawing(strokes, `own-drawing own-${name}`, view)] : [];
    return lines.concat(boxes.map((box, at) => {
      const className = `own own-${kind} own-${name} ${comment && !at ? "own-noted" : ""}`;
      const element = Object.assign(document.createElement("div"), { className });
      element.dataset.annotation = id;
      return put(element, box);
    }));
  }

  async function load() {
    const all = await (await request(url)).json();
    layer.show(all);
    const pages = all.filter(({ source }) => source && hide(source)).map(({ page }) => page);
    new Set(pages).forEach((page) => viewer.view(page).reset());
    if (pages.length) viewer.pages.update();
  }

  /** Whether the PDF's own annotation, which ours took the place of, was still drawn. */
  function hide(source) {
    const { annotationStorage } = viewer.pdf ?? {};
    const name = `${source}R`; // as pdf.js names it
    if (!annotationStorage || annotationStorage.getRawValue(name)) return false;
    annotationStorage.setValue(name, { noView: true, noPrint: true });
    return true;
  }

  /** Resolves to the new annotations; none when the server refused. */
  async function store(selected, look) {
    const body = new FormData();
    body.set("selected", JSON.stringify(selected));
    Object.entries({ colour, ...look }).forEach((field) => body.set(...field));
    colour = look.colour ?? colour;
    try {
      const made = await (await request(url, { method: "POST", body })).json();
      htmx.trigger(document.body, "annotated");
      return made;
    } catch (error) {
      toast(error.message);
      return [];
    }
  }

  const annotate = ({ range }, look) => store(selectedBoxes(viewer, range), look);

  /** Goes to one in the list. */
  async function open(id, what) {
    const pane = await openList();
    const find = () => pane.querySelector(`#annotation-${CSS.escape(id)} ${what}`);
    if (!find()) await new Promise((settled) => pane.addEventListener("htmx:afterSettle", settled, { once: true }));
    find()?.focus();
  }

  ["annotated", "annotationchanged"].forEach((event) => document.body.addEventListener(event, load));
  viewer.scroller.addEventListener("click", ({ clientX: x, clientY: y, target }) => {
    if (!getSelection().isCollapsed || target.closest("a, button")) return;
    const own = [...(target.closest(".page")?.querySelectorAll(".own") ?? [])].find((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      return left < x && x < right && top < y && y < bottom;
    });
    if (own) open(own.dataset.annotation, "a");
  });
  load();
  return {
    highlight: (selected, look = {}) => annotate(selected, { kind: "highlight", ...look }),
    underline: (selected) => annotate(selected, { kind: "underline" }),
    async comment(selected) {
      const [made] = await annotate(selected, { kind: "highlight" });
      if (made) open(made.id, "textarea");
    },
    ink: (page, strokes, chosen) => store([{ page, strokes }], { kind: "ink", colour: chosen }),
  };
}

/** The boxes of the selected words, page by page: [{page, boxes}]. A passage of the panel says its own. */
function selectedBoxes(viewer, range) {
  const passage = range.startContainer.parentElement.closest("a[data-boxes]");
  if (passage) return [{ page: Number(passage.dataset.page), boxes: JSON.parse(passage.dataset.boxes) }];
  const pages = new Map();
  const walker = document.createTreeWalker(range.commonAncestorContainer, NodeFilter.SHOW_TEXT);
  for (let node = walker.currentNode; node; node = walker.nextNode()) {
    const page = Number(node.parentElement.closest(".textLayer")?.parentElement.dataset.pageNumber);
    if (!page || node.nodeType !== Node.TEXT_NODE || !range.intersectsNode(node)) continue;
    const part = document.createRange();
    part.selectNodeContents(node);
    if (node === range.startContainer) part.setStart(node, range.startOffset);
    if (node === range.endContainer) part.setEnd(node, range.endOffset);
    const boxes = [...part.getClientRects()].filter(({ width }) => width > 1);
    pages.set(page, [...(pages.get(page) ?? []), ...boxes.map((box) => boxOnPage(box, viewer.view(page)))]);
  }
  return [...pages].filter(([, boxes]) => boxes.length).map(([page, boxes]) => ({ page, boxes }));
}
