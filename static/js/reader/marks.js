// <div class="page"> … <div class="marks"><a class="mark lit-2" href="…" title="…"></a></div></div>
// Small marks in the margin, where an answer rests on the page. Following one shows the answer.

import { getJSON } from "../ui/request.js";
import { onPage } from "./highlights.js";

const LEAST = 0.008; // of the page's height: a mark can always be hit

export class Marks {
  #viewer;
  #open;
  #byPage = new Map();

  constructor(viewer, open) {
    this.#viewer = viewer;
    this.#open = open;
    viewer.on("pagerendered", ({ pageNumber }) => this.#draw(pageNumber));
    viewer.on("scalechanging", () => this.#byPage.forEach((_, page) => this.#draw(page)));
  }

  async load() {
    const url = this.#viewer.element.dataset.marksUrl;
    if (!url) return;
    const old = [...this.#byPage.keys()];
    this.#byPage = Map.groupBy(await getJSON(url), (mark) => mark.page);
    [...new Set([...old, ...this.#byPage.keys()])].forEach((page) => this.#draw(page));
  }

  #draw(page) {
    const view = this.#viewer.view(page);
    view?.div.querySelector(":scope > .marks")?.remove();
    const marks = this.#byPage.get(page);
    if (!marks || !view?.pdfPage || view.renderingState !== 3) return;
    const layer = document.createElement("div");
    layer.className = "marks";
    marks.forEach((mark) => layer.append(this.#link(mark, view)));
    view.div.append(layer);
  }

  #link(mark, view) {
    const link = document.createElement("a");
    link.className = `mark lit-${((mark.number - 1) % 6) + 1}`;
    link.href = mark.href;
    link.title = `${mark.conversation}: ${mark.claim}`;
    link.ariaLabel = link.title;
    const { top, height } = onPage(view, [0, mark.top, 1, mark.bottom]);
    link.style.top = `${100 * top}%`;
    link.style.height = `${100 * Math.max(LEAST, height)}%`;
    link.addEventListener("click", (event) => {
      if (this.#open(mark.citation)) event.preventDefault();
    });
    return link;
  }
}
