// <div role="tablist"> <button role="tab" aria-controls="a"> … </div> <div role="tabpanel" id="a">
// Tabs as WAI-ARIA describes them; a panel that is shown gets a bubbling `tabshown` event.

export function watchTabs(root) {
  root.querySelectorAll("[role=tablist]").forEach((list) => {
    list.addEventListener("click", (event) => select(event.target.closest("[role=tab]")));
    list.addEventListener("keydown", (event) => walk(list, event));
  });
}

function select(tab) {
  if (!tab) return;
  tab.parentElement.querySelectorAll("[role=tab]").forEach((other) => {
    const chosen = other === tab;
    other.ariaSelected = chosen;
    other.tabIndex = chosen ? 0 : -1;
    document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
  });
  const pane = document.getElementById(tab.getAttribute("aria-controls"));
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
