// Opens the PDF at the page and words of the link.

import { paintHighlights } from "./highlights.js";
import "./panel.js"; // how much room it leaves
import { rememberPosition } from "./position.js";
import { Viewer } from "./viewer.js";

const element = document.querySelector("[data-reader]");
const viewer = new Viewer(element);
const highlights = paintHighlights(viewer);
const position = rememberPosition(viewer);
const drawn = new Promise((resolve) => viewer.on("pagerendered", resolve, { once: true }));
let press;
const pressed = new Promise((resolve) => (onclick = (event) => resolve((press = event))));
fillAround(open());

async function open() {
  const waiting = element.querySelector("[data-opening-note]");
  if (!waiting) return; // no PDF yet
  try {
    await viewer.open(askPassword);
    startWhere();
    waiting.remove();
    await drawn;
  } catch (error) {
    console.error(error);
    waiting.replaceWith(document.getElementById("not-opened").content);
  }
}

/** Loads the other modules after the first page, or when a button is pressed. */
async function fillAround(opened) {
  await Promise.race([opened, pressed]);
  const fill = (await import("./beside.js")).prepare(viewer, highlights);
  press?.target.closest("button:not([popovertarget])")?.click();
  await opened;
  fill();
}

/** Returns the place in the link, else the last place of this user, else the first page. */
function startWhere() {
  const asked = JSON.parse(document.getElementById("opening").textContent);
  position.restoreZoom();
  if (asked) highlights.goTo(asked);
  else position.restorePlace();
}

/** Resolves to the typed password; null when the dialog was closed. */
function askPassword(again) {
  const dialog = document.getElementById("pdf-password");
  const field = dialog.querySelector("input");
  dialog.querySelector("[data-wrong]").hidden = !again;
  dialog.returnValue = field.value = "";
  dialog.showModal();
  return new Promise((resolve) => (dialog.onclose = () => resolve(dialog.returnValue ? field.value : null)));
}
