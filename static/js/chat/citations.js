// <sup><a data-citation="ID" data-number="2" href="/documents/…">2</a></sup>
// Choosing a citation: by click, by j and k through an answer, with y and n to say whether it is right.
// Whoever shows pages listens to `citationchosen` and may preventDefault() to keep the link from being followed.

import { bindKeys } from "../ui/keys.js";
import { request } from "../ui/request.js";
import { toast } from "../ui/toasts.js";

export class Citations {
  #conversation;
  #chosen = null;

  constructor(conversation) {
    this.#conversation = conversation;
    conversation.element.addEventListener("click", (event) => {
      const place = event.target.closest("a[data-citation]");
      if (!place || event.ctrlKey || event.metaKey) return;
      if (!this.choose(place)) event.preventDefault();
    });
    bindKeys({ j: () => this.#step(1), k: () => this.#step(-1), y: () => this.#say("right"), n: () => this.#say("wrong") });
  }

  /** False when somebody shows the citation here, so that the link need not be followed. */
  choose(place) {
    const { answer, citation } = this.of(place);
    if (!citation) return true;
    this.#chosen?.removeAttribute("aria-current");
    this.#chosen = place;
    place.setAttribute("aria-current", "true");
    const event = new CustomEvent("citationchosen", { bubbles: true, cancelable: true, detail: { citation, answer, place } });
    return place.dispatchEvent(event);
  }

  of(place) {
    const answer = this.#conversation.answers.get(place.closest("[data-message]").dataset.message);
    return { answer, citation: answer.citations.get(place.dataset.citation) };
  }

  #step(by) {
    const places = this.#places();
    if (!places.length) return;
    const at = places.indexOf(this.#chosen);
    const next = at < 0 ? (by > 0 ? 0 : places.length - 1) : (at + by + places.length) % places.length;
    places[next].focus({ preventScroll: true });
    places[next].scrollIntoView({ block: "nearest" });
    if (this.choose(places[next])) places[next].click();
  }

  #places() {
    const answers = [...this.#conversation.answers.values()];
    const answer = answers.find(({ element }) => this.#chosen && element.contains(this.#chosen)) ?? answers.at(-1);
    return answer?.places ?? [];
  }

  async #say(feedback) {
    if (!this.#chosen?.isConnected) return;
    const { citation } = this.of(this.#chosen);
    await sendFeedback(citation, citation.feedback === feedback ? "" : feedback);
  }
}

export async function sendFeedback(citation, feedback) {
  const body = new FormData();
  body.set("feedback", feedback);
  const texts = document.getElementById("chat-texts").dataset;
  try {
    await request(`/chat/citations/${citation.id}/feedback/`, { method: "POST", body });
    citation.feedback = feedback;
    toast(feedback ? texts[feedback] : texts.undone);
  } catch (error) {
    toast(error.message);
  }
}
