// The reader page: opens the PDF, paints what the link asks for, and joins the parts.
import { Note } from "../chat/note.js";
import { bindKeys } from "../ui/keys.js";
import { select, watchTabs } from "../ui/tabs.js";
import { Answers } from "./answers.js";
import { Find } from "./find.js";
import { Highlights } from "./highlights.js";
import { Marks } from "./marks.js";
import { Panel } from "./panel.js";
import { Passages } from "./passages.js";
import { Position } from "./position.js";
import { SearchPane } from "./search_pane.js";
import { Selection, quoted } from "./selection.js";
import { Side } from "./side.js";
import { Toolbar } from "./toolbar.js";
import { Viewer } from "./viewer.js";

const element = document.querySelector("[data-reader]");
const viewer = new Viewer(element);
const highlights = new Highlights(viewer);
const position = new Position(viewer);
const panel = new Panel();
const side = new Side(viewer);
const find = new Find(viewer);
new Passages(viewer, highlights);
const toolbar = new Toolbar(viewer, {
  side: (button) => side.toggle(button),
  panel: () => panel.toggle(),
  find: () => find.open(),
  print: async () => (await import("./print.js")).printDocument(viewer),
});
watchTabs(element);
bindKeys({ Escape: () => (highlights.isEmpty ? false : highlights.clear()) });

const searchPane = new SearchPane(viewer, highlights);
new Selection(viewer, {
  ask: ({ words }) => ask(`“${words}”\n`),
  similar: ({ words }) => {
    show("search");
    searchPane.look(words);
  },
  note: async ({ words, page }) => {
    await show("notes");
    notes.shown?.append(`> ${words}\n\n[${quoted("", element.dataset.title, page).replace("“” ", "")}](${location.pathname}?page=${page}&q=${encodeURIComponent(words)})`);
  },
});
const marks = new Marks(viewer, (citation) => answers.shown?.open(citation));
panel.element.addEventListener("answerdone", () => marks.load());
const notes = {};
const answers = {};
panel.element.addEventListener("panefilled", ({ detail: pane }) => {
  const note = pane.querySelector("[data-note]");
  if (note) notes.shown = new Note(note);
  const chat = pane.querySelector("[data-conversation]");
  if (!chat) return;
  answers.shown = new Answers(chat, { viewer, highlights, panel });
  const wanted = new URLSearchParams(location.search).get("citation");
  if (wanted) answers.shown.open(wanted);
});
bindKeys({ a: () => ask() });

open();

/** Shows the conversation, with words in its field when there are some. */
export async function ask(words = "") {
  await show("ask");
  if (words) answers.shown?.conversation.prefill(words);
  else answers.shown?.conversation.focus();
}

async function show(name) {
  panel.toggle(true);
  select(document.getElementById(`tab-${name}`));
  await panel.fill(document.getElementById(`pane-${name}`));
}

async function open() {
  const note = element.querySelector("[data-opening-note]");
  try {
    await viewer.open(askPassword);
  } catch (error) {
    console.error(error);
    note.textContent = document.getElementById("reader-texts").dataset.failed;
    return;
  }
  startWhere();
  note.remove();
  viewer.on("pagerendered", () => panel.fillShown(), { once: true });
  viewer.on("pagerendered", () => marks.load(), { once: true });
  toolbar.showLabels();
}

/** What the link asks for; else where this person was last; else the first page. */
function startWhere() {
  const opening = JSON.parse(document.getElementById("opening").textContent);
  const last = position.last;
  viewer.pages.currentScaleValue = last?.scale ? zoomOf(last.scale) : "auto";
  if (opening) {
    const page = Math.min(opening.page, viewer.count);
    viewer.pages.currentPageNumber = page;
    highlights.show("link", { ...opening, page });
    highlights.reveal("link");
  } else if (last) {
    viewer.pages.pagesRotation = last.rotation ?? 0;
    viewer.pages.scrollPageIntoView({ pageNumber: Math.min(last.page, viewer.count), destArray: [null, { name: "XYZ" }, last.left, last.top, null], allowNegativeOffset: true });
  }
}

/** pdf.js gives percent, or the name of a preset. */
function zoomOf(scale) {
  return typeof scale === "number" ? String(scale / 100) : scale;
}

function askPassword(again) {
  const dialog = document.getElementById("pdf-password");
  dialog.querySelector("[data-wrong]").hidden = !again;
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.querySelector("input").value), { once: true }));
}

