// <button data-copy="text" | data-copy-from="URL" data-copied="Copied"> copies what it says, or what the server does

import { request } from "./request.js";
import { toast } from "./toasts.js";

export function watchForms() {
  document.addEventListener("click", async ({ target }) => {
    const { copy, copyFrom, copied } = target.closest("[data-copy], [data-copy-from]")?.dataset ?? {};
    if (copyFrom) copyText(await (await request(copyFrom)).text(), copied);
    else if (copy) copyText(copy, copied);
  });
}

export async function copyText(text, message) {
  await navigator.clipboard.writeText(text);
  if (message) toast(message);
}
