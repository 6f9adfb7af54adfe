// <form data-ink hidden> <input type="radio" name="colour"> <button data-ink-undo> <button>Done</button></form>
// Drawing on pages with a pen, a mouse or a finger. Lines that follow one another quickly are one drawing.

import { request } from "../ui/request.js";
import { drawing, pointOnPage } from "./page_layer.js";

const PAUSE = 1200; // ms without a line: the drawing is done
const STEP = 0.0015; // of the page: nearer points are one

/** Returns the function that begins and ends it. `keep(page, strokes, colour)` resolves to the new annotations. */
export function drawOnPages(viewer, keep) {
  const bar = document.querySelector("[data-ink]");
  const button = document.querySelector("[data-do=ink]");
  const drawn = []; // ids, to be taken back
  let [view, strokes, line, shown, timer] = [null, [], null, null, 0];

  const pointAt = ({ clientX, clientY }) => pointOnPage(clientX, clientY, view)
    .map((part) => Math.round(1e5 * Math.max(0, Math.min(part, 1))) / 1e5);

  function paint() {
    shown?.remove();
    shown = view?.div.appendChild(drawing(strokes, `own-drawing own-${bar.elements.colour.value}`, view));
  }

  async function finish() {
    timer = clearTimeout(timer);
    if (!strokes.length) return;
    const [{ id: page }, lines, fresh] = [view, strokes, shown];
    [strokes, shown] = [[], null];
    const made = await keep(page, lines, bar.elements.colour.value);
    drawn.push(...made.map(({ id }) => id));
    fresh.remove();
  }

  async function undo() {
    await finish();
    const id = drawn.pop();
    if (!id) return;
    await request(`/annotations/${id}/delete/`, { method: "POST" });
    htmx.trigger(document.body, "annotated");
  }

  function toggle() {
    const on = viewer.element.classList.toggle("inking");
    button.ariaPressed = on;
    bar.hidden = !on;
    if (on) bar.querySelector(":checked").focus();
    else finish();
  }

  viewer.scroller.addEventListener("pointerdown", (event) => {
    const number = Number(event.target.closest(".page")?.dataset.pageNumber);
    if (bar.hidden || !number || !event.isPrimary || event.button) return;
    if (view?.id !== number) finish();
    timer = clearTimeout(timer);
    view = viewer.view(number);
    strokes.push((line = [pointAt(event)]));
    viewer.scroller.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  viewer.scroller.addEventListener("pointermove", (event) => {
    if (!line) return;
    for (const one of event.getCoalescedEvents?.() ?? [event]) {
      const [[x0, y0], [x, y]] = [line.at(-1), pointAt(one)];
      if (Math.hypot(x - x0, y - y0) > STEP) line.push([x, y]);
    }
    paint();
  });
  ["pointerup", "pointercancel"].forEach((end) => viewer.scroller.addEventListener(end, () => {
    if (!line) return;
    if (line.length === 1) line.push(line[0]); // a dot
    line = null;
    paint();
    timer = setTimeout(finish, PAUSE);
  }));
  bar.onchange = finish;
  bar.onsubmit = (event) => (event.preventDefault(), toggle());
  bar.querySelector("[data-ink-undo]").onclick = undo;
  bar.onkeydown = ({ key }) => key === "Escape" && (toggle(), button.focus());
  addEventListener("pagehide", finish);
  return { toggle, undo, isOn: () => !bar.hidden };
}
