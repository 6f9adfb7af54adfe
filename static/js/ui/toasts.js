// <div class="toasts" data-toasts> <div class="toast" data-toast="8000">…</div> </div>
// Short messages at the corner: each leaves by itself, but not while pointed at or focused.
// What htmx was refused is said here too.

import { refusal } from "./request.js";

const STAY = 6000;

export function watchToasts() {
  const tray = document.querySelector("[data-toasts]");
  new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach(leaveLater)))
    .observe(tray, { childList: true });
  tray.querySelectorAll(".toast").forEach(leaveLater);
  document.addEventListener("htmx:afterRequest", ({ detail: { successful, xhr } }) => {
    if (!successful) toast(refusal(xhr));
  });
}

export function toast(sentence) {
  document.querySelector("[data-toasts]").append(Object.assign(document.createElement("div"), { className: "toast", textContent: sentence }));
}

function leaveLater(box) {
  if (!(box instanceof Element)) return;
  const leave = () => (box.matches(":hover, :focus-within") ? setTimeout(leave, 1000) : box.remove());
  setTimeout(leave, Number(box.dataset.toast) || STAY);
}
