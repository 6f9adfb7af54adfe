// <div data-progress hx-get="…" hx-trigger="look" hx-include="[name=id]"> · in each card being read: <input name="id">
// Polls the cards of documents that are being processed: less often the longer nothing changes, and at once when
// the page becomes visible.

const FIRST = 700; // ms
const SLOWEST = 10000;

export function watchProgress(library) {
  const poll = library.querySelector("[data-progress]");
  let wait, timer;

  function later(pause) {
    wait = Math.min(pause, SLOWEST);
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!document.hidden && library.querySelector("[name=id]")) htmx.trigger(poll, "look");
    }, wait);
  }

  const soon = () => later(FIRST);
  poll.addEventListener("htmx:afterRequest", (event) => {
    event.stopPropagation(); // a lost connection is tried again in silence
    later(event.detail.successful ? wait * 1.6 : SLOWEST);
  });
  poll.addEventListener("htmx:beforeSwap", leaveOut);
  library.addEventListener("htmx:oobBeforeSwap", keepCard);
  library.addEventListener("htmx:load", soon); // a card was put in: it may change soon again
  document.addEventListener("visibilitychange", soon);
  soon();
}

/** Drops cards that were filtered out since the request. */
function leaveOut({ detail }) {
  const cards = Object.assign(document.createElement("template"), { innerHTML: detail.serverResponse });
  cards.content.querySelectorAll("[data-document]").forEach((card) => {
    if (!document.getElementById(card.id)) card.remove();
  });
  detail.serverResponse = cards.innerHTML;
}

/** Keeps unchanged cards and cards with an open menu; all cards while one is dragged. */
function keepCard(event) {
  const { target: old, fragment } = event.detail;
  if (!old.matches("[data-document]")) return;
  const isSame = old.innerHTML === fragment.firstElementChild.innerHTML;
  if (isSame || old.querySelector(":popover-open") || old.matches(".dragging *")) event.preventDefault();
}
