// <div data-splitter> <aside data-panel> <button data-panel-grip> <div role="tabpanel" data-pane="URL">
// The panel beside the pages: its width, its tabs, a sheet from below on phones. A pane with a URL
// is fetched when it is first shown.

import { request } from "../ui/request.js";

const NARROW = matchMedia("(max-width: 820px)");
const [LEAST, MOST] = [300, 900];

export class Panel {
  #element = document.querySelector("[data-panel]");
  #splitter = document.querySelector("[data-splitter]");
  #reader = document.querySelector("[data-reader]");
  #button = document.querySelector("[data-do=panel]");

  constructor() {
    this.#setWidth(Number(localStorage.getItem("panel-width")) || 420);
    this.#splitter.addEventListener("pointerdown", (event) => this.#drag(event));
    this.#splitter.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: 24, ArrowRight: -24 }[event.key];
      if (step) this.#setWidth(this.#element.offsetWidth + step);
    });
    this.#element.querySelector("[data-panel-grip]").addEventListener("click", () => this.#element.classList.toggle("tall"));
    this.#element.addEventListener("tabshown", ({ detail }) => this.fill(detail));
    if (NARROW.matches) this.toggle(false);
  }

  get element() {
    return this.#element;
  }

  get isOpen() {
    return !this.#element.hidden;
  }

  toggle(open = !this.isOpen) {
    this.#element.hidden = !open;
    this.#splitter.hidden = !open;
    this.#button.setAttribute("aria-expanded", String(open));
  }

  /** Makes room for the page on a phone: the sheet shrinks to its lower part. */
  makeRoom() {
    if (NARROW.matches) this.#element.classList.remove("tall");
  }

  fillShown() {
    this.fill(this.#element.querySelector("[role=tabpanel]:not([hidden])"));
  }

  async fill(pane) {
    const url = pane.dataset.pane;
    if (!url || pane.dataset.filled) return;
    pane.dataset.filled = "1";
    try {
      pane.innerHTML = await (await request(url + (pane.dataset.query ?? ""))).text();
    } catch (error) {
      pane.textContent = error.message;
      delete pane.dataset.filled;
      return;
    }
    pane.dispatchEvent(new CustomEvent("panefilled", { bubbles: true, detail: pane }));
  }

  #drag(event) {
    event.preventDefault();
    this.#splitter.setPointerCapture(event.pointerId);
    const stop = new AbortController();
    const move = ({ clientX }) => this.#setWidth(innerWidth - clientX);
    this.#splitter.addEventListener("pointermove", move, { signal: stop.signal });
    this.#splitter.addEventListener("pointerup", () => stop.abort(), { signal: stop.signal });
  }

  #setWidth(width) {
    const fitting = Math.round(Math.min(Math.max(width, LEAST), MOST, innerWidth * 0.65));
    this.#reader.style.setProperty("--panel-width", `${fitting}px`);
    this.#splitter.setAttribute("aria-valuenow", String(fitting));
    localStorage.setItem("panel-width", String(fitting));
  }
}
