// <div data-library data-upload-url="…"> <input type="file" data-upload-input> <div data-uploads>
// Drop files or folders anywhere, or choose them: sent three at a time, each with its own bar.
// Of a folder only what is accepted is sent.

import { csrfToken, firstElement } from "../ui/request.js";
import { putCard } from "./progress.js";

const AT_ONCE = 3;

class Uploads {
  #library;
  #list;
  #progress;
  #waiting = [];
  #running = 0;

  constructor(library, progress) {
    this.#library = library;
    this.#progress = progress;
    this.#list = library.querySelector("[data-uploads]");
    library.addEventListener("change", (event) => {
      if (!event.target.matches("[data-upload-input]")) return;
      const files = [...event.target.files];
      this.add("folder" in event.target.dataset ? files.filter(isAccepted) : files);
      event.target.value = "";
    });
    library.querySelector("[data-choose-folder]").addEventListener("click", () => {
      library.querySelector("[data-folder]").click();
    });
    this.#watchDrops(library.querySelector("[data-drop-veil]"));
  }

  add(files) {
    this.#list.hidden = !files.length && !this.#list.children.length;
    files.forEach((file) => this.#waiting.push(new Upload(file, this.#list)));
    this.#next();
  }

  #next() {
    while (this.#running < AT_ONCE && this.#waiting.length) {
      const upload = this.#waiting.shift();
      if (upload.cancelled) continue;
      this.#running += 1;
      upload.send(this.#library.dataset.uploadUrl).then((html) => this.#arrived(html)).catch(() => {}).finally(() => {
        this.#running -= 1;
        this.#list.hidden = !this.#list.children.length;
        this.#next();
      });
    }
  }

  #arrived(html) {
    putCard(this.#library, firstElement(html));
    this.#progress.soon();
  }

  #watchDrops(veil) {
    let depth = 0;
    const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
    const show = (step) => (event) => {
      if (!carriesFiles(event)) return;
      depth = Math.max(0, depth + step);
      veil.hidden = depth === 0;
    };
    addEventListener("dragenter", show(1));
    addEventListener("dragleave", show(-1));
    addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
    addEventListener("drop", async (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      depth = 0;
      veil.hidden = true;
      this.add(await filesOf(event.dataTransfer));
    });
  }
}

class Upload {
  #row;
  #file;
  #xhr = new XMLHttpRequest();
  cancelled = false;

  constructor(file, list) {
    this.#file = file;
    this.#row = document.getElementById("upload-row").content.firstElementChild.cloneNode(true);
    this.#row.querySelector(".upload-name").textContent = file.name;
    this.#say(texts().waiting);
    this.#row.querySelector("button").addEventListener("click", () => this.#cancel());
    list.append(this.#row);
  }

  /** The new card's HTML. fetch() tells nothing of what was sent so far: hence XMLHttpRequest. */
  send(url) {
    const body = new FormData();
    body.append("file", this.#file, this.#file.name);
    this.#say(texts().sending);
    return new Promise((resolve, reject) => {
      this.#xhr.upload.onprogress = (event) => (this.#row.querySelector("progress").value = event.loaded / event.total);
      this.#xhr.onload = () => (this.#xhr.status === 201 ? this.#done(resolve) : reject(this.#refuse()));
      this.#xhr.onerror = () => reject(this.#refuse(texts().offline));
      this.#xhr.onabort = reject;
      this.#xhr.open("POST", url);
      this.#xhr.setRequestHeader("X-CSRFToken", csrfToken());
      this.#xhr.send(body);
    });
  }

  #done(resolve) {
    this.#row.remove();
    resolve(this.#xhr.responseText);
  }

  #refuse(message) {
    const said = this.#xhr.getResponseHeader("Content-Type")?.startsWith("text/plain") && this.#xhr.responseText;
    this.#row.classList.add("refused");
    const existing = this.#xhr.getResponseHeader("X-Existing");
    this.#say(message || said || texts().refused);
    if (existing) this.#row.querySelector(".upload-state").append(" ", Object.assign(document.createElement("a"), { href: existing, textContent: texts().open }));
    return new Error(message);
  }

  #cancel() {
    this.cancelled = true;
    this.#xhr.abort();
    const list = this.#row.parentElement;
    this.#row.remove();
    list.hidden = !list.children.length;
  }

  #say(text) {
    this.#row.querySelector(".upload-state").textContent = text;
  }
}

const texts = () => document.getElementById("texts").dataset;

/** All files of a drop, folders opened. */
async function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files];
  const found = await Promise.all(entries.map(async (entry) => {
    const files = await filesUnder(entry);
    return entry.isFile ? files : files.filter(isAccepted);
  }));
  return found.flat();
}

function isAccepted(file) {
  const kinds = document.querySelector("[data-upload-input][accept]").accept.split(",");
  return !file.name.startsWith(".") && kinds.some((kind) => file.name.toLowerCase().endsWith(kind));
}

async function filesUnder(entry) {
  if (entry.isFile) {
    return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) break;
    found.push(...batch);
  }
  return (await Promise.all(found.map(filesUnder))).flat();
}

export const watchUploads = (library, progress) => new Uploads(library, progress);
