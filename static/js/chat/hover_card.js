// <div id="hover-card" role="tooltip" hidden></div>
// Pointing at a citation, or focusing it, shows its words, a picture of the place, and the verdict (chat/_card.html).

import { request } from "../ui/request.js";

const [OPEN_AFTER, CLOSE_AFTER] = [180, 220];

export class HoverCard {
  #card = document.getElementById("hover-card");
  #timer = 0;
  #place = null;

  constructor(root) {
    const open = ({ target }) => this.#soon(target.closest("a[data-citation]"));
    root.addEventListener("pointerover", open);
    root.addEventListener("focusin", open);
    const close = ({ target }) => target.closest("a[data-citation]") && this.#closeSoon();
    root.addEventListener("pointerout", close);
    root.addEventListener("focusout", close);
    root.addEventListener("scroll", () => this.#place && this.#put(), { capture: true, passive: true });
    this.#card.addEventListener("pointerenter", () => clearTimeout(this.#timer));
    this.#card.addEventListener("pointerleave", () => this.#closeSoon());
    this.#card.addEventListener("click", () => this.#close());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.#close());
  }

  #soon(place) {
    if (!place) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(place), OPEN_AFTER);
  }

  #closeSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#close(), CLOSE_AFTER);
  }

  #close() {
    clearTimeout(this.#timer);
    this.#card.hidden = true;
    this.#place?.removeAttribute("aria-describedby");
    this.#place = null;
  }

  async #open(place) {
    if (place === this.#place) return;
    this.#place = place;
    const html = await request(`/chat/citations/${place.dataset.citation}/card/`).then((answer) => answer.text()).catch(() => "");
    if (this.#place !== place || !html) return; // another one by now, or not stored yet
    this.#card.innerHTML = html;
    htmx.process(this.#card);
    this.#card.hidden = false;
    place.setAttribute("aria-describedby", "hover-card");
    this.#put();
  }

  #put() {
    const box = this.#place.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.#card;
    const above = box.top - height - 8;
    this.#card.style.left = `${Math.max(8, Math.min(box.left - 24, innerWidth - width - 8))}px`;
    this.#card.style.top = `${above > 8 ? above : Math.min(box.bottom + 8, innerHeight - height - 8)}px`;
  }
}
