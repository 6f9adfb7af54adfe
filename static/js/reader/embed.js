// The reader in a frame: shows the PDF at the words in its address.

import { paintHighlights } from "./highlights.js";
import { Viewer } from "./viewer.js";

const element = document.querySelector("[data-reader]");
const waiting = document.querySelector("[data-opening-note]");
const viewer = new Viewer(element);
const highlights = paintHighlights(viewer);
viewer.on("pagechanging", ({ pageNumber }) => {
  document.querySelector("[data-page-shown]").textContent = pageNumber;
});

try {
  await viewer.open(() => null); // what needs a password is opened in Pincite
  const asked = JSON.parse(document.getElementById("opening").textContent);
  viewer.pages.currentScaleValue = "page-width";
  if (asked) highlights.goTo(asked);
  waiting.remove();
} catch (error) {
  console.error(error);
  waiting.replaceWith(document.getElementById("not-opened").content);
}
