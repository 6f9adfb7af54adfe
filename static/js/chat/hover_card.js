// <div id="hover-card" role="tooltip" hidden></div>
// Pointing at a citation, or focusing it, shows its words, a picture of the place, and the verdict (chat/_card.html).

import { place as placeBeside } from "../ui/menus.js";
import { request } from "../ui/request.js";

const [OPEN_AFTER, CLOSE_AFTER] = [180, 220]; // ms

export function watchHover(root) {
  const card = document.getElementById("hover-card");
  let shown = null; // the citation
  let timer;

  const after = (wait, action) => (clearTimeout(timer), (timer = setTimeout(action, wait)));
  const put = () => shown && placeBeside(card, shown, { above: true });

  function close() {
    clearTimeout(timer);
    card.hidden = true;
    shown?.removeAttribute("aria-describedby");
    shown = null;
  }

  async function open(place) {
    if (place === shown) return;
    shown = place;
    const html = await request(`/chat/citations/${place.dataset.citation}/card/`)
      .then((answer) => answer.text())
      .catch(() => "");
    if (shown !== place || !html) return; // another one by now, or not stored yet
    card.innerHTML = html;
    htmx.process(card);
    card.hidden = false;
    place.setAttribute("aria-describedby", "hover-card");
    put();
  }

  const closeSoon = () => after(CLOSE_AFTER, close);
  const watch = (kind, action) => root.addEventListener(kind, ({ target }) => {
    const place = target.closest("a[data-citation]");
    if (place) action(place);
  });
  ["pointerover", "focusin"].forEach((kind) => watch(kind, (place) => after(OPEN_AFTER, () => open(place))));
  ["pointerout", "focusout"].forEach((kind) => watch(kind, closeSoon));
  root.addEventListener("scroll", put, { capture: true });
  card.addEventListener("pointerenter", () => clearTimeout(timer));
  card.addEventListener("pointerleave", closeSoon);
  card.addEventListener("click", close);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && close());
}
