// <div id="hover-card" role="tooltip" hidden></div>
// Hovering or focusing a citation shows its words, a picture of the place, and the verdict (chat/_card.html).
// The card is beside the text it explains and does not cover highlights or words; on phones it is a bottom sheet.
// Cards of visible citations are prefetched with their pictures.

import { request } from "../ui/request.js";

const [OPEN_AFTER, CLOSE_AFTER, AHEAD_AFTER] = [120, 300, 400]; // ms
const [GAP, EDGE, NARROWEST] = [12, 8, 280]; // px
const [LOWEST, IN_SIGHT] = [150, 100]; // px: a sheet's least height, and what stays in sight above it
const AT_ONCE = 2; // cards fetched ahead at the same time
const ASKED_AGAIN = '.htmx-request[hx-target="closest .exchange"]'; // a button that was pressed
const phone = matchMedia("(max-width: 700px)");

export function watchHover(root) {
  const card = document.getElementById("hover-card");
  const ahead = cardsAhead(root);
  let shown = null; // the citation
  let timer;
  let where; // what the card's place was reckoned from

  const after = (wait, action) => (clearTimeout(timer), (timer = setTimeout(action, wait)));

  /** Places the card in each frame, since text and pages move while they are scrolled, drawn and written. */
  function follow() {
    if (card.hidden) return;
    const now = JSON.stringify([innerWidth, innerHeight, card.offsetHeight, sides(shown), ...inSight(".lit")]);
    if (now !== where) putBeside(card, shown);
    where = now;
    requestAnimationFrame(follow);
  }

  function close() {
    clearTimeout(timer);
    card.hidden = true;
    shown?.closest(".chat-scroll")?.style.removeProperty("padding-block-end");
    shown?.removeAttribute("aria-describedby");
    shown = null;
  }

  async function open(place) {
    if (place === shown) return;
    shown = place;
    const content = await ahead.card(place);
    if (shown !== place || !content) return; // another one by now, or not stored yet
    card.replaceChildren(content);
    htmx.process(card);
    const opened = card.hidden;
    card.hidden = false;
    place.setAttribute("aria-describedby", "hover-card");
    where = "";
    if (opened) follow();
  }

  const closeSoon = () => after(CLOSE_AFTER, close);
  const watch = (kind, action) => root.addEventListener(kind, ({ target }) => {
    const place = target.closest("a[data-citation]");
    if (place) action(place);
  });
  ["pointerover", "focusin"].forEach((kind) => watch(kind, (place) => {
    ahead.card(place);
    after(OPEN_AFTER, () => open(place));
  }));
  ["pointerout", "focusout"].forEach((kind) => watch(kind, closeSoon));
  card.addEventListener("pointerenter", () => clearTimeout(timer));
  card.addEventListener("pointerleave", closeSoon);
  card.addEventListener("click", () => (ahead.forget(shown), close())); // feedback changes what it says
  document.addEventListener("keydown", ({ key }) => key === "Escape" && close());
}

/** `card(place)` resolves to its content with the picture loaded, the same element each time; null without one. */
function cardsAhead(root) {
  const kept = new Map(); // key -> promise of an element
  const loading = new Map(); // key -> { answer, controller }
  const waiting = [];
  let running = 0;
  const key = ({ dataset: { citation, verdict } }) => `${citation} ${verdict}`; // a new verdict, a new card

  async function fetched(id, signal) {
    const response = await request(`/chat/citations/${id}/card/`, { signal });
    const innerHTML = await response.text();
    const content = Object.assign(document.createElement("div"), { className: "hover-content", innerHTML });
    const picture = content.querySelector("img");
    signal.onabort = () => picture?.removeAttribute("src");
    await picture?.decode().catch(() => {});
    signal.throwIfAborted();
    return content;
  }

  async function load(place) {
    const name = key(place);
    if (kept.has(name)) return kept.get(name);
    const answer = place.closest("[data-message]");
    if (answer?.querySelector(ASKED_AGAIN)) return null;
    const controller = new AbortController();
    loading.set(name, { answer, controller });
    const card = fetched(place.dataset.citation, controller.signal).catch(() => (kept.delete(name), null));
    kept.set(name, card);
    card.finally(() => loading.delete(name));
    return card;
  }

  /** Drops the cards of an answer that is asked again, since its citations are deleted. */
  function abort({ target, requestConfig: { verb } }) {
    if (verb === "get") return;
    loading.forEach(({ answer, controller }) => target.contains(answer) && controller.abort());
  }

  function next() {
    const place = running < AT_ONCE && waiting.shift();
    if (!place) return;
    if (!place.isConnected || !place.closest('[data-status="complete"]')) return next(); // asked again meanwhile
    running += 1;
    load(place).finally(() => ((running -= 1), next()));
  }

  const seen = new IntersectionObserver((entries) => {
    const inSight = entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target);
    inSight.forEach((place) => seen.unobserve(place));
    waiting.push(...inSight.filter((place) => place.dataset.verdict));
    next();
  });
  const look = () => root.querySelectorAll('[data-status="complete"] a[data-citation]').forEach((place) => {
    if (!kept.has(key(place))) seen.observe(place);
  });
  root.addEventListener("htmx:beforeRequest", ({ detail }) => abort(detail));
  ["answerdone", "htmx:load"].forEach((kind) => root.addEventListener(kind, () => setTimeout(look, AHEAD_AFTER)));
  setTimeout(look, AHEAD_AFTER);
  return { card: load, forget: (place) => place && kept.delete(key(place)) };
}

/** Scrolls the citation above the bottom sheet. */
function showOver(sheet, scroller, { bottom }) {
  if (!scroller) return;
  sheet.style.maxHeight = `${Math.max(LOWEST, innerHeight - scroller.getBoundingClientRect().top - IN_SIGHT)}px`;
  const covered = bottom + GAP - (innerHeight - sheet.offsetHeight);
  if (covered <= 0) return;
  scroller.style.paddingBlockEnd = `${sheet.offsetHeight}px`;
  scroller.scrollBy({ top: covered, behavior: "instant" });
}

/** Returns a place left or right of the text around the citation; without room there, below or above it. */
function putBeside(card, place) {
  const text = (place.closest("[data-block]") ?? place).getBoundingClientRect();
  const at = place.getBoundingClientRect();
  const top = document.querySelector(".chat-scroll")?.getBoundingClientRect().top ?? 0; // below toolbar and tabs
  card.style.cssText = "";
  if (phone.matches) return showOver(card, place.closest(".chat-scroll"), at);
  const [left, right] = [text.left - GAP - EDGE, innerWidth - text.right - GAP - EDGE];
  const room = Math.max(left, right);
  if (room >= NARROWEST) card.style.width = `${Math.min(card.offsetWidth, room)}px`;
  const { offsetWidth: width, offsetHeight: height } = card;
  const within = (from, length, least, most) => Math.max(least, Math.min(from, most - length - EDGE));
  const beside = room >= NARROWEST;
  const x = left >= right ? text.left - GAP - width : text.right + GAP;
  const under = text.bottom + GAP + height < innerHeight ? text.bottom + GAP : at.bottom + GAP;
  const below = under + height < innerHeight ? under : Math.max(top, Math.min(text.top, at.top) - GAP - height);
  const level = within(at.top - 24, height, top + EDGE, innerHeight);
  const over = [within(at.left - 24, width, EDGE, innerWidth), below];
  const [column, row] = beside ? aside([x, level], card, top) : over;
  card.style.left = `${column}px`;
  card.style.top = `${row}px`;
}

const sides = (element) => {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  return { left, top, right, bottom };
};

const inSight = (light) => [...document.querySelectorAll(light)].map(sides)
  .filter(({ top, bottom }) => bottom > 0 && top < innerHeight);

const aside = (...at) =>
  clearOf(inSight(".lit"), ...at) ?? clearOf(inSight(".lit-anchor:not(.lit-other)"), ...at) ?? at[0];

/** `place`; where the card would hide words, the nearest place above, below or left of them; or none. */
function clearOf(words, [x, y], { offsetWidth: width, offsetHeight: height }, least) {
  const isClear = ([across, down]) => !words.some(({ left, right, top, bottom }) =>
    left < across + width && right > across && top < down + height && bottom > down);
  const places = words.flatMap(({ left, top, bottom }) =>
    [[x, top - GAP - height], [x, bottom + GAP], [left - GAP - width, y]]);
  const fits = ([across, down]) => across >= EDGE && down >= least && down + height + EDGE <= innerHeight;
  const far = ([across, down]) => Math.abs(across - x) + Math.abs(down - y);
  return [[x, y], ...places.filter(fits)].filter(isClear).sort((one, other) => far(one) - far(other))[0];
}
