// <section data-note="ID" data-revision="3" data-document="ID" data-save="URL">
//   <textarea data-note-title> <textarea data-note-text> <article data-note-read> <span data-note-state>
// A note that is saved automatically. The request names its revision, so that the server can merge other changes.
// Without a connection the text is kept in the browser and sent later.

import { request } from "../ui/request.js";
import { watchHover } from "./hover_card.js";

const PAUSE = 900; // ms without typing before a save
const AGAIN = 5000; // ms before another try without a connection

/** Returns a function that resolves to the note's id once its text is saved or kept in the browser. */
export function keepNote(element) {
  const names = ["title", "text", "read", "state"];
  const [title, text, read, state] = names.map((name) => element.querySelector(`[data-note-${name}]`));
  const { dataset } = element;
  let timer = 0;
  let saving = Promise.resolve();

  const keyOf = () => `note-${dataset.note || dataset.document}`;
  const say = (name) => (state.textContent = state.dataset[name]);

  function soon(wait = PAUSE) {
    say("unsaved");
    clearTimeout(timer);
    timer = setTimeout(() => (saving = saving.then(save)), wait);
  }

  async function save() {
    clearTimeout(timer);
    timer = 0;
    const { save: url, ...about } = dataset;
    const sent = { ...about, title: title.value, content: text.value };
    const key = keyOf();
    localStorage.setItem(key, JSON.stringify(sent));
    say("saving");
    try {
      const saved = await (await request(url, { method: "POST", body: new URLSearchParams(sent) })).json();
      localStorage.removeItem(key);
      take(saved, sent);
    } catch (error) {
      if (error.status < 500) return (state.textContent = error.message);
      say("kept");
      timer ||= setTimeout(save, AGAIN);
    }
  }

  /** Shows the saved note, unless more was typed meanwhile: then the next save merges again. */
  function take({ note, revision, content, html }, sent) {
    dataset.note = note;
    if (text.value !== sent.content) return;
    dataset.revision = revision;
    if (content !== sent.content) text.value = content;
    const changed = Object.assign(read.cloneNode(false), { innerHTML: html });
    if (!changed.isEqualNode(read)) read.innerHTML = html; // what says the same keeps the focus that is in it
    say(content === sent.content ? "saved" : "merged");
  }

  /** Returns text that was written without a connection. */
  function takeUp() {
    const draft = JSON.parse(localStorage.getItem(keyOf()));
    const typed = [title, text].some((field) => field.value !== field.defaultValue); // before this was loaded
    if (!draft) return typed && soon();
    title.value = draft.title;
    text.value = draft.content;
    dataset.revision = draft.revision;
    soon(0);
  }

  element.addEventListener("input", () => soon());
  title.addEventListener("keydown", (event) => event.key === "Enter" && (event.preventDefault(), text.focus()));
  document.addEventListener("notechanged", () => soon(0));
  addEventListener("online", takeUp);
  addEventListener("pagehide", () => timer && save());
  watchHover(element);
  takeUp();

  return async () => {
    if (timer) await save();
    await saving;
    return dataset.note;
  };
}
