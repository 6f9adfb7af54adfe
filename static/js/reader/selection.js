// <div data-selection-menu hidden> <button data-do="ask|similar|quote|note|link">
// Words selected on a page: a small menu beside them says what can be done.

import { copyText } from "../ui/forms.js";

const LONGEST = 1500;

export class Selection {
  #viewer;
  #menu = document.querySelector("[data-selection-menu]");
  #actions;
  #words = "";
  #page = 0;

  constructor(viewer, actions) {
    this.#viewer = viewer;
    this.#actions = { quote: () => this.#copyQuote(), link: () => this.#copyLink(), ...actions };
    document.addEventListener("selectionchange", () => this.#read());
    viewer.scroller.addEventListener("pointerup", () => setTimeout(() => this.#show(), 10));
    viewer.scroller.addEventListener("keyup", (event) => event.shiftKey && this.#show());
    viewer.scroller.addEventListener("scroll", () => (this.#menu.hidden = true), { passive: true });
    this.#menu.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the selection
    this.#menu.addEventListener("click", (event) => {
      const button = event.target.closest("[data-do]");
      if (!button) return;
      this.#menu.hidden = true;
      this.#actions[button.dataset.do]({ words: this.#words, page: this.#page });
    });
  }

  #read() {
    const selection = getSelection();
    const layer = selection.anchorNode?.parentElement?.closest(".textLayer");
    this.#words = layer ? selection.toString().replace(/\s+/g, " ").trim().slice(0, LONGEST) : "";
    this.#page = Number(layer?.closest(".page").dataset.pageNumber ?? 0);
    if (!this.#words) this.#menu.hidden = true;
  }

  #show() {
    if (!this.#words) return;
    const box = getSelection().getRangeAt(0).getBoundingClientRect();
    this.#menu.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.#menu;
    this.#menu.style.left = `${Math.max(8, Math.min(box.left + (box.width - width) / 2, innerWidth - width - 8))}px`;
    this.#menu.style.top = `${box.top > height + 64 ? box.top - height - 8 : box.bottom + 8}px`;
  }

  #copyQuote() {
    copyText(quoted(this.#words, this.#viewer.element.dataset.title, this.#page), texts().copied);
  }

  #copyLink() {
    copyText(linkTo(this.#page, this.#words), texts().copied);
  }
}

export const quoted = (words, title, page) => `“${words}” (${title}, p. ${page})`;

export function linkTo(page, words) {
  const url = new URL(location.pathname, location.href);
  url.search = new URLSearchParams({ page, q: words });
  return url.href;
}

const texts = () => document.getElementById("reader-texts").dataset;
