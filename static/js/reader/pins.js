// <div data-pins hx-get="…"> <a class="mark" data-page="5" data-box="[0, 0.2, 1, 0.3]" …> <div class="table-tools" …>
// What the server says about places stands there: marks in the margin, where answers
// and notes rest on the page, and buttons that copy a table while it is pointed at.

import { pageLayer } from "./page_layer.js";

export function pinToPages(viewer) {
  const source = document.querySelector("[data-pins]");
  const layer = pageLayer(viewer, "pins", ({ element, box }, put) => put(element, box));
  source.addEventListener("htmx:afterSettle", () => layer.show([...source.children].map((element) => {
    const { page, box } = element.dataset;
    return { element, page: Number(page), box: JSON.parse(box) };
  })));
  // Tables lie under the pointer's events, so that their words can be selected.
  viewer.scroller.addEventListener("pointermove", ({ clientX: x, clientY: y, target }) => {
    target.closest(".page")?.querySelectorAll(".table-tools").forEach((table) => {
      const { left, right, top, bottom } = table.getBoundingClientRect();
      table.classList.toggle("pointed", left < x && x < right && top < y && y < bottom);
    });
  });
}
