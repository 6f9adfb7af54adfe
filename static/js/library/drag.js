// <li data-document draggable="true" data-collect-url="…" data-tag-url="…">
// dragged onto <a data-drop="collection | tag" data-id="…">: put into it. (The card's menu does the same by key.)

import { postForHTML } from "../ui/request.js";
import { toast } from "../ui/toasts.js";
import { refreshShelf } from "./cards.js";
import { putCard } from "./progress.js";

const URLS = { collection: "collectUrl", tag: "tagUrl" };

export function watchDrags(library) {
  let card = null;
  const targetOf = (event) => {
    const target = card && event.target.closest("[data-drop]");
    return target && card.dataset[URLS[target.dataset.drop]] ? target : null;
  };
  const mark = (target) => {
    library.querySelectorAll(".drop-target").forEach((other) => other.classList.remove("drop-target"));
    target?.classList.add("drop-target");
  };
  library.addEventListener("dragstart", (event) => {
    card = event.target.closest("[data-document]");
    if (!card) return;
    event.dataTransfer.setData("text/plain", card.querySelector(".doc-title").textContent.trim());
    library.classList.add("dragging");
  });
  library.addEventListener("dragend", () => {
    card = null;
    mark(null);
    library.classList.remove("dragging");
  });
  library.addEventListener("dragover", (event) => {
    const target = targetOf(event);
    if (target) event.preventDefault();
    mark(target);
  });
  library.addEventListener("drop", async (event) => {
    const target = targetOf(event);
    if (!target) return;
    event.preventDefault();
    const { drop, id } = target.dataset;
    try {
      putCard(library, await postForHTML(card.dataset[URLS[drop]], new URLSearchParams({ [drop]: id })));
      await refreshShelf(library);
    } catch (error) {
      toast(error.message);
    }
  });
}
