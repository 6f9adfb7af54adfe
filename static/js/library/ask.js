// <button data-ask="URL" data-ask-title data-ask-label data-ask-field [data-ask-value -list -type -with -now]>
// Asks for a name or an address.

import { refusal } from "../ui/request.js";

export function watchAsking() {
  const dialog = document.querySelector("[data-ask-dialog]");
  const form = dialog.querySelector("form");
  const input = form.querySelector(".field input");
  const wrong = form.querySelector(".alert");
  document.addEventListener("click", ({ target }) => {
    const asking = target.closest("[data-ask]");
    if (!asking) return;
    const { ask, askTitle, askLabel, askField, askValue = "", askList = "" } = asking.dataset;
    const { askType = "text", askWith = "" } = asking.dataset;
    dialog.querySelectorAll("h2, .button-primary").forEach((says) => (says.textContent = askTitle));
    dialog.querySelector(".field span").textContent = askLabel;
    Object.assign(input, { name: askField, type: askType, value: askValue }).setAttribute("list", askList);
    form.setAttribute("hx-post", ask);
    form.setAttribute("hx-include", askWith);
    htmx.process(form);
    wrong.hidden = true;
    dialog.showModal();
    input.select();
  });
  document.querySelector("[data-ask-now]")?.click(); // by the bookmark of papers/add.html
  // Closed before the response is swapped in, so that the card keeps the focus.
  form.addEventListener("htmx:beforeOnLoad", ({ detail: { xhr } }) => xhr.status < 300 && dialog.close());
  form.addEventListener("htmx:afterRequest", (event) => {
    const { successful, xhr } = event.detail;
    event.stopPropagation(); // a toast would stand behind the dialog
    wrong.textContent = refusal(xhr);
    wrong.hidden = successful;
  });
}
