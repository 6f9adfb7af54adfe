// <form data-find hidden> <input name="words"> <output> <button data-find-back> <button type="reset">
// pdf.js's find controller under our own bar.

import { FindState } from "../../pdfjs/web/pdf_viewer.mjs";

/** Returns the function that opens the bar. */
export function findIn(viewer, { of, nothing }) {
  const bar = document.querySelector("[data-find]");
  const { words } = bar.elements;
  const look = (type, findPrevious = false) => {
    const options = { query: words.value, findPrevious, highlightAll: true, matchDiacritics: false };
    viewer.eventBus.dispatch("find", { type, ...options });
  };
  const count = ({ matchesCount: { current, total }, state }) => {
    const without = { [FindState.NOT_FOUND]: nothing, [FindState.PENDING]: "…" }[state];
    const said = total ? `${current} ${of} ${total}` : without;
    bar.querySelector("output").textContent = (words.value && said) || "";
  };
  bar.onsubmit = (event) => (event.preventDefault(), look("again"));
  bar.oninput = () => look("");
  bar.onkeydown = (event) => {
    if (event.key === "Escape") bar.reset();
    if (event.key === "Enter" && event.shiftKey) (event.preventDefault(), look("again", true));
  };
  bar.querySelector("[data-find-back]").onclick = () => look("again", true);
  bar.onreset = () => {
    bar.hidden = true;
    viewer.eventBus.dispatch("findbarclose", {});
    viewer.scroller.focus();
  };
  viewer.on("updatefindmatchescount", count);
  viewer.on("updatefindcontrolstate", count);
  return () => {
    bar.hidden = false;
    words.focus();
  };
}
