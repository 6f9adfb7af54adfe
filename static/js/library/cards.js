// <li data-document> <form data-card-action | data-card-delete> · <form data-card-restore> in a toast
// <button data-ask="URL" data-ask-title data-ask-label data-ask-field [data-ask-value -list -type]>
// <a data-library-layout="grid|list">
// What can be done with one document, without leaving the page. All answers are cards.

import { postForHTML, request } from "../ui/request.js";
import { toast } from "../ui/toasts.js";
import { putCard } from "./progress.js";

const FORMS = ["cardAction", "cardDelete", "cardRestore", "asked"];

export function watchCards(library, progress) {
  const removed = new Map();
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    const kind = FORMS.find((name) => name in form.dataset);
    if (!kind) return;
    event.preventDefault();
    form.closest("[popover]")?.hidePopover();
    try {
      const element = await postForHTML(form.action, new FormData(form));
      form.closest("dialog")?.close();
      if (kind === "cardDelete") putAway(form.closest("[data-document]"), element, removed);
      else if (kind === "cardRestore") bringBack(form, element, removed);
      else putCard(library, element);
      progress.soon();
      refreshShelf(library);
    } catch (error) {
      toast(error.message);
    }
  });
  library.addEventListener("click", (event) => {
    const asking = event.target.closest("[data-ask]");
    if (asking) openAsk(asking.dataset);
    const layout = event.target.closest("[data-library-layout]");
    if (layout) document.cookie = `library=${layout.dataset.libraryLayout}; path=/; max-age=31536000; samesite=lax`;
  });
}

/** Numbers and names on the shelf, as the server has them now. */
export async function refreshShelf(library) {
  const page = new DOMParser().parseFromString(await (await request(location.href)).text(), "text/html");
  library.querySelector("[data-shelf]").replaceChildren(...page.querySelector("[data-shelf]").childNodes);
}

function putAway(card, message, removed) {
  removed.set(card.dataset.document, card.nextElementSibling);
  card.remove();
  toast(message);
}

function bringBack(form, card, removed) {
  form.closest(".toast").remove();
  const next = removed.get(card.dataset.document);
  const cards = document.querySelector("[data-cards]");
  cards.insertBefore(card, next?.isConnected ? next : null);
  card.querySelector(".doc-title a").focus();
}

function openAsk({ ask, askTitle, askLabel, askField, askValue = "", askList, askType = "text" }) {
  const dialog = document.querySelector("[data-ask-dialog]");
  const form = dialog.querySelector("form");
  const input = form.querySelector(".field input");
  form.action = ask;
  form.dataset.asked = "";
  dialog.querySelector("h2").textContent = askTitle;
  dialog.querySelector(".field span").textContent = askLabel;
  Object.assign(input, { name: askField, type: askType, value: askValue });
  if (askList) input.setAttribute("list", askList);
  else input.removeAttribute("list");
  dialog.showModal();
  input.select();
}
