// <section data-note="ID" data-revision="3" data-document="ID" data-save="URL">
//   <textarea data-note-title> <textarea data-note-text> <article data-note-read> <span data-note-state>
// A note that saves itself. It names the revision it began from, and the server merges what was saved
// elsewhere. What cannot be sent is kept in the browser, and sent when there is a connection.

import { request } from "../ui/request.js";
import { watchHover } from "./hover_card.js";

const PAUSE = 900; // ms without typing before a save
const AGAIN = 5000; // ms before another try without a connection

export class Note {
  #element;
  #timer = 0;
  #saving = Promise.resolve();

  constructor(element) {
    this.#element = element;
    element.addEventListener("input", () => this.#soon());
    this.#part("title").onkeydown = (event) => event.key !== "Enter" || (event.preventDefault(), this.#text.focus());
    document.addEventListener("notechanged", () => this.#soon(0));
    addEventListener("online", () => this.#takeUp());
    addEventListener("pagehide", () => this.#timer && this.#save());
    watchHover(element);
    this.#takeUp();
  }

  get id() {
    return this.#element.dataset.note;
  }

  /** Resolves once what was typed is saved, or kept. */
  async kept() {
    if (this.#timer) await this.#save();
    await this.#saving;
  }

  get #text() {
    return this.#part("text");
  }

  get #key() {
    return `note-${this.#element.dataset.note || this.#element.dataset.document}`;
  }

  #part(name) {
    return this.#element.querySelector(`[data-note-${name}]`);
  }

  /** What was written here without a connection. */
  #takeUp() {
    const draft = JSON.parse(localStorage.getItem(this.#key));
    if (!draft) return this.#text.value !== this.#text.defaultValue && this.#soon(); // typed before this was loaded
    this.#part("title").value = draft.title;
    this.#text.value = draft.content;
    this.#element.dataset.revision = draft.revision;
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
    const { save, ...about } = this.#element.dataset;
    const sent = { ...about, title: this.#part("title").value, content: this.#text.value };
    const key = this.#key;
    localStorage.setItem(key, JSON.stringify(sent));
    this.#say("saving");
    try {
      const saved = await (await request(save, { method: "POST", body: new URLSearchParams(sent) })).json();
      localStorage.removeItem(key);
      this.#take(saved, sent);
    } catch (error) {
      if (error.status < 500) return (this.#part("state").textContent = error.message);
      this.#say("kept");
      this.#timer ||= setTimeout(() => this.#save(), AGAIN);
    }
  }

  /** Takes the note as it is now, unless more was typed meanwhile: then the next save merges again. */
  #take({ note, revision, content, html }, sent) {
    this.#element.dataset.note = note;
    if (this.#text.value !== sent.content) return;
    this.#element.dataset.revision = revision;
    if (content !== sent.content) this.#text.value = content;
    this.#part("read").innerHTML = html;
    this.#say(content === sent.content ? "saved" : "merged");
  }

  #say(state) {
    this.#part("state").textContent = this.#part("state").dataset[state];
  }
}
