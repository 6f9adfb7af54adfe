// <div data-library data-upload-url="…"> <input type="file" data-upload-input> <div data-uploads>
// Drop files or folders anywhere, or choose them: sent three at a time.

import { csrfToken, refusal } from "../ui/request.js";

const AT_ONCE = 3;
const chooser = document.querySelector("[data-upload-input]");

export function watchUploads(library) {
  const waiting = [];
  let running = 0;

  function add(files) {
    waiting.push(...files.map((file) => upload(file, library.dataset.uploadUrl)));
    files.forEach(next);
  }

  async function next() {
    if (running === AT_ONCE || !waiting.length) return;
    running += 1;
    await waiting.shift()();
    running -= 1;
    next();
  }

  library.addEventListener("change", ({ target }) => {
    if (!target.matches("[data-upload-input]")) return;
    const files = [...target.files];
    add(target.webkitdirectory ? files.filter(isAccepted) : files);
    target.value = "";
  });
  watchDrops(library.querySelector("[data-drop-veil]"), add);
}

function watchDrops(veil, add) {
  const watch = (kind, action) => addEventListener(kind, (event) => event.dataTransfer?.types.includes("Files") && action(event));
  watch("dragenter", () => (veil.hidden = false));
  watch("dragleave", ({ relatedTarget }) => (veil.hidden = !relatedTarget)); // null: it left the window
  watch("dragover", (event) => event.preventDefault());
  watch("drop", async (event) => {
    event.preventDefault();
    veil.hidden = true;
    add(await filesOf(event.dataTransfer));
  });
}

/**
 * Shows a row for the file; returns the function that sends it and resolves when that is over. fetch()
 * tells nothing of what was sent so far: hence XMLHttpRequest.
 */
function upload(file, url) {
  const row = document.getElementById("upload-row").content.firstElementChild.cloneNode(true);
  const state = row.querySelector(".upload-state");
  const { waiting, sending, offline, open } = document.getElementById("texts").dataset;
  const xhr = new XMLHttpRequest();

  function refuse(why) {
    const existing = xhr.getResponseHeader("X-Existing");
    row.classList.add("refused");
    state.textContent = why;
    if (existing) state.append(" ", Object.assign(document.createElement("a"), { href: existing, textContent: open }));
  }

  row.querySelector(".upload-name").textContent = file.name;
  row.querySelector("button").onclick = () => (xhr.abort(), row.remove(), chooser.focus());
  state.textContent = waiting;
  document.querySelector("[data-uploads]").append(row);
  xhr.upload.onprogress = ({ loaded, total }) => (row.querySelector("progress").value = loaded / total);
  xhr.onload = () => {
    if (xhr.status !== 201) return refuse(refusal(xhr));
    row.remove();
    htmx.swap(document.body, xhr.responseText, { swapStyle: "none" }); // the card says where it goes
  };
  xhr.onerror = () => refuse(offline);

  return () => new Promise((over) => {
    if (!row.isConnected) return over(); // cancelled while it waited
    const body = new FormData();
    body.append("file", file);
    state.textContent = sending;
    xhr.onloadend = over;
    xhr.open("POST", url);
    xhr.setRequestHeader("X-CSRFToken", csrfToken());
    xhr.send(body);
  });
}

/** All files of a drop, and those of its folders that can be read. */
async function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files];
  return (await Promise.all(entries.map(filesUnder))).flat();
}

function isAccepted({ name }) {
  return !name.startsWith(".") && chooser.accept.split(",").some((kind) => name.toLowerCase().endsWith(kind));
}

async function filesUnder(entry) {
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return (await Promise.all(found.map(filesUnder))).flat().filter(isAccepted);
    found.push(...batch);
  }
}
