// <div role="tablist"> <button role="tab" aria-controls="a"> … </div> <div role="tabpanel" id="a">
// Tabs as WAI-ARIA describes them; a panel that is shown gets a bubbling `tabshown` event.

export function watchTabs(root) {
  root.querySelectorAll("[role=tablist]").forEach((list) => {
    list.addEventListener("click", ({ target }) => select(target.closest("[role=tab]")));
    list.addEventListener("keydown", (event) => walk(list, event));
  });
}

const paneOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

function select(tab) {
  if (!tab) return;
  tab.parentElement.querySelectorAll("[role=tab]").forEach((other) => {
    const chosen = other === tab;
    other.ariaSelected = chosen;
    other.tabIndex = chosen ? 0 : -1;
    paneOf(other).hidden = !chosen;
  });
  const pane = paneOf(tab);
  pane.dispatchEvent(new CustomEvent("tabshown", { bubbles: true, detail: pane }));
}

function walk(list, event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const next = tabs.at((tabs.indexOf(document.activeElement) + step) % tabs.length);
  next.focus();
  select(next);
}
