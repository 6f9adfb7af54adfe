// <li data-document> <form data-card-action | data-card-delete> · <button data-rename-url data-title>
// <form data-card-restore> in a toast · <a data-library-layout="grid|list">
// What can be done with one document, without leaving the page.

import { postForHTML } from "../ui/request.js";
import { toast } from "../ui/toasts.js";
import { replaceCard } from "./progress.js";

export function watchCards(library, progress) {
  const removed = new Map();
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    const kind = ["cardAction", "cardDelete", "cardRestore", "renaming"].find((name) => name in form.dataset);
    if (!kind) return;
    event.preventDefault();
    form.closest("dialog")?.close();
    form.closest("[popover]")?.hidePopover();
    try {
      const element = await postForHTML(form.action, new FormData(form));
      if (kind === "cardDelete") putAway(form.closest("[data-document]"), element, removed);
      else if (kind === "cardRestore") bringBack(form, element, removed);
      else replaceCard(element);
      progress.soon();
    } catch (error) {
      toast(error.message);
    }
  });
  library.addEventListener("click", (event) => {
    const rename = event.target.closest("[data-rename-url]");
    if (rename) openRename(rename.dataset);
    const layout = event.target.closest("[data-library-layout]");
    if (layout) document.cookie = `library=${layout.dataset.libraryLayout}; path=/; max-age=31536000; samesite=lax`;
  });
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

function openRename({ renameUrl, title }) {
  const dialog = document.querySelector("[data-rename]");
  const form = dialog.querySelector("form");
  form.action = renameUrl;
  form.dataset.renaming = "";
  form.elements.title.value = title;
  dialog.showModal();
  form.elements.title.select();
}
