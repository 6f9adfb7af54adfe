import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Element, openPage } from "./page.mjs";

let kept;
let sent;
let respond;

beforeEach(() => {
  kept = openPage({ toasts: { offline: "offline" } });
  sent = [];
  globalThis.fetch = async (url, { body }) => {
    sent.push(Object.fromEntries(body));
    return respond();
  };
});

const json = (value, status = 200) =>
  () => new Response(JSON.stringify(value), { status, headers: { "Content-Type": "application/json" } });

/** A note with what was typed; `save()` saves it. */
async function noteOf(content = "Old", data = {}) {
  const { keepNote } = await import("../../static/js/chat/note.js");
  const says = { unsaved: "Not saved", saving: "Saving", saved: "Saved", merged: "Merged", kept: "Kept here" };
  const title = new Element({ value: "Title" });
  const text = new Element({ value: content, defaultValue: content });
  const [read, state] = [new Element(), new Element({ dataset: says })];
  const found = {
    "[data-note-title]": title, "[data-note-text]": text, "[data-note-read]": read, "[data-note-state]": state,
  };
  const dataset = { note: "n1", revision: "3", document: "d1", save: "/save/", ...data };
  const element = new Element({ found, dataset });
  const finish = keepNote(element);
  return {
    text, read, state, dataset,
    async save(typed = text.value) {
      text.value = typed;
      element.dispatchEvent(new Event("input"));
      return finish();
    },
  };
}

test("what was typed is sent with the revision it began from, and the next one is kept", async () => {
  respond = json({ note: "n1", revision: 4, content: "New", html: "<p>New</p>" });
  const note = await noteOf();
  assert.equal(await note.save("New"), "n1");
  assert.deepEqual(sent, [{ note: "n1", revision: "3", document: "d1", title: "Title", content: "New" }]);
  assert.deepEqual([note.state.textContent, note.dataset.revision, kept.size], ["Saved", 4, 0]);
});

test("what was merged with another's words replaces the text and is told", async () => {
  respond = json({ note: "n1", revision: 9, content: "New and theirs", html: "" });
  const note = await noteOf();
  await note.save("New");
  assert.deepEqual([note.text.value, note.state.textContent], ["New and theirs", "Merged"]);
});

test("what is typed while a save is under way is not overwritten, and merges next time", async () => {
  const note = await noteOf();
  respond = () => {
    note.text.value = "New, and more";
    return json({ note: "n1", revision: 4, content: "New and theirs", html: "" })();
  };
  await note.save("New");
  assert.deepEqual([note.text.value, note.dataset.revision], ["New, and more", "3"]);
});

test("what is read is drawn anew only when it says something else", async () => {
  const note = await noteOf("Old");
  let drawn = 0;
  let html = "<p>New</p>";
  Object.defineProperty(note.read, "innerHTML", { get: () => html, set: (value) => ((drawn += 1), (html = value)) });
  respond = json({ note: "n1", revision: 4, content: "New", html: "<p>New</p>" });
  await note.save("New");
  assert.equal(drawn, 0);
  respond = json({ note: "n1", revision: 5, content: "Newer", html: "<p>Newer</p>" });
  await note.save("Newer");
  assert.deepEqual([drawn, html], [1, "<p>Newer</p>"]);
});

test("a refusal is told, and what was typed stays in the browser", async () => {
  respond = json({ error: "You may no longer write here." }, 403);
  const note = await noteOf();
  await note.save("New");
  assert.equal(note.state.textContent, "You may no longer write here.");
  assert.equal(JSON.parse(kept.get("note-n1")).content, "New");
});

test("a draft that could not be sent is taken up when the note is opened again", async () => {
  kept.set("note-n1", JSON.stringify({ title: "Title", content: "Draft", revision: "2" }));
  respond = json({ note: "n1", revision: 4, content: "Draft", html: "" });
  const note = await noteOf("Old");
  assert.equal(note.text.value, "Draft");
  await note.save();
  assert.equal(sent[0].revision, "2");
  assert.equal(kept.size, 0);
});
