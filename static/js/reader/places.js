// <a href="/documents/ID/?page=5&unit=…"> <a href="?page=5" data-page="5" data-boxes="[[0.1, 0.2, 0.5, 0.3]]">
// Follows links to places of this document in the reader; hovering a link with boxes highlights them.

import { request } from "../ui/request.js";

const POINTED = 2; // the colour of what is pointed at

/** `openCitation(id)` shows the answer of a mark in the margin; false when it is not on this page. */
export function followPlaces(viewer, highlights, openCitation) {
  const { element } = viewer;
  element.addEventListener("click", async (event) => {
    const link = event.target.closest("a[href]:not(.textLayer a, .annotationLayer a)");
    const asked = new URLSearchParams(link?.search);
    const isElsewhere = event.defaultPrevented || event.ctrlKey || event.metaKey;
    if (isElsewhere || link?.pathname !== location.pathname || !asked.has("page")) return;
    if (asked.has("citation")) return openCitation(asked.get("citation")) && event.preventDefault();
    event.preventDefault();
    highlights.goTo(boxed(link) ?? await (await request(element.dataset.highlightUrl + link.search)).json());
    history.replaceState(history.state, "", location.pathname);
  });
  ["pointerover", "focusin"].forEach((kind) => element.addEventListener(kind, ({ target }) => {
    const link = target.closest("a[data-boxes]");
    highlights.point(link ? boxed(link) : []);
  }));
}

function boxed({ dataset: { page, boxes } }) {
  return boxes && [{ page: Number(page), unit: JSON.parse(boxes), colour: POINTED }];
}
