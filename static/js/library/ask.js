// <button data-ask="URL" data-ask-title data-ask-label data-ask-field [data-ask-value -list -type]>
// Asks for a name or an address in the one dialog, which htmx sends.

export function watchAsking() {
  const dialog = document.querySelector("[data-ask-dialog]");
  const form = dialog.querySelector("form");
  const input = form.querySelector(".field input");
  document.addEventListener("click", ({ target }) => {
    const asking = target.closest("[data-ask]");
    if (!asking) return;
    const { ask, askTitle, askLabel, askField, askValue = "", askList = "", askType = "text" } = asking.dataset;
    dialog.querySelector("h2").textContent = askTitle;
    dialog.querySelector(".field span").textContent = askLabel;
    Object.assign(input, { name: askField, type: askType, value: askValue }).setAttribute("list", askList);
    form.setAttribute("hx-post", ask);
    htmx.process(form);
    dialog.showModal();
    input.select();
  });
  form.addEventListener("htmx:afterRequest", ({ detail }) => detail.successful && dialog.close());
}
