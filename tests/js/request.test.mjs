import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { openPage } from "./page.mjs";
import { refusal, request } from "../../static/js/ui/request.js";

beforeEach(() => openPage({ toasts: { offline: "There is no connection." } }));

const answer = (status, type, response, statusText = "Bad Request") =>
  ({ status, statusText, response, getResponseHeader: () => type });

test("a refusal is told in the server's own words where it has some", () => {
  assert.equal(refusal(answer(400, "application/json", '{"error": "Name taken."}')), "Name taken.");
  assert.equal(refusal(answer(413, "text/plain; charset=utf-8", "The file is too large.")), "The file is too large.");
});

test("a page of HTML or a long text is not shown as a reason", () => {
  assert.equal(refusal(answer(502, "text/html", "<h1>Bad gateway</h1>", "Bad Gateway")), "502 Bad Gateway");
  assert.equal(refusal(answer(500, "text/plain", "x".repeat(300), "Server Error")), "500 Server Error");
  assert.equal(refusal(answer(500, null, "", "Server Error")), "500 Server Error");
});

test("JSON without an error is told by its status, and no answer as a lost connection", () => {
  assert.equal(refusal(answer(404, "application/json", "{}", "Not Found")), "Not Found");
  assert.equal(refusal(answer(0, null, "")), "There is no connection.");
});

test("a request sends the CSRF token, and throws what the server said with its status", async () => {
  let sent;
  globalThis.fetch = async (url, options) => {
    sent = { url, ...options };
    return new Response('{"error": "Gone."}', { status: 410, headers: { "Content-Type": "application/json" } });
  };
  await assert.rejects(request("/x/", { method: "POST", body: "b" }), { message: "Gone.", status: 410 });
  const headers = { "X-CSRFToken": "token" };
  assert.deepEqual(sent, { url: "/x/", method: "POST", body: "b", headers, keepalive: undefined, signal: undefined });
});
