// Joins the conversation in the panel with the pages: a chosen citation is painted and scrolled to,
// the other citations of its answer are painted faintly in their own colours.

import { followConversation } from "../chat/conversation.js";

/** Returns the conversation's `write` and `about`, and `open(id)`, which chooses a citation; false for another's. */
export function joinAnswers(element, viewer, highlights) {
  const { choose, ...asking } = followConversation(element);
  element.addEventListener("citationchosen", (event) => {
    const { citation, answer } = event.detail;
    if (citation.document !== viewer.id) return;
    event.preventDefault();
    const others = [...answer.citations.values()].filter((other) => other !== citation && other.document === viewer.id);
    const together = new Set([citation]); // it grows
    together.forEach((one) => answer.citations.forEach((other) => sharesWords(one, other) && together.add(other)));
    const same = [...answer.citations.values()].filter((other) => together.has(other));
    const step = same.length > 1 ? { at: same.indexOf(citation) + 1, of: same.length, next: () => after(same) } : null;
    const after = (all) => open(all[(all.indexOf(citation) + 1) % all.length].id);
    highlights.goTo([{ ...lit(citation), step }, ...others.map(faint)]);
    history.replaceState(history.state, "", citation.href || location.href);
  });
  const pointed = ({ target }) => drawAhead(target.closest("a[data-citation]"));
  ["pointerover", "focusin"].forEach((kind) => element.addEventListener(kind, pointed));
  const answered = () => drawAhead(element.querySelector("[data-messages] > :last-child a[data-citation]"));
  element.addEventListener("answerdone", answered);
  answered();

  /** The page of a citation, and those of the next of its answer. */
  function drawAhead(first) {
    const links = [...(first?.closest(".exchange").querySelectorAll("a[data-citation]") ?? [])];
    const here = [...links.splice(links.indexOf(first)), ...links].filter((one) => one.pathname === location.pathname);
    if (here.length) viewer.drawAhead(here.map(({ search }) => Number(new URLSearchParams(search).get("page"))));
  }

  function open(id) {
    const place = element.querySelector(`a[data-citation="${CSS.escape(id)}"]`);
    place?.scrollIntoView({ block: "center" });
    if (place) choose(place);
    return Boolean(place);
  }

  return { open, ...asking };
}

const lit = ({ id, page, number, verdict, rects, unit_rects, head_rects }) =>
  ({ id, page, colour: number, verdict, unit: unit_rects, heads: head_rects, anchor: rects });

/** Whether two citations light the same words. Boxes of lines may overlap a little. */
const sharesWords = (one, other) => one.document === other.document && one.page === other.page
  && one.rects.some(([left, top, right, bottom]) => other.rects.some(([x0, y0, x1, y1]) =>
    x0 < right && x1 > left && Math.abs(y0 + y1 - top - bottom) < Math.max(y1 - y0, bottom - top)));

const faint = (other) => ({ ...lit(other), verdict: `other lit-${other.verdict}`, unit: [], heads: [] });
