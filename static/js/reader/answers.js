// Joins the conversation in the panel with the pages: a chosen citation is painted and scrolled to,
// the other citations of its answer are painted faintly in their own colours.

import { Citations } from "../chat/citations.js";
import { Conversation } from "../chat/conversation.js";
import { watchHover } from "../chat/hover_card.js";

/** Returns the conversation, and `open(id)`, which chooses a citation; false when it is another's. */
export function joinAnswers(element, viewer, highlights) {
  const conversation = new Conversation(element);
  const citations = new Citations(conversation);
  watchHover(element);
  element.addEventListener("citationchosen", (event) => {
    const { citation, answer } = event.detail;
    if (citation.document !== viewer.id) return;
    event.preventDefault();
    const others = [...answer.citations.values()].filter((other) => other !== citation && other.document === viewer.id);
    highlights.clear();
    highlights.show("answer", [lit(citation), ...others.map(faint)]);
    highlights.reveal("answer");
    history.replaceState(null, "", citation.href || location.href);
  });

  function open(id) {
    const place = element.querySelector(`a[data-citation="${CSS.escape(id)}"]`);
    place?.scrollIntoView({ block: "center" });
    if (place) citations.choose(place);
    return Boolean(place);
  }

  return { conversation, open };
}

const lit = ({ id, page, number, verdict, rects, unit_rects, head_rects }) =>
  ({ id, page, colour: number, verdict, unit: unit_rects, heads: head_rects, anchor: rects });

const faint = ({ id, page, number, rects }) => ({ id, page, colour: number, verdict: "other", anchor: rects });
