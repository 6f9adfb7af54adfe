// <div id="hover-card" role="tooltip" hidden></div> <template id="hover-card-shell">
// Pointing at a citation, or focusing it, shows its words, a picture of the place, and the verdict.

import { sendFeedback } from "./citations.js";

const [OPEN_AFTER, CLOSE_AFTER] = [180, 220];

export class HoverCard {
  #citations;
  #card = document.getElementById("hover-card");
  #timer = 0;
  #place = null;

  constructor(citations, root) {
    this.#citations = citations;
    const open = (event) => this.#soon(event.target.closest("a[data-citation]"));
    root.addEventListener("pointerover", open);
    root.addEventListener("focusin", open);
    root.addEventListener("pointerout", () => this.#closeSoon());
    root.addEventListener("focusout", () => this.#closeSoon());
    this.#card.addEventListener("pointerenter", () => clearTimeout(this.#timer));
    this.#card.addEventListener("pointerleave", () => this.#closeSoon());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.#close());
    root.addEventListener("scroll", () => this.#place && this.#put(this.#place), { capture: true, passive: true });
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

  #open(place) {
    const { citation } = this.#citations.of(place);
    if (!citation || !place.isConnected) return;
    this.#place = place;
    this.#card.replaceChildren(this.#fill(citation));
    this.#card.hidden = false;
    place.setAttribute("aria-describedby", "hover-card");
    this.#put(place);
    picture(citation).then((picture) => {
      if (this.#place === place && picture) this.#card.querySelector("[data-picture]").replaceChildren(picture);
    }).catch(() => {});
  }

  #fill(citation) {
    const shell = document.getElementById("hover-card-shell").content.cloneNode(true);
    const set = (name, text) => {
      const element = shell.querySelector(`[data-${name}]`);
      element.textContent = text ?? "";
      element.hidden = !text;
    };
    const texts = document.getElementById("chat-texts").dataset;
    set("quote", citation.quote);
    set("where", [citation.title, `${texts.page} ${citation.page}`, citation.section].filter(Boolean).join(" · "));
    set("verdict-text", citation.verdict_text);
    set("reason", citation.reason || (citation.missing.length ? `${texts.missing}: ${citation.missing.join(", ")}` : ""));
    shell.querySelector("[data-verdict]").dataset.verdict = citation.verdict || "unchecked";
    shell.querySelectorAll("[data-feedback]").forEach((button) => {
      button.setAttribute("aria-pressed", String(button.dataset.feedback === citation.feedback));
      button.addEventListener("click", () => sendFeedback(citation, citation.feedback === button.dataset.feedback ? "" : button.dataset.feedback).then(() => this.#close()));
    });
    return shell;
  }

  #put(place) {
    const box = place.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.#card;
    const above = box.top - height - 8;
    this.#card.style.left = `${Math.max(8, Math.min(box.left - 24, innerWidth - width - 8))}px`;
    this.#card.style.top = `${above > 8 ? above : Math.min(box.bottom + 8, innerHeight - height - 8)}px`;
  }
}

async function picture({ id }) {
  const image = Object.assign(new Image(), { alt: "", src: `/api/citations/${id}/image/?crop=1` });
  await image.decode();
  return image;
}
