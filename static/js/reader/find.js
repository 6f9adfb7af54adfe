// <form data-find hidden> <input name="words"> <output> <input name="whole"> <button data-find-back> …
// The server knows every word and its boxes: it counts matches by page; boxes are asked for as pages are drawn.

import { toast } from "../ui/toasts.js";
import { request } from "../ui/request.js";
import { pageLayer } from "./page_layer.js";

const PAUSE = 100; // ms without a key
const LONGEST = 200; // characters of a selection that is taken over

/** Returns the function that opens the bar. */
export function findIn(viewer, texts) {
  const bar = document.querySelector("[data-find]");
  const { words, whole } = bar.elements;
  const layer = pageLayer(viewer, "matches", paint);
  let [counts, boxes, current, more, timer, asked] = [new Map(), new Map(), null, false, 0, 0];

  const ask = async (fields) => {
    const query = new URLSearchParams({ q: words.value, ...(whole.checked && { whole: 1 }), ...fields });
    return (await request(`${viewer.element.dataset.findUrl}?${query}`)).json();
  };
  const total = () => [...counts.values()].reduce((sum, count) => sum + count, 0);

  /** Counts matches anew, and goes to the first from the page that is shown. */
  async function look() {
    timer = clearTimeout(timer);
    const mine = (asked += 1);
    let found = { pages: [], read: true };
    try {
      if (words.value.trim()) found = await ask({ from: viewer.page });
    } catch (error) {
      toast(error.message);
    }
    if (mine !== asked || bar.hidden) return; // something else was typed
    const { pages, first, more: isCut } = found;
    [counts, boxes, current, more] = [new Map(pages), new Map(first && [first]), null, isCut];
    if (first) (viewer.leave(), await go(first[0], 0));
    else {
      say(words.value.trim() && (found.read ? texts.nothing : texts.unread));
      layer.show([]);
    }
    for (let page = 1; page <= viewer.count; page += 1) if (viewer.isDrawn(page)) load(page);
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
    const before = [...counts].reduce((sum, [number, count]) => sum + (number < page ? count : 0), 0);
    say(`${before + index + 1} ${texts.of} ${total()}${more ? "+" : ""}`);
    await load(page);
    if (mine !== asked) return;
    show();
    scroll();
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

  /** As little as it takes: what is in sight stays where it is. */
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
