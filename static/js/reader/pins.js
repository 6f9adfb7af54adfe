// <div data-pins hx-get="…"> <a class="mark" data-page="5" data-box="[0, 0.2, 1, 0.3]" …> <div class="table-tools" …>
// Overlays from the server: marks in the margin beside cited words, and buttons to copy a table, shown on hover.

import { pageLayer } from "./page_layer.js";

export function pinToPages(viewer) {
  const source = document.querySelector("[data-pins]");
  const layer = pageLayer(viewer, "pins", ({ element, box }, put) => put(element, box));
  source.addEventListener("htmx:afterSettle", () => layer.show([...source.children].map((element) => {
    const { page, box } = element.dataset;
    return { element, page: Number(page), box: JSON.parse(box) };
  })));
  // Tables get no pointer events, so that their words can be selected.
  viewer.scroller.addEventListener("pointermove", ({ clientX: x, clientY: y, target }) => {
    target.closest(".page")?.querySelectorAll(".table-tools").forEach((table) => {
      const { left, right, top, bottom } = table.getBoundingClientRect();
      table.classList.toggle("pointed", left < x && x < right && top < y && y < bottom);
    });
  });
}
