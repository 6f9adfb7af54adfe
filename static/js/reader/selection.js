// <div data-selection-menu popover data-menu> <button data-do="ask|question|similar|quote|note|link|…">
// Words selected on a page, or a passage chosen in the panel: a menu says what can be done. Enter goes to it.

import { copyText } from "../ui/forms.js";
import { bindKeys } from "../ui/keys.js";
import { place } from "../ui/menus.js";
import { request } from "../ui/request.js";

const LONGEST = 1500; // characters
const STILL = 250; // ms without a change: a selection made with a finger has no other end

/**
 * `actions` by name get {words, page, link, range} and the dataset of their button. Returns the function
 * that says what is selected; words may be "".
 */
export function watchSelection(viewer, texts, actions) {
  const menu = document.querySelector("[data-selection-menu]");
  const all = {
    async quote({ words, page }) {
      const url = `${viewer.element.dataset.quotedUrl}?${new URLSearchParams({ page, q: words })}`;
      copyText(await (await request(url)).text(), texts.copied);
    },
    link: ({ link }) => copyText(link, texts.copied),
    ...actions,
  };
  let timer;

  function selected() {
    const selection = getSelection();
    const range = selection.rangeCount ? selection.getRangeAt(0) : null;
    const text = range?.startContainer.parentElement?.closest(".textLayer, .passages a");
    const holder = text?.closest("[data-page-number]");
    const words = holder ? selection.toString().replace(/\s+/g, " ").trim().slice(0, LONGEST) : "";
    const page = holder?.dataset.pageNumber;
    const link = `${location.origin}${location.pathname}?${new URLSearchParams({ page, q: words })}`;
    return { range, words, page, link };
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const { words, range } = selected();
      menu.togglePopover(Boolean(words));
      menu.lastElementChild.open = false;
      if (words) place(menu, range, true);
    }, STILL);
  }

  document.addEventListener("selectionchange", soon);
  document.addEventListener("pointermove", ({ buttons }) => buttons && soon()); // not while dragging
  document.addEventListener("click", ({ target }) => {
    const passage = target.closest(".passages a");
    if (passage) soon(getSelection().selectAllChildren(passage.lastElementChild));
  });
  viewer.scroller.addEventListener("scroll", ({ target }) => {
    if (target.contains(getSelection().anchorNode)) menu.togglePopover(false);
  });
  menu.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the selection
  menu.addEventListener("click", ({ target }) => {
    const { do: action, ...look } = target.closest("[data-do]")?.dataset ?? {};
    if (!action) return;
    all[action](selected(), look);
    getSelection().removeAllRanges();
  });
  bindKeys({ Enter: () => {
    if (!menu.matches(":popover-open") || !document.activeElement.contains(getSelection().anchorNode)) return false;
    menu.querySelector("button").focus();
  } });
  return selected;
}
