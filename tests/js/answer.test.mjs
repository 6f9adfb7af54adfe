import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Element, openPage } from "./page.mjs";
import { followAnswer } from "../../static/js/chat/answer.js";

let source;

beforeEach(() => {
  openPage();
  source = null;
  globalThis.EventSource = class extends EventTarget {
    isOpen = true;

    constructor(url) {
      super();
      Object.assign(this, { url });
      source = this;
    }

    close() {
      this.isOpen = false;
    }

    send(kind, data) {
      this.dispatchEvent(Object.assign(new Event(kind), data ? { data: JSON.stringify(data) } : {}));
    }
  };
});

function answerOf(status, citations = []) {
  const line = new Element();
  const blocks = new Element();
  const links = [];
  const found = {
    "[data-blocks]": blocks,
    "[data-line]": line,
    "[data-citations]": { textContent: JSON.stringify(citations) },
    "a[data-citation]": links,
  };
  const element = new Element({ found, dataset: { status, stream: "/stream/" } });
  return { element, line, blocks, links, ...followAnswer(element) };
}

test("a complete answer keeps its citations and opens no stream", () => {
  const { citations } = answerOf("complete", [{ id: "a", verdict: "exact" }]);
  assert.equal(citations.get("a").verdict, "exact");
  assert.equal(source, null);
});

test("a streamed answer grows block by block, and a block that comes again replaces itself", () => {
  const { blocks } = answerOf("streaming");
  source.send("text", { block: 0, html: "<p>One" });
  source.send("text", { block: 0, html: "<p>One two</p>" });
  source.send("text", { block: 1, html: "<p>Three</p>" });
  assert.deepEqual(blocks.children.map(({ innerHTML }) => innerHTML), ["<p>One two</p>", "<p>Three</p>"]);
});

test("a verdict is shown at the links of its own citation", () => {
  const { citations, links } = answerOf("pending");
  links.push(...["a", "b", "a"].map((citation) => new Element({ dataset: { citation } })));
  source.send("verdict", { citation: { id: "a", verdict: "unsupported" } });
  assert.deepEqual(links.map(({ dataset }) => dataset.verdict), ["unsupported", undefined, "unsupported"]);
  assert.equal(citations.get("a").verdict, "unsupported");
});

test("a lost connection says nothing and stays open, an error of the server is told", () => {
  const { line } = answerOf("streaming");
  source.send("status", { text: "Searching…" });
  source.send("error");
  assert.equal(line.textContent, "Searching…");
  assert.equal(source.isOpen, true);
  source.send("error", { message: "The model did not answer." });
  assert.equal(line.textContent, "The model did not answer.");
});

test("the end closes the stream and tells the summary, or the error if there was one", () => {
  const end = { status: "complete", html: "<p>All</p>", citations: [{ id: "z" }], summary: { text: "1 of 1" } };
  const answer = answerOf("streaming");
  source.send("done", end);
  assert.equal(source.isOpen, false);
  assert.equal(answer.line.textContent, "1 of 1");
  assert.equal(answer.element.dataset.status, "complete");
  assert.ok(answer.citations.has("z"));
  const failed = answerOf("streaming");
  source.send("done", { ...end, status: "failed", error: "Out of time." });
  assert.equal(failed.line.textContent, "Out of time.");
});
