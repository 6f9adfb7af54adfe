// <div data-library data-cards-url="…"> <ul data-cards> <li data-document="ID" data-working>…</li> …
// While documents are being read, asks for their cards anew: often at first, less often the longer
// nothing changes, at once when the page is shown again.

import { request } from "../ui/request.js";

const FIRST = 700;
const SLOWEST = 10000;

export class Progress {
  #library;
  #timer = 0;
  #wait = FIRST;

  constructor(library) {
    this.#library = library;
    document.addEventListener("visibilitychange", () => document.hidden || this.soon());
    if (this.#working().length) this.soon();
  }

  /** Something has begun: look again soon. */
  soon() {
    this.#wait = FIRST;
    this.#later();
  }

  #working() {
    return [...this.#library.querySelectorAll("[data-working]")];
  }

  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), this.#wait);
  }

  async #look() {
    const working = this.#working().slice(0, 100);
    if (!working.length || document.hidden) return;
    const ids = working.map((card) => `id=${card.dataset.document}`).join("&");
    try {
      const html = await (await request(`${this.#library.dataset.cardsUrl}?${ids}`)).text();
      this.#wait = this.#put(html) ? FIRST : Math.min(this.#wait * 1.6, SLOWEST);
    } catch {
      this.#wait = SLOWEST;
    }
    this.#later();
  }

  #put(html) {
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    return [...fresh.content.querySelectorAll("[data-document]")].map((card) => replaceCard(card)).some(Boolean);
  }
}

/** Puts a new card in the old one's place unless it says the same or its menu is open; true when it was put. */
export function replaceCard(card) {
  const old = document.getElementById(card.id);
  if (!old || old.innerHTML === card.innerHTML || old.querySelector(":popover-open")) return false;
  const focused = old.contains(document.activeElement);
  old.replaceWith(card);
  if (focused) card.querySelector(".doc-title a").focus();
  return true;
}

/** In the place of the card of the same document, or before all others. */
export function putCard(library, card) {
  if (document.getElementById(card.id)) return replaceCard(card);
  card.classList.add("doc-new");
  library.querySelector("[data-cards]").prepend(card);
  library.querySelector(".empty, .welcome")?.remove();
  return true;
}

export const watchProgress = (library) => new Progress(library);
