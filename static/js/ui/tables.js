// <button data-copy-table="URL?as=markdown" data-copied="Copied">
// Copies a table as the server writes it.

import { copyText } from "./forms.js";
import { request } from "./request.js";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-table]");
  if (button) copyText(await (await request(button.dataset.copyTable)).text(), button.dataset.copied);
});
