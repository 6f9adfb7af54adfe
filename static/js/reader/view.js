// <button data-do="dark|fullscreen|hand|present" aria-pressed="false"> <button data-do="spread" data-spread="1" …>
// Dark pages and two pages side by side, both remembered; full screen; hand tool; presentation.

import { request } from "../ui/request.js";
import { pageLayer } from "./page_layer.js";

/** Returns the actions of the buttons. */
export function watchView(viewer) {
  const { pages, element } = viewer;
  const button = (name) => document.querySelector(`[data-do=${name}]`);
  const figures = pageLayer(viewer, "figures", cutOut);
  let places; // of figures

  function darken() {
    places ??= request(element.dataset.figuresUrl).then(async (found) => figures.show(await found.json()));
    return (button("dark").ariaPressed = element.classList.toggle("dark-pages"));
  }

  /** Cuts figures out of the mask that darkens a page, less a third of a pixel. */
  function cutOut({ boxes }, put, { div }) {
    const at = (start, size) => `${(100 * parseFloat(start)) / (100.01 - parseFloat(size))}%`;
    const holes = boxes.map((box) => {
      const { left, top, width, height } = put(document.createElement("div"), box).style;
      const size = `calc(${width} - .3px) calc(${height} - .3px)`;
      return `linear-gradient(#000 0 0) ${at(left, width)} ${at(top, height)}/${size}`;
    });
    div.style.setProperty("--figures", holes.join());
    div.style.setProperty("--add", holes.map(() => "add").join()); // CSS would repeat a list that is shorter
    return [];
  }

  function spread(mode) {
    pages.spreadMode = mode;
    document.querySelectorAll("[data-spread]").forEach((one) =>
      (one.ariaPressed = Number(one.dataset.spread) === mode));
    const { currentScaleValue } = pages;
    if (currentScaleValue) pages.currentScaleValue = currentScaleValue; // a page has half the width now
  }

  const restore = () => spread(innerWidth > 820 ? Number(localStorage.getItem("spread")) : 0);
  if (localStorage.getItem("dark-pages") === "true") darken();
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
    dark: () => localStorage.setItem("dark-pages", darken()),
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
