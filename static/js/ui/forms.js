// <button data-copy="text" | data-copy-from="URL" data-copied="Copied"> copies the text, or the response of the URL;
// data-copy-rich="URL" is the same as HTML, for rich-text editors

import { request } from "./request.js";
import { toast } from "./toasts.js";

export function watchForms() {
  document.addEventListener("click", async ({ target }) => {
    const { copy, copyFrom, copyRich, copied } = target.closest("[data-copy], [data-copy-from]")?.dataset ?? {};
    if (copyRich) copyBoth(copyFrom, copyRich, copied);
    else if (copyFrom) copyText(await (await request(copyFrom)).text(), copied);
    else if (copy) copyText(copy, copied);
  });
}

/** Returns plain and rich text as promises: the click's permission to write lasts until the server responds. */
async function copyBoth(plain, rich, message) {
  const body = async (url, type) => new Blob([await (await request(url)).text()], { type });
  const kinds = { "text/plain": body(plain, "text/plain"), "text/html": body(rich, "text/html") };
  await navigator.clipboard.write([new ClipboardItem(kinds)]);
  toast(message);
}

export async function copyText(text, message) {
  await navigator.clipboard.writeText(text);
  if (message) toast(message);
}
