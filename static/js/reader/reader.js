// The reader page: opens the PDF, paints what the link asks for, and joins the parts.

import { Note } from "../chat/note.js";
import { bindKeys } from "../ui/keys.js";
import { watchTabs } from "../ui/tabs.js";
import { joinAnswers } from "./answers.js";
import { findIn } from "./find.js";
import { Highlights } from "./highlights.js";
import * as panel from "./panel.js";
import { pinToPages } from "./pins.js";
import { followPlaces } from "./places.js";
import { rememberPosition } from "./position.js";
import { watchSelection } from "./selection.js";
import { watchSide } from "./side.js";
import { watchButtons, watchPageField, watchZoom } from "./toolbar.js";
import { Viewer } from "./viewer.js";

const element = document.querySelector("[data-reader]");
const texts = document.getElementById("reader-texts").dataset;
const passages = document.getElementById("pane-passages");
const viewer = new Viewer(element);
const highlights = new Highlights(viewer);
const position = rememberPosition(viewer);
const showPlace = followPlaces(viewer, highlights, openCitation);
const selected = watchSelection(viewer, texts, { ask, similar, note: addToNote });
let answers = null;
let note = null;

watchButtons(viewer, {
  side: watchSide(viewer),
  panel: () => panel.toggle(),
  find: findIn(viewer, texts),
  print: async () => (await import("./print.js")).printDocument(viewer, texts.preparing),
});
watchZoom(viewer);
pinToPages(viewer);
watchTabs(element);
bindKeys({ Escape: () => highlights.clear(), a: () => ask(selected()) });
element.addEventListener("htmx:load", ({ target }) => {
  if (target.matches("[data-conversation]")) {
    answers = joinAnswers(target, viewer, highlights);
    answers.open(new URLSearchParams(location.search).get("citation"));
  } else if (target.matches("[data-note]")) {
    note = new Note(target);
    panel.show("notes");
  }
});
viewer.on("pagechanging", () => passages.hidden || passages.dispatchEvent(new Event("pageturned")));
passages.addEventListener("htmx:configRequest", ({ detail }) => (detail.parameters.page = viewer.page));
open();

function openCitation(id) {
  if (!answers?.open(id)) return false;
  panel.show("ask");
  return true;
}

async function ask({ words }) {
  await panel.show("ask");
  if (words) answers.conversation.prefill(`“${words}”\n`);
  else answers.conversation.focus();
}

async function similar({ words }) {
  const form = (await panel.show("search")).querySelector("form");
  form.elements.q.value = words;
  form.requestSubmit();
}

async function addToNote({ words, page }) {
  await panel.show("notes");
  await note.kept();
  htmx.ajax("POST", element.dataset.quoteUrl, { target: "#pane-notes", values: { words, page, note: note.id } });
}

async function open() {
  const waiting = element.querySelector("[data-opening-note]");
  try {
    await viewer.open(askPassword);
  } catch (error) {
    console.error(error);
    Object.assign(waiting, { textContent: texts.failed, role: "alert" });
    return;
  }
  startWhere();
  waiting.remove();
  viewer.on("pagerendered", fillAround, { once: true });
}

/** What is not the page itself comes after the first page. */
function fillAround() {
  document.head.append(Object.assign(document.createElement("script"), { src: element.dataset.htmx }));
  watchPageField(viewer);
}

/** What the link asks for; else where this person was last; else the first page. */
function startWhere() {
  const asked = JSON.parse(document.getElementById("opening").textContent);
  position.restoreZoom();
  if (asked) showPlace(asked);
  else position.restorePlace();
}

/** What was typed; null when the dialog was left. */
function askPassword(again) {
  const dialog = document.getElementById("pdf-password");
  const field = dialog.querySelector("input");
  dialog.querySelector("[data-wrong]").hidden = !again;
  dialog.returnValue = field.value = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue ? field.value : null), { once: true }));
}
