// <button data-do="dark|fullscreen" aria-pressed="false"> <button data-do="spread" data-spread="1" …>
// Dark pages, two pages side by side, full screen. The first two are remembered.

import { request } from "../ui/request.js";
import { pageLayer } from "./page_layer.js";

const WHOLE = 0.7; // of a page: a figure that is the page itself, as of a scan, is darkened

/** Returns what the buttons do. */
export function watchView(viewer) {
  const { pages, element } = viewer;
  const button = (name) => document.querySelector(`[data-do=${name}]`);
  const figures = pageLayer(viewer, "figures-kept", ({ box }, put) => put(document.createElement("div"), box));
  let listed; // once

  async function darken(on) {
    element.classList.toggle("dark-pages", on);
    button("dark").ariaPressed = on;
    if (!on || listed) return;
    listed = true;
    const page = await (await request(document.getElementById("figures").getAttribute("hx-get"))).text();
    const links = new DOMParser().parseFromString(page, "text/html").querySelectorAll("[data-figure]");
    const all = [...links].flatMap(({ dataset: { page: number, boxes } }) =>
      JSON.parse(boxes).map((box) => ({ page: Number(number), box })));
    figures.show(all.filter(({ box: [x0, y0, x1, y1] }) => (x1 - x0) * (y1 - y0) < WHOLE));
  }

  function spread(mode) {
    pages.spreadMode = mode;
    const buttons = document.querySelectorAll("[data-spread]");
    buttons.forEach((one) => (one.ariaPressed = Number(one.dataset.spread) === mode));
    const { currentScaleValue } = pages;
    if (currentScaleValue) pages.currentScaleValue = currentScaleValue; // a page has half the width now
  }

  const remembered = Number(localStorage.getItem("spread"));
  const restore = () => remembered && spread(remembered);
  if (localStorage.getItem("dark-pages") === "true") darken(true);
  if (viewer.pdf) restore();
  else viewer.on("pagesinit", restore);
  document.addEventListener("fullscreenchange", () => {
    button("fullscreen").ariaPressed = Boolean(document.fullscreenElement);
  });

  return {
    dark() {
      const on = !element.classList.contains("dark-pages");
      localStorage.setItem("dark-pages", on);
      darken(on);
    },
    spread({ dataset }) {
      const mode = Number(dataset.spread) === pages.spreadMode ? 0 : Number(dataset.spread);
      localStorage.setItem("spread", mode);
      spread(mode);
    },
    fullscreen() {
      if (document.fullscreenElement) document.exitFullscreen();
      else document.documentElement.requestFullscreen();
    },
  };
}
