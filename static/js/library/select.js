// <li data-document> <label> <input type="checkbox" name="document"> … <div data-selection hidden> <b data-count>
// Selects cards by their checkbox, by Ctrl or Cmd and click, and ranges by Shift and click.

import { bindKeys } from "../ui/keys.js";

export function watchSelecting(library) {
  const bar = library.querySelector("[data-selection]");
  const chosen = new Set();
  let last = null;
  const boxes = () => [...library.querySelectorAll("[data-document] [name=document]")];

  function show() {
    const all = boxes();
    const present = new Set(all.map(({ value }) => value));
    [...chosen].filter((id) => !present.has(id)).forEach((id) => chosen.delete(id));
    all.forEach((box) => (box.checked = chosen.has(box.value)));
    library.classList.toggle("selecting", chosen.size > 0);
    bar.hidden = !chosen.size;
    bar.querySelector("[data-count]").textContent = chosen.size;
  }

  function choose(box, isRange) {
    const all = boxes();
    const [from, to] = [all.findIndex(({ value }) => value === last), all.indexOf(box)];
    const on = !chosen.has(box.value);
    const range = isRange && from >= 0 ? all.slice(Math.min(from, to), Math.max(from, to) + 1) : [box];
    range.forEach(({ value }) => (on || range.length > 1 ? chosen.add(value) : chosen.delete(value)));
    last = box.value;
    show();
  }

  function clear() {
    if (!chosen.size) return false;
    chosen.clear();
    show();
  }

  library.addEventListener("click", (event) => {
    const box = event.target.closest("[data-document]")?.querySelector("[name=document]");
    const asked = event.target === box || event.ctrlKey || event.metaKey || event.shiftKey;
    if (!box || !asked || event.target.closest("form, .menu, .doc-more")) return;
    if (event.target !== box) event.preventDefault();
    choose(box, event.shiftKey);
  });
  bar.querySelector("[data-clear]").onclick = clear;
  // A replaced card keeps its tick, so that an action meanwhile includes it.
  library.addEventListener("htmx:oobBeforeSwap", ({ detail: { fragment } }) => {
    const box = fragment.querySelector("[data-document] [name=document]");
    if (box) box.checked = chosen.has(box.value);
  });
  let isDue = false;
  library.addEventListener("htmx:load", () => { // a card was put in, often one of many
    isDue ||= Boolean(requestAnimationFrame(() => show((isDue = false))));
  });
  bar.addEventListener("htmx:afterRequest", ({ detail }) => detail.successful && clear());
  bindKeys({
    Escape: clear,
    x: () => {
      const box = document.activeElement.closest("[data-document]")?.querySelector("[name=document]");
      return box ? choose(box, false) : false;
    },
  });
  show(); // what the browser had kept ticked
}
