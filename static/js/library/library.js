// Actions on a card are htmx requests; the response is the card (library/_cards.html).
// <ul data-cards data-first="49" data-a-page="48"> <li data-document> … <span data-further hx-get="…">: loads
// further cards as it comes near.
import { watchAsking } from "./ask.js";
import { watchDrags } from "./drag.js";
import { watchProgress } from "./progress.js";
import { watchSelecting } from "./select.js";
import { watchUploads } from "./uploads.js";

const library = document.querySelector("[data-library]");
watchProgress(library);
watchUploads(library);
watchAsking();
watchDrags(library);
watchSelecting(library);

const list = () => library.querySelector("[data-cards]");
const shown = () => [...list().querySelectorAll("[data-document]")];
const before = () => list().dataset.first - 1;

library.addEventListener("htmx:configRequest", ({ detail: { elt, parameters } }) => {
  if (elt.matches("[data-further]")) parameters.start = before() + shown().length;
});

// After going back, the list starts with the page of the opened card, at that card.
history.scrollRestoration = "manual";
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: "center" });
library.addEventListener("click", ({ target }) => {
  const card = target.closest("a[href]") && target.closest("[data-document]");
  const aPage = Number(list().dataset.aPage);
  if (!card || shown().length <= aPage) return;
  const place = new URL(location);
  place.searchParams.set("page", Math.floor((before() + shown().indexOf(card)) / aPage) + 1);
  place.hash = card.id;
  history.replaceState(history.state, "", place);
});
