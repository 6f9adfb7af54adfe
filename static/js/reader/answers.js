// Joins the conversation in the panel with the pages: a chosen citation is painted and scrolled to,
// the other citations of its answer are painted faintly in their own colours.

import { Citations } from "../chat/citations.js";
import { Conversation } from "../chat/conversation.js";
import { HoverCard } from "../chat/hover_card.js";

export class Answers {
  conversation;
  #viewer;
  #highlights;
  #citations;

  constructor(element, viewer, highlights) {
    this.conversation = new Conversation(element);
    this.#viewer = viewer;
    this.#highlights = highlights;
    this.#citations = new Citations(this.conversation);
    new HoverCard(element);
    element.addEventListener("citationchosen", (event) => this.#show(event));
  }

  /** Chooses the citation of that id, as if it had been clicked; false when it is of another conversation. */
  open(id) {
    const place = this.conversation.element.querySelector(`a[data-citation="${CSS.escape(id)}"]`);
    place?.scrollIntoView({ block: "center" });
    if (place) this.#citations.choose(place);
    return Boolean(place);
  }

  #show(event) {
    const { citation, answer } = event.detail;
    if (citation.document !== this.#viewer.id) return;
    event.preventDefault();
    const others = [...answer.citations.values()].filter((other) => other !== citation && other.document === this.#viewer.id);
    this.#highlights.clear();
    this.#highlights.show("answer", [lit(citation), ...others.map(faint)]);
    this.#highlights.reveal("answer");
    history.replaceState(null, "", citation.href || location.href);
  }
}

const lit = ({ id, page, number, verdict, rects, unit_rects, head_rects }) =>
  ({ id, page, colour: number, verdict, unit: unit_rects, heads: head_rects, anchor: rects });

const faint = ({ id, page, number, rects }) => ({ id, page, colour: number, verdict: "other", anchor: rects });
