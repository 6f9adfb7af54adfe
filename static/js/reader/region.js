// <button data-do="region" aria-pressed="false">
// Marks a part of a page: drag over it, or move a frame with the arrow keys (Shift sizes it), then Enter. Esc leaves.

import { boxOnPage } from "./page_layer.js";

const [STEP, LEAST] = [24, 12]; // px: of an arrow key, and the smallest side

/** Returns the function that begins and ends it. `take({page, box})` gets what was marked. */
export function markRegions(viewer, take) {
  const { element, scroller } = viewer;
  const button = element.ownerDocument.querySelector("[data-do=region]");
  const frame = Object.assign(document.createElement("div"), { className: "region-frame", tabIndex: 0, role: "img" });
  frame.ariaLabel = button.textContent.trim();
  let view, from, at; // at: left, top, width, height in px of the page

  const put = (...sides) => {
    at = sides;
    const [left, top, width, height] = sides.map((side) => `${side}px`);
    Object.assign(frame.style, { left, top, width, height });
  };

  function toggle(on = !frame.isConnected) {
    element.classList.toggle("inking", on);
    button.ariaPressed = on;
    from = null;
    if (!on) return frame.remove(), scroller.focus();
    view = viewer.view(viewer.page);
    const sheet = view.div.getBoundingClientRect();
    const top = Math.max(0, scroller.getBoundingClientRect().top - sheet.top);
    put(sheet.width / 4, top + LEAST, sheet.width / 2, Math.min(sheet.height - top, scroller.clientHeight) / 2);
    view.div.append(frame);
    frame.focus({ preventScroll: true });
  }

  function accept() {
    const [, , width, height] = at;
    if (Math.min(width, height) < LEAST) return;
    const { left: x0, top: y0, right: x1, bottom: y1 } = frame.getBoundingClientRect();
    const clip = view.div.getBoundingClientRect();
    const seen = { left: Math.max(x0, clip.left), top: Math.max(y0, clip.top) };
    const box = boxOnPage({ ...seen, right: Math.min(x1, clip.right), bottom: Math.min(y1, clip.bottom) }, view);
    toggle(false);
    take({ page: view.id, box: box.map((side) => Math.max(0, Math.min(side, 1))) });
  }

  frame.addEventListener("keydown", (event) => {
    const { key, shiftKey } = event;
    const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [];
    const [left, top, width, height] = at;
    if (key === "Escape") toggle(false);
    else if (key === "Enter") accept();
    else if (x === undefined) return;
    else if (shiftKey) put(left, top, Math.max(LEAST, width + x * STEP), Math.max(LEAST, height + y * STEP));
    else put(left + x * STEP, top + y * STEP, width, height);
    frame.scrollIntoView({ block: "nearest", behavior: "instant" });
    event.preventDefault();
    event.stopPropagation();
  });
  scroller.addEventListener("pointerdown", (event) => {
    const page = event.target.closest(".page");
    if (!frame.isConnected || !page || event.button) return;
    view = viewer.view(Number(page.dataset.pageNumber));
    from = pointOn(event);
    page.append(frame);
    put(...from, 0, 0);
    scroller.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  scroller.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [[a, b], [c, d]] = [from, pointOn(event)];
    put(Math.min(a, c), Math.min(b, d), Math.abs(a - c), Math.abs(b - d));
  });
  scroller.addEventListener("pointerup", () => from && ((from = null), accept()));

  function pointOn({ clientX, clientY }) {
    const { left, top } = view.div.getBoundingClientRect();
    return [clientX - left, clientY - top];
  }

  return toggle;
}
