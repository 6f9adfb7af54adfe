// <div data-progress hx-get="…" hx-trigger="look" hx-include="[name=id]"> · in each card being read: <input name="id">
// While documents are being read, asks for their cards anew: often at first, less often the longer
// nothing changes, at once when the page is shown again.

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

/** Cards that were filtered away since they were asked for have no place any more. */
function leaveOut({ detail }) {
  const cards = Object.assign(document.createElement("template"), { innerHTML: detail.serverResponse });
  cards.content.querySelectorAll("[data-document]").forEach((card) => {
    if (!document.getElementById(card.id)) card.remove();
  });
  detail.serverResponse = cards.innerHTML;
}

/** A card stays that says the same or whose menu is open; all, while one is dragged. */
function keepCard(event) {
  const { target: old, fragment } = event.detail;
  if (!old.matches("[data-document]")) return;
  const isSame = old.innerHTML === fragment.firstElementChild.innerHTML;
  if (isSame || old.querySelector(":popover-open") || old.matches(".dragging *")) event.preventDefault();
}
