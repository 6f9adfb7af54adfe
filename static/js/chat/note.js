// <section data-note="ID" data-revision="3" data-document="ID" data-api="/api/notes/">
//   <input data-note-title> <textarea data-note-text> <p data-note-state>
// A note that saves itself. It names the revision it began from, so that it never overwrites another's save.

import { request } from "../ui/request.js";

const PAUSE = 900; // ms without typing before a save

export class Note {
  #element;
  #timer = 0;
  #saving = Promise.resolve();

  constructor(element) {
    this.#element = element;
    element.addEventListener("input", () => this.#soon());
    addEventListener("pagehide", () => this.#timer && this.#save());
  }

  /** Adds words at the end, on a line of their own. */
  append(text) {
    const field = this.#element.querySelector("[data-note-text]");
    field.value = `${field.value.trimEnd()}${field.value.trim() ? "\n\n" : ""}${text}\n`;
    field.scrollTop = field.scrollHeight;
    this.#soon(0);
  }

  #soon(wait = PAUSE) {
    this.#say("unsaved");
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.#saving = this.#saving.then(() => this.#save())), wait);
  }

  async #save() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const { note, revision, document: about, api } = this.#element.dataset;
    const value = (name) => this.#element.querySelector(`[data-note-${name}]`).value;
    const body = { title: value("title"), content: value("text") };
    if (note) body.revision = Number(revision);
    else if (about) body.document = about;
    this.#say("saving");
    try {
      const response = await request(note ? `${api}${note}/` : api, {
        method: note ? "PATCH" : "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
      });
      const saved = await response.json();
      Object.assign(this.#element.dataset, { note: saved.id, revision: saved.revision });
      this.#say("saved");
    } catch (error) {
      this.#element.querySelector("[data-note-state]").textContent = error.message;
    }
  }

  #say(state) {
    const line = this.#element.querySelector("[data-note-state]");
    line.textContent = line.dataset[state];
  }
}
