// <div data-review data-cells="URL" data-api="URL" data-cell="URL">: a review as a grid (grid.js), and its actions.
// Changes use the API; changes of other users are polled every few seconds.

import { bindKeys } from "../ui/keys.js";
import { request } from "../ui/request.js";
import { toast } from "../ui/toasts.js";
import { makeGrid } from "./grid.js";

const LOOK = 2500; // milliseconds between two looks while cells are filled
const IDLE = 5000;
const SETTLED = 150; // milliseconds without a key until the panel follows to another cell

const page = document.querySelector("[data-review]");
const side = page.querySelector("[data-side]");
const dialog = document.querySelector("[data-column-dialog]");
const form = dialog.querySelector("form");
const filter = page.querySelector("[data-filter]");
const wide = matchMedia("(min-width: 701px)"); // as in reviews.css: room for the reader beside the grid
const states = Object.fromEntries([...filter.elements.state.options].map(({ value, text }) => [value, text]));
const grid = makeGrid(page.querySelector("[data-scroll]"), states, { open, head: chooseColumn, moved: follow });
const json = (value) => new Blob([JSON.stringify(value)], { type: "application/json" });
const review = {
  columns: [],
  rows: [],
  since: "", // when the cells were last fetched
  looking: false,
  timer: 0,
  following: 0, // timer of the panel
  changing: null, // the column of the dialog; null for a new one
  lastChange: Promise.resolve(),
  toSpend: {}, // what is filled once its cost is accepted
};

async function look() {
  clearTimeout(review.timer);
  if (review.looking) return;
  review.looking = true;
  try {
    const found = await (await request(`${page.dataset.cells}?since=${encodeURIComponent(review.since)}`)).json();
    review.since = found.now ?? "";
    if (found.cells.length || JSON.stringify([found.columns, found.rows]) !== JSON.stringify(shape())) {
      Object.assign(review, { columns: found.columns, rows: found.rows });
      nameColumns();
      grid.show(found);
    }
    if (found.cells.some(({ id, revision }) => isOutdated(id, revision))) refresh();
    tell();
  } catch (error) {
    if (error.status) toast(error.message);
  } finally {
    review.looking = false;
    review.timer = setTimeout(look, working() ? LOOK : IDLE);
  }
}

/** Returns whether the panel shows an outdated cell that is not being edited. */
function isOutdated(id, revision) {
  const shown = !side.hidden && side.dataset.shown === id && side.querySelector("[data-revision]");
  return shown && Number(shown.dataset.revision) !== revision && !isWritten();
}

const shape = () => [review.columns, review.rows];
const working = () => grid.cells().some(({ state }) => state === "waiting" || state === "running");

/** Shows the progress of filling. */
function tell() {
  const count = (...wanted) => grid.cells().filter(({ state }) => wanted.includes(state)).length;
  const left = count("waiting", "running");
  const total = review.rows.length * review.columns.length;
  const parts = ["found", "not_stated", "unclear", "failed", "stale", "empty"]
    .filter((state) => count(state))
    .map((state) => `${count(state)} ${states[state].toLowerCase()}`);
  const bar = page.querySelector("progress");
  Object.assign(bar, { hidden: !left, max: total || 1, value: total - left });
  page.querySelector("[data-progress]").textContent = left ? `${total - left} / ${total}` : parts.join(" · ");
  const [fill, stop] = [page.querySelector("[data-fill]"), page.querySelector("[data-stop]")];
  if (fill) {
    stop.hidden = !left;
    fill.hidden = Boolean(left);
    fill.disabled = !count("empty", "failed", "stale");
  }
  page.querySelector("[data-empty]").hidden = Boolean(total);
}

const sayIn = (place) => (sentence) =>
  Object.assign(place.querySelector(".alert"), { textContent: sentence, hidden: false });

/** Sends a change and reloads its result; an error is shown in `where`, else in a toast. */
async function send(path, method, value, where = toast) {
  try {
    await request(page.dataset.api + path, { method, body: value && json(value) });
    await look();
    return true;
  } catch (error) {
    where(error.message);
    return false;
  }
}

// The panel with one cell.

const edited = ({ value, defaultValue }) => value !== defaultValue;
const isWritten = () => [...side.querySelectorAll("[name]")].some(edited);

async function open(cell, isWriting) {
  if (!cell) return;
  const place = page.dataset.cell.replace(page.dataset.review, cell.id);
  try {
    const html = await (await request(place)).text();
    const held = side.contains(document.activeElement) && (document.activeElement.name || "text");
    const typed = side.dataset.shown === cell.id ? [...side.querySelectorAll("[name]")].filter(edited) : [];
    side.querySelector("[data-cell-panel]").innerHTML = html;
    side.hidden = false;
    const isOther = side.dataset.shown !== cell.id || !side.classList.contains("framed");
    if (isOther) showWords(side.querySelector("[data-frame]")?.dataset.frame);
    typed.forEach(({ name, value }) => (side.querySelector(`[name=${name}]`).value = value)); // while it was fetched
    if (held) side.querySelector(`[name=${held}]`)?.focus(); // what had the focus was replaced
    side.dataset.shown = cell.id;
    if (isWriting === true) side.querySelector("[name=text]")?.select();
  } catch (error) {
    toast(error.message);
  }
}

/** Opens the reader beside the grid at the words; an open document is not loaded again. */
function showWords(address) {
  const frame = side.querySelector("iframe");
  const isFramed = Boolean(address && wide.matches);
  side.classList.toggle("framed", isFramed);
  const wanted = isFramed ? address : "about:blank"; // pdf.js does not scroll in a frame that is not drawn
  if (frame.dataset.shown === wanted) return;
  frame.dataset.shown = wanted;
  frame.contentWindow.location.replace(wanted); // no step of the page's history
}

function close() {
  showWords();
  side.hidden = true;
  grid.focus();
}

/** Shows the cell that the keyboard moved to, unless the panel has unsaved text. */
function follow(cell) {
  clearTimeout(review.following);
  if (side.hidden || side.dataset.shown === cell?.id || isWritten()) return;
  review.following = setTimeout(() => !side.hidden && grid.current() === cell && open(cell), SETTLED);
}

/** Applies changes one after the other, each to the result of the last. */
function change(changes, cell, revision = () => cell.revision) {
  review.lastChange = review.lastChange.catch(() => {}).then(async () => {
    const say = side.querySelector(".alert") ? sayIn(side) : toast;
    if (await send(`cells/${cell.id}/`, "PATCH", { revision: revision(), ...changes }, say)) await refresh();
  });
}

const refresh = () => !side.hidden && open(shownCell());
const shownCell = () => grid.cells().find(({ id }) => id === side.dataset.shown);
const marked = (mark, cell = grid.current()) => {
  if (cell?.answered_by && "mayEdit" in page.dataset) change({ mark: cell.mark === mark ? "" : mark }, cell);
};
const askAgain = (cell = grid.current()) => cell && askToFill({ cells: [cell.id], again: true });

side.addEventListener("submit", (event) => {
  event.preventDefault();
  const { text, comment } = event.target.elements;
  const changes = { comment: comment.value };
  if (text && edited(text)) changes.text = text.value;
  const cell = grid.cells().find(({ id }) => id === event.target.dataset.cell);
  const shown = () => side.querySelector(`[data-cell="${cell.id}"]`) ?? event.target;
  change(changes, cell, () => Number(shown().dataset.revision));
});
side.addEventListener("click", (event) => {
  const { target } = event;
  const button = target.closest("button");
  const words = target.closest("[data-frame]");
  if (words && wide.matches && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    showWords(words.dataset.frame);
  }
  if (button?.matches("[data-remove]") && confirm(button.dataset.remove)) removeRow();
  if (button?.matches("[data-close]")) close();
  if (button?.matches("[data-again]")) askAgain(shownCell());
  if (button?.dataset.mark) marked(button.dataset.mark, shownCell());
});
bindKeys({ a: () => marked("accepted"), w: () => marked("wrong"), r: () => askAgain(), n: grid.goToUnchecked });
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape" && !side.hidden && !document.querySelector("dialog[open], :popover-open")) close();
});

// Filling.

const spending = document.querySelector("[data-spending]");

/** Shows the cost of a model before it is used, unless it is within the limit that was set. */
async function askToFill(chosen = {}) {
  try {
    const estimate = await (await request(`${page.dataset.api}estimate/?${new URLSearchParams(chosen)}`)).json();
    const isGranted = estimate.tokens_left !== null && estimate.tokens <= estimate.tokens_left && chosen.again;
    if (!estimate.calls || isGranted) return await send("fill/", "POST", chosen);
    review.toSpend = chosen;
    const numbers = Object.entries(estimate).map(([name, value]) => [name, value?.toLocaleString?.() ?? ""]);
    numbers.forEach(([name, text]) => {
      spending.querySelectorAll(`[data-number=${name}]`).forEach((place) => (place.textContent = text));
    });
    spending.elements.budget.value = estimate.tokens_left ?? estimate.tokens;
    spending.closest("dialog").showModal();
  } catch (error) {
    toast(error.message);
  }
}

spending?.addEventListener("submit", (event) => {
  event.preventDefault();
  const budget = Number(spending.elements.budget.value) || null;
  spending.closest("dialog").close();
  send("fill/", "POST", { ...review.toSpend, budget });
});

// Columns.

function chooseColumn(column) {
  if ("mayEdit" in page.dataset) openColumn(column);
  else grid.sortBy(column.id);
}

function openColumn(column) {
  review.changing = column;
  form.reset();
  form.querySelector(".alert").hidden = true;
  const pdf = form.querySelector("[data-column-pdf]");
  form.querySelectorAll("[data-delete], [data-column-again]").forEach((button) => (button.hidden = !column));
  pdf.hidden = !column;
  pdf.href = `${page.dataset.pdf}?column=${column?.id}`;
  Object.entries(column ?? {}).forEach(([name, value]) => {
    if (form.elements[name]) form.elements[name].value = Array.isArray(value) ? value.join("\n") : value;
  });
  showFields();
  dialog.showModal();
}

async function removeRow() {
  const { row } = shownCell();
  if (await send(`rows/${row}/`, "DELETE")) close();
}

/** Lists the columns that can be filtered. */
function nameColumns() {
  const { column } = filter.elements;
  const [any] = column.options;
  const options = review.columns.map(({ id, title }) => new Option(title, id, false, id === column.value));
  column.replaceChildren(any, ...options);
}

function showFields() {
  const kind = form.elements.kind.value;
  form.querySelectorAll("[data-for]").forEach((field) => {
    field.hidden = !field.dataset.for.split(" ").includes(kind);
  });
}

async function saveColumn() {
  const value = Object.fromEntries(new FormData(form));
  if (value.kind !== "number") value.unit = "";
  const several = value.kind.startsWith("choice");
  value.choices = several ? value.choices.split("\n").filter((line) => line.trim()) : [];
  const path = review.changing ? `columns/${review.changing.id}/` : "columns/";
  if (await send(path, review.changing ? "PATCH" : "POST", value, sayIn(form))) dialog.close();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  saveColumn();
});
form.elements.kind.addEventListener("change", showFields);
form.querySelector("[data-column-again]").addEventListener("click", () => {
  dialog.close();
  askToFill({ column: review.changing.id, again: true });
});
form.querySelector("[data-delete]").addEventListener("click", async () => {
  if (await send(`columns/${review.changing.id}/`, "DELETE")) dialog.close();
});
document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button?.matches("dialog [data-close]")) button.closest("dialog").close();
  if (button?.matches("[data-column]")) openColumn(null);
  if (button?.matches("[data-fill]")) askToFill();
  if (button?.matches("[data-stop]")) send("cancel/", "POST");
  if (button?.dataset.turn) grid.turn(Number(button.dataset.turn));
  if (button?.dataset.open) document.getElementById(button.dataset.open).showModal();
});
filter.addEventListener("input", () => grid.filter(Object.fromEntries(new FormData(filter))));
filter.addEventListener("submit", (event) => event.preventDefault());

const settings = document.querySelector("[data-settings]");
settings?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const value = Object.fromEntries(new FormData(settings));
  for (const { name, checked } of settings.querySelectorAll("[type=checkbox]")) value[name] = checked;
  if (await send("", "PATCH", value, sayIn(settings))) location.reload();
});
look();
