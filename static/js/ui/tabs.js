// <div role="tablist"> <button role="tab" aria-controls="a"> … </div> <div role="tabpanel" id="a">
// Tabs according to WAI-ARIA. A panel that becomes visible gets a bubbling `tabshown` event.

export function watchTabs(root) {
  root.addEventListener("click", ({ target }) => select(target.closest("[role=tab]")));
  root.addEventListener("keydown", walk);
}

const paneOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

function select(tab) {
  if (!tab) return;
  for (const other of tab.parentElement.children) {
    const chosen = other === tab;
    other.ariaSelected = chosen;
    other.tabIndex = chosen ? 0 : -1;
    paneOf(other).hidden = !chosen;
  }
  paneOf(tab).dispatchEvent(new Event("tabshown", { bubbles: true }));
}

function walk({ key, target }) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!step || !target.matches("[role=tab]")) return;
  const tabs = [...target.parentElement.children];
  const next = tabs.at((tabs.indexOf(target) + step) % tabs.length);
  next.focus();
  select(next);
}
