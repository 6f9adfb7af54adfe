// <header data-toolbar> <button data-do="zoom-in"> <input data-page-input> <select data-zoom> …
// The toolbar's buttons, the page field, the zoom, and their keys.

import { bindKeys } from "../ui/keys.js";

export class Toolbar {
  #viewer;
  #bar = document.querySelector("[data-toolbar]");
  #labels = null;

  constructor(viewer, actions) {
    this.#viewer = viewer;
    const all = { ...this.#actions(), ...actions };
    this.#bar.addEventListener("click", (event) => {
      const button = event.target.closest("[data-do]");
      if (button) all[button.dataset.do]?.(button);
    });
    bindKeys({
      "[": all.previous, "]": all.next, "+": all["zoom-in"], "=": all["zoom-in"], "-": all["zoom-out"],
      "0": () => (viewer.pages.currentScaleValue = "page-width"), r: all.rotate, "/": all.find, p: () => all.panel(),
    });
    this.#bindFields();
  }

  async showLabels() {
    this.#labels = await this.#viewer.pdf.getPageLabels();
    if (this.#labels?.every((label, index) => label === String(index + 1))) this.#labels = null;
    this.#bar.querySelector("[data-page-count]").textContent = this.#viewer.count;
    this.#showPage(this.#viewer.pages.currentPageNumber);
  }

  #actions() {
    const { pages } = this.#viewer;
    const turn = (by) => () => (pages.pagesRotation = (pages.pagesRotation + by + 360) % 360);
    return {
      previous: () => pages.previousPage(), next: () => pages.nextPage(),
      "zoom-in": () => pages.increaseScale(), "zoom-out": () => pages.decreaseScale(),
      rotate: turn(90), "rotate-back": turn(-90),
    };
  }

  #bindFields() {
    const input = this.#bar.querySelector("[data-page-input]");
    const zoom = this.#bar.querySelector("[data-zoom]");
    input.addEventListener("focus", () => input.select());
    input.addEventListener("change", () => this.#goTo(input.value.trim()));
    zoom.addEventListener("change", () => (this.#viewer.pages.currentScaleValue = zoom.value));
    this.#viewer.on("pagechanging", ({ pageNumber }) => this.#showPage(pageNumber));
    this.#viewer.on("scalechanging", ({ scale, presetValue }) => showZoom(zoom, scale, presetValue));
  }

  #goTo(text) {
    const labelled = this.#labels?.indexOf(text) ?? -1;
    const page = labelled >= 0 ? labelled + 1 : Number.parseInt(text, 10);
    if (page >= 1 && page <= this.#viewer.count) this.#viewer.pages.currentPageNumber = page;
    this.#showPage(this.#viewer.pages.currentPageNumber);
    this.#viewer.scroller.focus();
  }

  #showPage(page) {
    const input = this.#bar.querySelector("[data-page-input]");
    if (document.activeElement !== input) input.value = this.#labels?.[page - 1] || page;
  }
}

function showZoom(select, scale, preset) {
  const known = [...select.options].find((option) => option.value === preset || Number(option.value) === scale);
  const custom = select.querySelector("[value=custom]");
  custom.textContent = `${Math.round(100 * scale)} %`;
  select.value = known ? known.value : "custom";
}
