// Joins the conversation in the panel with the pages: a chosen citation is painted and scrolled to,
// the other citations of its answer are painted faintly in their own colours.

import { Citations } from "../chat/citations.js";
import { Conversation } from "../chat/conversation.js";
import { HoverCard } from "../chat/hover_card.js";

const [CARD_WIDTH, CARD_HEIGHT] = [340, 120]; // CSS px of the picture in the hover card

export class Answers {
  conversation;
  #viewer;
  #highlights;
  #panel;
  #lit = new Set();
  #citations;

  constructor(element, { viewer, highlights, panel }) {
    Object.assign(this, { conversation: new Conversation(element) });
    this.#viewer = viewer;
    this.#highlights = highlights;
    this.#panel = panel;
    this.#citations = new Citations(this.conversation);
    new HoverCard(this.#citations, element, (citation) => this.#pictureOf(citation));
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
    if (citation.document !== this.#viewer.element.dataset.document) return;
    event.preventDefault();
    this.#panel.makeRoom();
    this.#highlights.hide("link");
    this.#lit.forEach((id) => this.#highlights.hide(id));
    this.#lit.clear();
    answer.citations.forEach((other) => other !== citation && this.#paint(other, false));
    this.#paint(citation, true);
    this.#highlights.reveal(citation.id);
    history.replaceState(null, "", citation.href || location.href);
  }

  #paint(citation, chosen) {
    if (citation.document !== this.#viewer.element.dataset.document) return;
    this.#lit.add(citation.id);
    const { page, number, verdict, rects, unit_rects: unit, head_rects: heads } = citation;
    this.#highlights.show(citation.id, chosen
      ? { page, unit, anchor: rects, heads, colour: number, verdict }
      : { page, anchor: rects, colour: number, verdict: "other" });
  }

  /** The cited words and what stands around them, drawn by pdf.js. */
  async #pictureOf(citation) {
    if (citation.document !== this.#viewer.element.dataset.document || !this.#viewer.pdf) return null;
    const boxes = citation.rects.length ? citation.rects : citation.unit_rects;
    if (!boxes.length) return null;
    const page = await this.#viewer.pdf.getPage(citation.page);
    const plain = page.getViewport({ scale: 1 });
    const scale = Math.min(1.1, Math.max(0.62, CARD_WIDTH / plain.width));
    const lit = boundsOf(boxes, plain, scale);
    const [left, top] = [clamp(lit.x - (CARD_WIDTH - lit.width) / 2, plain.width * scale - CARD_WIDTH), clamp(lit.y - CARD_HEIGHT / 3, plain.height * scale - CARD_HEIGHT)];
    const ratio = Math.min(devicePixelRatio, 2);
    const canvas = Object.assign(document.createElement("canvas"), { width: CARD_WIDTH * ratio, height: CARD_HEIGHT * ratio });
    await page.render({ canvas, viewport: page.getViewport({ scale: scale * ratio, offsetX: -left * ratio, offsetY: -top * ratio }) }).promise;
    marker(canvas, citation, plain, scale * ratio, left * ratio, top * ratio);
    return canvas;
  }
}

function boundsOf(boxes, plain, scale) {
  const [x0, y0] = [0, 1].map((at) => Math.min(...boxes.map((box) => box[at])));
  const [x1, y1] = [2, 3].map((at) => Math.max(...boxes.map((box) => box[at])));
  const [width, height] = [plain.width * scale, plain.height * scale];
  return { x: x0 * width, y: y0 * height, width: (x1 - x0) * width, height: (y1 - y0) * height };
}

const clamp = (value, most) => Math.max(0, Math.min(value, Math.max(0, most)));

function marker(canvas, citation, plain, scale, left, top) {
  const context = canvas.getContext("2d");
  context.globalCompositeOperation = "multiply";
  const fill = (boxes, colour) => {
    context.fillStyle = colour;
    boxes.forEach(([x0, y0, x1, y1]) => context.fillRect(x0 * plain.width * scale - left, y0 * plain.height * scale - top, (x1 - x0) * plain.width * scale, (y1 - y0) * plain.height * scale));
  };
  fill(citation.unit_rects, "#fff3bf");
  fill(citation.rects, "#ffd43b");
}
