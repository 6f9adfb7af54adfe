// <button popovertarget="m">…</button> <div id="m" class="menu" popover data-menu>…</div>
// Opens a menu under its button, inside the window; arrow keys walk through it.

const GAP = 4;

export function watchMenus() {
  document.addEventListener("toggle", (event) => {
    const menu = event.target;
    if (event.newState !== "open" || !menu.matches?.("[data-menu]")) return;
    place(menu, document.querySelector(`[popovertarget="${menu.id}"]`));
    items(menu)[0]?.focus();
  }, true);
  document.addEventListener("keydown", walk);
  document.addEventListener("click", (event) => {
    const menu = event.target.closest("[data-menu]");
    if (menu && event.target.closest("a, button")) menu.hidePopover();
  });
}

export function place(menu, button) {
  const box = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const left = Math.min(Math.max(8, box.right - width), innerWidth - width - 8);
  const below = box.bottom + GAP + height < innerHeight;
  menu.style.left = `${left}px`;
  menu.style.top = `${below ? box.bottom + GAP : Math.max(8, box.top - GAP - height)}px`;
}

function items(menu) {
  return [...menu.querySelectorAll("a, button")];
}

function walk(event) {
  const menu = event.target.closest?.("[data-menu]");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!menu || !step) return;
  event.preventDefault();
  const all = items(menu);
  all.at((all.indexOf(document.activeElement) + step) % all.length).focus();
}
