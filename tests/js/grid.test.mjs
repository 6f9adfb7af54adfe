// What the cells of a review are sorted by, and what they show.
import assert from "node:assert/strict";
import { test } from "node:test";

import { compare, fits, sortable, textOf } from "../../static/js/reviews/grid.js";

const found = (value, text = "") => ({ state: "found", value, text });
const sorted = (cells) => cells.map(sortable).sort(compare);

test("numbers are sorted as numbers, and what is not found comes last", () => {
  const cells = [found({ number: 320 }), { state: "not_stated" }, found({ number: 9 }), found({ number: 14544 })];
  assert.deepEqual(sorted(cells), [9, 320, 14544, null]);
});

test("words are sorted as words", () => {
  assert.deepEqual(sorted([found("Gas"), undefined, found("diesel")]), ["diesel", "Gas", null]);
});

test("a cell without a value says its state, or why it failed", () => {
  const states = { not_stated: "Not stated", failed: "Failed" };
  assert.equal(textOf({ state: "not_stated", text: "" }, states), "Not stated");
  assert.equal(textOf({ state: "failed", text: "old", error: "No key." }, states), "No key.");
  assert.equal(textOf({ state: "stale", text: "old" }, states), "old");
});

test("a filter finds words in a value, and numbers above or below another", () => {
  const cell = { state: "found", text: "$14,544 million", value: { number: 14544000000 }, answered_by: "extractive" };
  assert.ok(fits(cell, { state: "", words: "14,544" }));
  assert.ok(fits(cell, { state: "found", words: " MILLION " }));
  assert.ok(fits(cell, { state: "unchecked", words: "> 1,000,000" }));
  assert.ok(!fits(cell, { state: "", words: "<14544000000" }));
  assert.ok(!fits({ ...cell, value: "words" }, { state: "", words: "> 1" }));
  assert.ok(!fits({ ...cell, mark: "accepted" }, { state: "unchecked", words: "" }));
  assert.ok(!fits(undefined, { state: "", words: "" }));
});
