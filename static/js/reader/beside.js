// What stands beside the pages and over them: toolbar, contents, panel, pins, selections.

import "../app.js";
import { keepNote } from "../chat/note.js";
import { bindKeys } from "../ui/keys.js";
import { watchTabs } from "../ui/tabs.js";
import { watchAnnotations } from "./annotations.js";
import { joinAnswers } from "./answers.js";
import { findIn } from "./find.js";
import { rememberJumps } from "./jumps.js";
import * as panel from "./panel.js";
import { pinToPages } from "./pins.js";
import { followPlaces } from "./places.js";
import { printDocument } from "./print.js";
import { watchSelection } from "./selection.js";
import { watchSide } from "./side.js";
import { watchButtons, watchPageField, watchZoom } from "./toolbar.js";
import { watchView } from "./view.js";
import { zoomByHand } from "./zoom.js";

/** Returns the function that fills it. */
export function prepare(viewer, highlights) {
  const { element } = viewer;
  const { content, dataset: texts } = document.getElementById("reader-texts");
  const passages = document.getElementById("pane-passages");
  const own = watchAnnotations(viewer, () => panel.show("highlights"));
  const selected = watchSelection(viewer, texts, { ask, question: ask, similar, note: addToNote, ...own });
  let answers, noteKept, drawing, region;
  const pen = () => (drawing ??= import("./ink.js").then(({ drawOnPages }) => drawOnPages(viewer, own.ink)));

  followPlaces(viewer, highlights, openCitation);
  watchButtons(viewer, {
    side: watchSide(viewer),
    panel: () => panel.toggle(),
    find: findIn(viewer, texts),
    ...watchView(viewer),
    ...rememberJumps(viewer),
    ink: async () => (await pen()).toggle(),
    region: async () => {
      region ??= import("./region.js").then(({ markRegions }) => markRegions(viewer, askAbout));
      (await region)();
    },
    print: () => viewer.pdf && printDocument(viewer, texts.preparing),
    "print-own": ({ dataset }) => viewer.pdf && printDocument(viewer, texts.preparing, dataset.file),
  });
  watchZoom(viewer);
  zoomByHand(viewer.pages);
  watchPageField(viewer);
  pinToPages(viewer);
  watchTabs(element);
  bindKeys({ Escape: () => highlights.clear() && false, a: () => ask(selected()), h: highlight });
  element.addEventListener("htmx:load", ({ target }) => {
    if (target.matches("[data-conversation]")) {
      answers = joinAnswers(target, viewer, highlights);
      answers.open(new URLSearchParams(location.search).get("citation"));
    } else if (target.matches("[data-note]")) noteKept = keepNote(target);
  });
  element.addEventListener("click", ({ target }) => {
    const asked = target.closest("[data-ask-region]");
    const { page } = asked?.closest("[data-page]").dataset ?? {};
    if (asked) askAbout({ page: Number(page), box: JSON.parse(asked.dataset.askRegion) }, highlights.goTo);
  });
  viewer.on("pagechanging", () => passages.hidden || passages.dispatchEvent(new Event("pageturned")));
  passages.addEventListener("htmx:configRequest", ({ detail }) => (detail.parameters.page = viewer.page));
  element.addEventListener("htmx:configRequest", ({ target, detail }) => {
    if (target.matches(".reading-state")) detail.parameters.page = viewer.page; // recognised before others
  });
  return () => document.head.append(content);

  function openCitation(id) {
    if (!answers?.open(id)) return false;
    panel.show("ask");
    return true;
  }

  /** False when no words are selected. */
  function highlight() {
    const chosen = selected();
    if (!chosen.words) return false;
    own.highlight(chosen);
    getSelection().removeAllRanges();
  }

  /** `as`: what is asked of the words, which is sent at once unless it ends in a space. */
  async function ask({ words }, { as = "“%s”\n" } = {}) {
    await panel.show("ask");
    answers?.write(words && as.replace("%s", () => words), words && /[^\s]$/.test(as));
  }

  /** A part of a page: {page, box}, lit by `light`. */
  async function askAbout(part, light = highlights.point) {
    await panel.show("ask");
    answers?.about({ document: viewer.id, ...part });
    answers?.write();
    light([{ page: part.page, unit: [part.box], colour: 2 }]);
  }

  async function similar({ words }) {
    const form = (await panel.show("search")).querySelector("form");
    form.elements.q.value = words;
    form.requestSubmit();
  }

  async function addToNote({ words, page }) {
    await panel.show("notes");
    const note = await noteKept();
    htmx.ajax("POST", element.dataset.quoteUrl, { target: "#pane-notes", values: { words, page, note } });
  }
}
