// <div class="toasts" data-toasts> <div class="toast" data-toast="8000">…</div> </div>
// Short messages in the corner. Each disappears after its time, unless it is hovered or focused.
// Errors of htmx requests are shown here, too.

import { refusal } from "./request.js";

const STAY = 6000;

export function watchToasts() {
  const tray = document.querySelector("[data-toasts]");
  tray.addEventListener("htmx:load", ({ target }) => leaveLater(target));
  tray.querySelectorAll(".toast").forEach(leaveLater);
  document.addEventListener("htmx:afterRequest", ({ detail: { successful, xhr } }) => {
    if (!successful) toast(refusal(xhr));
  });
}

export function toast(sentence) {
  const box = Object.assign(document.createElement("div"), { className: "toast", textContent: sentence });
  document.querySelector("[data-toasts]").append(box);
  leaveLater(box);
}

function leaveLater(box) {
  const leave = () => (box.matches(":hover, :focus-within") ? setTimeout(leave, 1000) : box.remove());
  setTimeout(leave, box.dataset.toast ?? STAY);
}
