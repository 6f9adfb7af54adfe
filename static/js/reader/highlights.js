// <div class="highlights"> <div class="lit lit-unit lit-1" data-highlight="ID" …></div> … </div>
// Paints stored rectangles on pages, and scrolls to them. A highlight is
// {page, unit, heads, anchor, colour, verdict, id}: three layers of boxes, one box per line of text.

import { pageLayer } from "./page_layer.js";

const LAYERS = [["unit", "unit"], ["heads", "head"], ["anchor", "anchor"]];
const COLOURS = 6;
const [LEGIBLE, LARGEST] = [14, 3]; // px: height of a line on a phone; most times the page is enlarged for it

export function paintHighlights(viewer) {
  const layer = pageLayer(viewer, "highlights", paint);
  const steps = pageLayer(viewer, "steps", stepper);
  let placed = []; // what was gone to
  let pointed = [];
  let target = null; // the highlight to go to, until its page is drawn

  function show() {
    layer.show([...placed, ...pointed]);
    steps.show(placed.filter(({ step, anchor }) => step && anchor?.length));
  }

  /** Shows these as well, until others are pointed at, or none. */
  function point(highlights) {
    if (highlights.length + pointed.length === 0) return;
    pointed = highlights;
    show();
  }

  /** False when there was nothing to clear. */
  function clear() {
    const count = placed.length + pointed.length;
    placed = pointed = [];
    show();
    return count > 0;
  }

  /** Shows these alone, the first in the upper third of the window; its words pulse once. */
  function goTo(highlights) {
    viewer.leave();
    clear();
    placed = highlights.filter(({ page }) => page <= viewer.count);
    show();
    [target] = placed;
    if (!target) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const isNear = viewer.isDrawn(target.page) && Math.abs(target.page - viewer.page) <= 1;
    scroll(isNear && !calm ? "smooth" : "instant"); // from afar, it would draw all pages between
  }

  /** Again when the page is drawn: before, its size was a guess. */
  function scroll(behavior) {
    const { page } = target;
    layer.draw(page);
    const { div, viewport } = viewer.view(page);
    enlarge(target.anchor?.[0], viewport.height);
    const place = div.querySelector(".lit-target.lit-anchor") ?? div.querySelector(".lit-target") ?? div;
    place.scrollIntoView({ block: "start", inline: "nearest", behavior });
    if (viewer.isDrawn(page)) target = null;
    else viewer.pages.update();
  }

  function enlarge(line, height) {
    const { pages } = viewer;
    const times = Math.min(LARGEST, LEGIBLE / ((line?.[3] - line?.[1]) * height));
    if (self === top && screen.width < 700 && times > 1) pages.currentScale *= times;
  }

  function paint(highlight, put) {
    const { colour = 1, verdict = "", id = "" } = highlight;
    const shared = `lit-${((colour - 1) % COLOURS) + 1} lit-${verdict} ${highlight === target ? "lit-target" : ""}`;
    return LAYERS.flatMap(([field, name]) => (highlight[field] ?? []).map((box) => {
      const element = Object.assign(document.createElement("div"), { className: `lit lit-${name} ${shared}` });
      element.dataset.highlight = id;
      return put(element, box);
    }));
  }

  /** "1/3" at words that several citations light; it goes on to the next of them. */
  function stepper({ step: { at, of, next }, anchor: [words] }, put) {
    const holder = Object.assign(document.createElement("div"), { className: "lit-step" });
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: `${at}/${of}` });
    button.ariaLabel = `${at}/${of}: ${viewer.element.dataset.next}`;
    button.onclick = next;
    holder.append(button);
    return put(holder, words);
  }

  viewer.on("pagerendered", ({ pageNumber }) => pageNumber === target?.page && scroll("instant"));
  const forget = () => (target = null);
  ["wheel", "pointerdown"].forEach((own) => viewer.scroller.addEventListener(own, forget, { passive: true }));
  return { goTo, point, clear };
}
