// <button data-ask="URL" data-ask-title data-ask-label data-ask-field [data-ask-value -list -type -with -now]>
// Asks for a name or an address. A title is changed in place, with F2 or by its button:
// <li data-document> <h2 data-rename="URL"><a> <button data-rename-here>

import { refusal } from "../ui/request.js";

/** Enter or leaving the field saves the new title, Escape restores the old one. */
function renameIn(heading) {
  const link = heading?.querySelector("a");
  if (!link || link.hidden) return;
  const field = Object.assign(document.createElement("input"), { value: link.textContent, maxLength: 500 });
  field.ariaLabel = heading.dataset.label;
  link.hidden = true;
  heading.append(field);
  field.select();
  const leave = (title) => {
    if (!field.isConnected) return;
    field.onblur = null;
    field.remove();
    link.hidden = false;
    if (title && title !== link.textContent) {
      link.textContent = title;
      htmx.ajax("POST", heading.dataset.rename, { source: heading, swap: "none", values: { title } });
    }
  };
  field.onblur = () => leave(field.value.trim());
  field.onkeydown = ({ key }) => {
    if (key !== "Enter" && key !== "Escape") return;
    leave(key === "Enter" && field.value.trim());
    link.focus();
  };
}

export function watchAsking() {
  const dialog = document.querySelector("[data-ask-dialog]");
  const form = dialog.querySelector("form");
  const input = form.querySelector(".field input");
  const wrong = form.querySelector(".alert");
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-rename-here]")) renameIn(target.closest("[data-rename]"));
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
  document.addEventListener("keydown", ({ key, target }) => key === "F2" && renameIn(target.closest("[data-rename]")));
  // Closed before the response is swapped in, so that the card keeps the focus.
  form.addEventListener("htmx:beforeOnLoad", ({ detail: { xhr } }) => xhr.status < 300 && dialog.close());
  form.addEventListener("htmx:afterRequest", (event) => {
    const { successful, xhr } = event.detail;
    event.stopPropagation(); // a toast would stand behind the dialog
    wrong.textContent = refusal(xhr);
    wrong.hidden = successful;
  });
}
