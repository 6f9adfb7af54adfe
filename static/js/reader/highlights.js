// <div class="highlights"> <div class="lit lit-unit lit-1" data-highlight="ID" …></div> … </div>
// Paints stored rectangles on pages, and scrolls to them. A highlight is
// {page, unit, heads, anchor, colour, verdict, id}: three layers of boxes, one box per line of text.

import { pageLayer } from "./page_layer.js";

const LAYERS = [["unit", "unit"], ["heads", "head"], ["anchor", "anchor"]];
const COLOURS = 6;

export class Highlights {
  #viewer;
  #layer;
  #shown = new Map(); // name → highlights
  #target = null; // the highlight to go to, until its page is drawn

  constructor(viewer) {
    this.#viewer = viewer;
    this.#layer = pageLayer(viewer, "highlights", (highlight, put) => this.#paint(highlight, put));
    viewer.on("pagerendered", ({ pageNumber }) => pageNumber === this.#target?.page && this.#go("instant"));
    ["wheel", "pointerdown"].forEach((own) => viewer.scroller.addEventListener(own, () => (this.#target = null), { passive: true }));
  }

  /** Shows these highlights under a name; what had that name goes. */
  show(name, highlights) {
    this.#shown.set(name, highlights);
    this.#layer.show([...this.#shown.values()].flat());
  }

  hide(name) {
    if (this.#shown.has(name)) this.show(name, []);
    return this.#shown.delete(name);
  }

  /** False when there was nothing to clear. */
  clear() {
    return [...this.#shown.keys()].map((name) => this.hide(name)).length > 0;
  }

  /** Shows these and nothing else, and goes to the first. */
  goTo(highlights) {
    const inside = highlights.filter(({ page }) => page <= this.#viewer.count);
    this.clear();
    this.show("link", inside);
    if (inside.length) this.reveal("link");
  }

  /** Brings the first to the upper third of the window, where its words pulse once. */
  reveal(name) {
    [this.#target] = this.#shown.get(name);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#go(calm || !this.#viewer.isDrawn(this.#target.page) ? "instant" : "smooth");
  }

  /** Again when the page is drawn: before, its size was a guess. */
  #go(behavior) {
    const { page } = this.#target;
    this.#layer.draw(page);
    const { div } = this.#viewer.view(page);
    const place = div.querySelector(".lit-target.lit-anchor") ?? div.querySelector(".lit-target") ?? div;
    place.scrollIntoView({ block: "start", inline: "nearest", behavior });
    if (this.#viewer.isDrawn(page)) this.#target = null;
    else this.#viewer.pages.update();
  }

  #paint(highlight, put) {
    const { colour = 1, verdict = "", id = "" } = highlight;
    const shared = `lit-${((colour - 1) % COLOURS) + 1} lit-${verdict} ${highlight === this.#target ? "lit-target" : ""}`;
    return LAYERS.flatMap(([field, name]) => (highlight[field] ?? []).map((box) => {
      const element = Object.assign(document.createElement("div"), { className: `lit lit-${name} ${shared}` });
      element.dataset.highlight = id;
      return put(element, box);
    }));
  }
}
