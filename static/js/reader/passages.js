// <div data-pane-passages> … <a data-unit="ID" href="…?page=5&unit=ID">
// What was parsed on the page in sight; pointing at a passage or following it lights it on the page.

import { getJSON, request } from "../ui/request.js";

export class Passages {
  #viewer;
  #highlights;
  #pane = document.querySelector("[data-pane-passages]");
  #request = null;
  #shown = 0;

  constructor(viewer, highlights) {
    this.#viewer = viewer;
    this.#highlights = highlights;
    viewer.on("pagechanging", ({ pageNumber }) => this.#show(pageNumber));
    this.#pane.addEventListener("tabshown", () => this.#show(viewer.pages.currentPageNumber));
    this.#pane.addEventListener("click", (event) => {
      const link = event.target.closest("[data-unit]");
      if (!link) return;
      event.preventDefault();
      this.#light(link.dataset.unit);
    });
    this.#pane.addEventListener("pointerover", (event) => {
      const link = event.target.closest("[data-unit]");
      if (link) this.#light(link.dataset.unit, false);
    });
    this.#pane.addEventListener("pointerleave", () => highlights.hide("passage"));
  }

  async #light(unit, scroll = true) {
    const highlight = await getJSON(`${this.#viewer.element.dataset.highlightUrl}?unit=${unit}`);
    this.#highlights.show("passage", { ...highlight, colour: 2 });
    if (scroll) this.#highlights.reveal("passage");
  }

  async #show(page) {
    if (this.#pane.hidden || this.#shown === page) return;
    this.#shown = page;
    this.#request?.abort();
    this.#request = new AbortController();
    const url = this.#viewer.element.dataset.passagesUrl.replace("/0/", `/${page}/`);
    try {
      this.#pane.innerHTML = await (await request(url, { signal: this.#request.signal })).text();
    } catch (error) {
      if (error.name !== "AbortError") this.#pane.textContent = error.message;
    }
  }
}
