// <div class="toasts" data-toasts> <div class="toast" data-toast="8000">…</div> </div>
// Short messages at the corner: each leaves by itself, and stays while it is pointed at or focused.

const STAY = 6000;

export function watchToasts() {
  const tray = document.querySelector("[data-toasts]");
  new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach(leaveLater)))
    .observe(tray, { childList: true });
  tray.querySelectorAll(".toast").forEach(leaveLater);
}

/** Shows a sentence, or an element made by the server. */
export function toast(content) {
  const tray = document.querySelector("[data-toasts]");
  if (content instanceof Element) return tray.append(content);
  const box = document.createElement("div");
  box.className = "toast";
  box.append(Object.assign(document.createElement("p"), { textContent: content }));
  tray.append(box);
}

function leaveLater(box) {
  if (!(box instanceof Element)) return;
  const leave = () => (box.matches(":hover, :focus-within") ? setTimeout(leave, 1000) : box.remove());
  setTimeout(leave, Number(box.dataset.toast) || STAY);
}
