// <div data-library data-upload-url="…"> <input type="file" data-upload-input> <div data-uploads>
// <div data-send-bar hidden> <progress> <output> <button data-send-pause> <button data-send-cancel>
// Uploads dropped or chosen files and folders, three at a time, with their total progress. They can be paused, as a
// lost connection does, and files that are not sent yet cancelled.

import { fromEvent } from "../../file-selector/index.js";
import { refusal } from "../ui/request.js";

const AT_ONCE = 3;
const IN_FOLDER = /[^.]\//; // not "./file.pdf"
const chooser = document.querySelector("[data-upload-input]");

export function watchUploads(library) {
  const bar = library.querySelector("[data-send-bar]");
  const pause = bar.querySelector("[data-send-pause]");
  const waiting = [];
  let [running, all, done, paused] = [0, 0, 0, false];

  function show() {
    bar.hidden = done === all;
    if (bar.hidden) [all, done, paused] = [0, 0, false];
    Object.assign(bar.querySelector("progress"), { max: all || 1, value: done });
    bar.querySelector("output").textContent = `${done} / ${all}`;
    pause.ariaPressed = paused;
  }

  /** Adds dropped or chosen files; from folders, those of supported types. */
  async function add(event) {
    const files = (await fromEvent(event)).filter((file) => !IN_FOLDER.test(file.path) || isAccepted(file));
    waiting.push(...files.map((file) => upload(file, library.dataset.uploadUrl)));
    all += files.length;
    show();
    files.forEach(next);
  }

  async function next() {
    if (paused || running === AT_ONCE || !waiting.length) return;
    running += 1;
    const send = waiting.shift();
    if (await send()) paused = waiting.unshift(send) > 0;
    else done += 1;
    running -= 1;
    show();
    next();
  }

  /** Resumes with the same number of parallel uploads. */
  const goOn = () => Array.from({ length: AT_ONCE }).forEach(next);
  pause.onclick = () => {
    paused = !paused;
    show();
    goOn();
  };
  bar.querySelector("[data-send-cancel]").onclick = () => {
    library.querySelectorAll("[data-uploads] > :not(.refused) button").forEach((button) => button.click());
    paused = false;
    goOn();
  };

  addEventListener("beforeunload", (event) => done < all && event.preventDefault());
  library.addEventListener("change", (event) => {
    if (event.target.files) add(event).then(() => (event.target.value = ""));
  });
  watchDrops(library.querySelector("[data-drop-veil]"), add);
}

function watchDrops(veil, add) {
  const watch = (kind, action) => addEventListener(kind, (event) => {
    if (event.dataTransfer?.types.includes("Files")) action(event);
  });
  watch("dragenter", () => (veil.hidden = false));
  watch("dragleave", ({ relatedTarget }) => (veil.hidden = !relatedTarget)); // null: it left the window
  watch("dragover", (event) => event.preventDefault());
  watch("drop", (event) => {
    event.preventDefault();
    veil.hidden = true;
    add(event);
  });
}

/** Shows a row for the file; returns a function that sends it: true where the connection was lost. */
function upload(file, url) {
  const row = document.getElementById("upload-row").content.firstElementChild.cloneNode(true);
  const state = row.querySelector(".upload-state");
  row.querySelector(".upload-name").textContent = file.name;
  row.querySelector("button").onclick = () => (htmx.trigger(row, "htmx:abort"), row.remove(), chooser.focus());
  row.addEventListener("htmx:xhr:progress", ({ detail: { loaded, total } }) => {
    if (total) row.querySelector("progress").value = loaded / total;
  });
  row.addEventListener("htmx:afterRequest", (event) => {
    const { successful, xhr } = event.detail;
    if (successful) return row.remove();
    event.stopPropagation(); // it is said here, and stays
    row.classList.toggle("refused", xhr.status > 0);
    state.textContent = refusal(xhr);
    const existing = xhr.getResponseHeader("X-Existing");
    const link = Object.assign(document.createElement("a"), { href: existing, textContent: row.dataset.open });
    if (existing) state.append(" ", link);
  });
  document.querySelector("[data-uploads]").append(row);

  return async () => {
    if (!row.isConnected) return; // cancelled while it waited
    if (file.size > row.dataset.largest) {
      row.classList.add("refused");
      state.textContent = row.dataset.tooLarge;
      return;
    }
    state.textContent = row.dataset.sending;
    await htmx.ajax("POST", url, { source: row, swap: "none", values: { file } }).catch(() => {});
    return row.isConnected && !row.matches(".refused");
  };
}

function isAccepted({ name }) {
  return !name.startsWith(".") && chooser.accept.split(",").some((kind) => name.toLowerCase().endsWith(kind));
}
