// <div data-splitter> <aside data-panel> <div role="tabpanel" hx-get="…" hx-trigger="intersect once">
// The panel beside the pages, a bottom sheet on phones: open or closed, of any width.

const NARROW = matchMedia("(max-width: 820px)");
const STEP = 24; // px, by an arrow key
const LEAST = { width: 300, height: 150 };

const panel = document.querySelector("[data-panel]");
const splitter = document.querySelector("[data-splitter]");
const side = () => (NARROW.matches ? "height" : "width");

export function toggle(open = panel.hidden) {
  const button = document.querySelector("[data-do=panel]");
  panel.hidden = splitter.hidden = !open;
  button.ariaExpanded = open;
  if (!document.activeElement.checkVisibility()) button.focus();
}

/** Opens a tab and resolves to it once htmx has loaded its content. */
export async function show(name) {
  toggle(true);
  const tab = document.getElementById(`tab-${name}`);
  tab.click();
  tab.focus();
  const pane = document.getElementById(`pane-${name}`);
  if (pane.matches("[hx-get]:is(:empty, :has(.htmx-added))")) {
    await new Promise((filled) => pane.addEventListener("htmx:load", filled, { once: true }));
  }
  return pane;
}

function resize(size) {
  const most = NARROW.matches ? innerHeight * 0.85 : innerWidth * 0.65;
  const fitting = Math.round(Math.max(LEAST[side()], Math.min(size, most)));
  document.documentElement.style.setProperty(`--panel-${side()}`, `${fitting}px`);
  localStorage.setItem(`panel-${side()}`, (splitter.ariaValueNow = fitting));
}

splitter.addEventListener("pointerdown", ({ pointerId }) => splitter.setPointerCapture(pointerId));
splitter.addEventListener("pointermove", ({ pointerId, clientX, clientY }) => {
  if (splitter.hasPointerCapture(pointerId)) resize(NARROW.matches ? innerHeight - clientY : innerWidth - clientX);
});
splitter.addEventListener("keydown", ({ key }) => {
  const step = { ArrowLeft: STEP, ArrowUp: STEP, ArrowRight: -STEP, ArrowDown: -STEP }[key];
  if (step) resize(panel.getBoundingClientRect()[side()] + step);
});
resize(Number(localStorage.getItem(`panel-${side()}`)) || 420);
if (NARROW.matches) toggle(Boolean(document.querySelector("[data-tour][hx-get]")));
