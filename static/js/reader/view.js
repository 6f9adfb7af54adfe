// <button data-do="dark|fullscreen|hand|present" aria-pressed="false"> <button data-do="spread" data-spread="1" …>
// Dark pages and two pages side by side, both remembered; full screen; the hand; one page after the other on all
// of the screen.

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
  let shown = null; // how the pages lay before they were presented
  document.addEventListener("fullscreenchange", () => {
    button("fullscreen").ariaPressed = Boolean(document.fullscreenElement);
    if (shown && !document.fullscreenElement) endPresentation();
  });

  function endPresentation() {
    const { page } = viewer;
    element.classList.remove("presenting");
    Object.assign(pages, shown);
    [shown, viewer.page] = [null, page];
  }

  /** Arrows, space and clicks turn the page; links are still followed. */
  const turn = (event) => {
    const { type, key, target, shiftKey } = event;
    if (!shown || target.closest("a, button")) return;
    const back = ["ArrowLeft", "ArrowUp", "PageUp", "Backspace"].includes(key) || (key === " " && shiftKey);
    if (!back && type === "keydown" && !["ArrowRight", "ArrowDown", "PageDown", " ", "Enter"].includes(key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (back) pages.previousPage();
    else pages.nextPage();
  };
  element.addEventListener("keydown", turn, true);
  viewer.scroller.addEventListener("click", turn);

  let held = null; // where the hand took hold
  viewer.scroller.addEventListener("pointerdown", (event) => {
    const { clientX: x, clientY: y, target, pointerId, pointerType } = event;
    if (!element.classList.contains("hand") || pointerType === "touch" || target.closest("a, button")) return;
    held = [x, y];
    viewer.scroller.setPointerCapture(pointerId);
    event.preventDefault();
  });
  viewer.scroller.addEventListener("pointermove", ({ clientX: x, clientY: y }) => {
    if (!held) return;
    viewer.scroller.scrollBy({ left: held[0] - x, top: held[1] - y, behavior: "instant" });
    held = [x, y];
  });
  ["pointerup", "pointercancel"].forEach((end) => viewer.scroller.addEventListener(end, () => (held = null)));

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
    hand() {
      button("hand").ariaPressed = element.classList.toggle("hand");
    },
    async present() {
      const { page } = viewer;
      const { spreadMode, scrollMode, currentScaleValue } = pages;
      await element.requestFullscreen();
      shown = { scrollMode, spreadMode, currentScaleValue };
      element.classList.add("presenting");
      Object.assign(pages, { spreadMode: 0, scrollMode: 3, currentScaleValue: "page-fit" }); // 3: one page at a time
      viewer.page = page;
      viewer.scroller.focus();
    },
    fullscreen() {
      if (document.fullscreenElement) document.exitFullscreen();
      else document.documentElement.requestFullscreen();
    },
  };
}
