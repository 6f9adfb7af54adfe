// <sup><a data-citation="ID" data-number="2" href="/documents/…">2</a></sup>
// Choosing a citation: by click, by j and k through an answer, with y and n to say whether it is right.
// Whoever shows pages listens to `citationchosen` and may preventDefault() lest the link be followed.

import { bindKeys } from "../ui/keys.js";

export class Citations {
  #conversation;
  #chosen = null;

  constructor(conversation) {
    this.#conversation = conversation;
    conversation.element.addEventListener("click", (event) => {
      const place = event.target.closest("a[data-citation]");
      if (place && !event.ctrlKey && !event.metaKey && !this.choose(place)) event.preventDefault();
    });
    bindKeys({ j: () => this.#step(1), k: () => this.#step(-1), y: () => this.#judge("right"), n: () => this.#judge("wrong") });
  }

  /** False when somebody shows the citation here, so that the link need not be followed. */
  choose(place) {
    const { answer, citation } = this.of(place);
    if (!citation) return true;
    if (this.#chosen) this.#chosen.ariaCurrent = null;
    this.#chosen = place;
    place.ariaCurrent = true;
    return place.dispatchEvent(new CustomEvent("citationchosen", { bubbles: true, cancelable: true, detail: { citation, answer, place } }));
  }

  of(place) {
    const answer = this.#conversation.answers.get(place.closest("[data-message]").dataset.message);
    return { answer, citation: answer?.citations.get(place.dataset.citation) };
  }

  #step(by) {
    const answers = [...this.#conversation.answers.values()];
    const { places } = answers.find(({ element }) => element.contains(this.#chosen)) ?? answers.at(-1) ?? { places: [] };
    const at = places.indexOf(this.#chosen);
    const next = places.at(at < 0 ? Math.min(by, 0) : (at + by) % places.length);
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
    if (next && this.choose(next)) next.click();
  }

  #judge(said) {
    if (!this.#chosen?.isConnected) return;
    const { citation } = this.of(this.#chosen);
    citation.feedback = citation.feedback === said ? "" : said;
    htmx.ajax("POST", `/chat/citations/${citation.id}/feedback/`, { values: { feedback: citation.feedback }, target: "[data-toasts]", swap: "beforeend" });
  }
}
