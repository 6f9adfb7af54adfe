// <select data-submit>   submits its form when changed
// <button data-close>    closes the dialog it stands in
// <button data-copy="text or #id">   copies

import { toast } from "./toasts.js";

export function watchForms() {
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
  });
  document.addEventListener("click", (event) => {
    event.target.closest("[data-close]")?.closest("dialog")?.close();
    const copy = event.target.closest("[data-copy]");
    if (copy) copyText(copy.dataset.copy, copy.dataset.copied);
  });
}

export async function copyText(text, message) {
  await navigator.clipboard.writeText(text);
  if (message) toast(message);
}
