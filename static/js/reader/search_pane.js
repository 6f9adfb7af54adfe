// <div data-pane-search data-url="/search/"> <form> <input name="q"> … results from the search page
// Search in this document; results are the search page's own, their links light the passage here.

import { getJSON, request } from "../ui/request.js";

export class SearchPane {
  #pane = document.querySelector("[data-pane-search]");
  #viewer;
  #highlights;
  #request = null;

  constructor(viewer, highlights) {
    this.#viewer = viewer;
    this.#highlights = highlights;
    this.#pane.addEventListener("submit", (event) => (event.preventDefault(), this.look(this.#field.value)));
    this.#pane.addEventListener("click", (event) => this.#follow(event));
    this.#pane.addEventListener("tabshown", () => this.#field.focus());
  }

  get #field() {
    return this.#pane.querySelector("input");
  }

  async look(words) {
    this.#field.value = words;
    this.#request?.abort();
    this.#request = new AbortController();
    const results = this.#pane.querySelector("[data-results]");
    const query = new URLSearchParams({ q: words, document: this.#viewer.element.dataset.document });
    results.ariaBusy = "true";
    try {
      const html = await (await request(`${this.#pane.dataset.url}?${query}`, { signal: this.#request.signal })).text();
      const found = new DOMParser().parseFromString(html, "text/html").querySelector(".hits");
      results.replaceChildren(found ?? "");
    } catch (error) {
      if (error.name !== "AbortError") results.textContent = error.message;
    } finally {
      results.ariaBusy = "false";
    }
  }

  async #follow(event) {
    const link = event.target.closest("a[href*='unit=']");
    const url = link && new URL(link.href);
    if (!url || !url.pathname.includes(this.#viewer.element.dataset.document) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const highlight = await getJSON(`${this.#viewer.element.dataset.highlightUrl}${url.search}`);
    this.#highlights.show("passage", { ...highlight, colour: 2 });
    this.#highlights.reveal("passage");
  }
}
