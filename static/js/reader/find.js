// <form data-find hidden> <input name="words"> <output> <input name="whole"> <input name="regex"> …
// The server stores every word with its boxes. It counts matches by page, in parts from the visible page on; boxes
// are requested as pages are drawn.

import { toast } from "../ui/toasts.js";
import { request } from "../ui/request.js";
import { pageLayer } from "./page_layer.js";

const PAUSE = 50; // ms without a key
const LONGEST = 200; // characters of a selection that is taken over

/** Returns the function that opens the bar. */
export function findIn(viewer, texts) {
  const bar = document.querySelector("[data-find]");
  const { words, whole, regex } = bar.elements;
  const layer = pageLayer(viewer, "matches", paint);
  let [counts, boxes, current, timer, asked] = [new Map(), new Map(), null, 0, 0];
  let end = ""; // after the number of matches: "+" where there may be more
  let stale = new AbortController();

  const ask = async (fields, signal) => {
    const how = { ...(whole.checked && { whole: 1 }), ...(regex.checked && { regex: 1 }) };
    const query = new URLSearchParams({ q: words.value, ...how, ...fields });
    return (await request(`${viewer.element.dataset.findUrl}?${query}`, { signal })).json();
  };
  const total = () => [...counts.values()].reduce((sum, count) => sum + count, 0);

  /** Counts matches again, and goes to the first one from the visible page on as soon as it is known. */
  async function look() {
    timer = clearTimeout(timer);
    const mine = (asked += 1);
    const from = viewer.page;
    stale.abort();
    stale = new AbortController();
    let on = null;
    do {
      const part = await partOf({ from, ...(on && { on, found: total() }) }, stale.signal);
      if (mine !== asked || bar.hidden) return; // something else was typed
      if (!on) [counts, boxes, current] = [new Map(), new Map(), null];
      for (const [page, count] of part.pages) counts.set(page, count);
      [on, end] = [part.rest, part.rest || part.more ? "+" : ""];
      if (part.first && !current) (boxes.set(...part.first), viewer.leave(), await go(part.first[0], 0));
      if (mine !== asked) return;
      if (current) number(on);
      else if (!on) (layer.show([]), say(part.text ?? reason(part)));
      for (const [page] of part.pages) if (viewer.isDrawn(page)) load(page);
    } while (on);
  }

  const reason = ({ invalid, read }) => (invalid ? texts.invalid : read ? texts.nothing : texts.unread);

  async function partOf(fields, signal) {
    try {
      return words.value.trim() ? await ask(fields, signal) : { pages: [], text: "" };
    } catch (error) {
      if (!signal.aborted) toast(error.message);
      return { pages: [], text: "" };
    }
  }

  async function load(page) {
    const mine = asked;
    if (!counts.has(page) || boxes.has(page)) return;
    boxes.set(page, []);
    const { matches } = await ask({ page });
    if (mine !== asked) return;
    boxes.set(page, matches);
    show();
  }

  async function go(page, index) {
    const mine = asked;
    current = { page, index, drawn: viewer.isDrawn(page) };
    number();
    await load(page);
    if (mine !== asked) return;
    show();
    scroll();
  }

  /** Shows the number of the match; only the count while pages are unsearched. */
  function number(isSearching) {
    const before = [...counts].reduce((sum, [page, count]) => sum + (page < current.page ? count : 0), 0);
    say(`${isSearching ? "" : `${before + current.index + 1} ${texts.of} `}${total()}${end}`);
  }

  function step(by) {
    if (timer) return look(); // it is for what was typed
    if (!current) return;
    const pages = [...counts.keys()];
    const { page, index } = current;
    if (counts.get(page) > index + by && index + by >= 0) return go(page, index + by);
    const other = pages.at((pages.indexOf(page) + by) % pages.length);
    return go(other, by > 0 ? 0 : counts.get(other) - 1);
  }

  function show() {
    layer.show([...boxes].flatMap(([page, matches]) => matches.map((lines, index) => ({ page, index, lines }))));
  }

  function paint({ page, index, lines }, put) {
    const on = page === current?.page && index === current.index ? "match-on" : "";
    return lines.map((box) => put(Object.assign(document.createElement("div"), { className: `match ${on}` }), box));
  }

  /** Scrolls as little as possible; a visible match does not move. */
  function scroll() {
    const { div } = viewer.view(current.page);
    const place = div.querySelector(".match-on") ?? div;
    place.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    if (!viewer.isDrawn(current.page)) viewer.pages.update();
  }

  const say = (text) => (bar.querySelector("output").textContent = text || "");
  viewer.on("pagerendered", ({ pageNumber }) => {
    load(pageNumber);
    if (pageNumber === current?.page && !bar.hidden && !current.drawn) (current.drawn = true, scroll());
  });
  bar.onsubmit = (event) => (event.preventDefault(), step(1));
  bar.oninput = () => (clearTimeout(timer), (timer = setTimeout(look, PAUSE)));
  bar.onkeydown = (event) => {
    if (event.key === "Escape") bar.reset();
    if (event.key === "Enter" && event.shiftKey) (event.preventDefault(), step(-1));
  };
  bar.querySelector("[data-find-back]").onclick = () => step(-1);
  bar.onreset = () => {
    bar.hidden = true;
    [counts, boxes, current] = [new Map(), new Map(), null];
    asked += 1;
    stale.abort();
    say("");
    layer.show([]);
    viewer.scroller.focus();
  };
  return () => {
    const selected = getSelection();
    const chosen = selected.anchorNode?.parentElement.closest(".textLayer") ? selected.toString().trim() : "";
    if (bar.hidden && !chosen) request(viewer.element.dataset.findUrl); // the server reads the pages ahead
    bar.hidden = false;
    if (chosen && chosen.length < LONGEST) (words.value = chosen.replace(/\s+/g, " "), look());
    words.select();
    words.focus();
  };
}
