// <button popovertarget="m">…</button> <div id="m" class="menu" popover data-menu>…</div>
// Arrow keys move through a menu; base.css sets its position.

const [GAP, EDGE] = [6, 8]; // px from what it belongs to, and from the window's edges

export function watchMenus() {
  document.addEventListener("keydown", walk);
  document.addEventListener("click", ({ target }) => {
    target.closest("[data-menu] :is(a, button, input)")?.closest("[data-menu]").hidePopover();
  });
}

/** Places an element below another, or `above` it; on its other side where it would leave the window. */
export function place(element, anchor, above) {
  const box = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = element;
  const [over, under] = [box.top - GAP - height, box.bottom + GAP];
  const within = (at, length, whole) => `${Math.max(EDGE, Math.min(at, whole - length - EDGE))}px`;
  element.style.left = within(box.right - width, width, innerWidth);
  element.style.top = within((above ? over > EDGE : under + height > innerHeight) ? over : under, height, innerHeight);
}

function walk(event) {
  const menu = event.target.closest?.("[data-menu]:not(:has(select:focus))");
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (!menu || !step) return;
  event.preventDefault();
  const all = [...menu.querySelectorAll("a, button, input")].filter((one) => one.checkVisibility());
  all.at((all.indexOf(document.activeElement) + step) % all.length).focus();
}
