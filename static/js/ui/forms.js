// <button data-copy="text" | data-copy-from="URL" data-copied="Copied"> copies what it says, or what the server does;
// data-copy-rich="URL" is the same as HTML, for editors that take it

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

/** Plain and rich text; the promises keep the click's leave to write while the server answers. */
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
