// Bars, of which the longest fills the card or which stand on a log axis.

import assert from "node:assert/strict";
import { test } from "node:test";

import { barLengths, isNumberLabel } from "../../app/live/bars.js";

test("the longest bar fills the room; what is no number has none", () => {
  assert.deepEqual(barLengths([1, 2, null], 100), [50, 100, null]);
});

test("on a log axis a bar ends at its number, inside the room", () => {
  const axis = { label: "ε", log: true, range: /** @type {[number, number]} */ ([0.1, 1000]) };
  assert.deepEqual(barLengths([1, 10, 1e6, 0.01, null], 100, axis).map((v) => v && Math.round(v)),
    [25, 50, 100, 2, null]);
});

test("a number needs room beside its bar, a reason none", () => {
  assert.ok(["54%", "under 1%", "≥ 3.2"].every(isNumberLabel));
  assert.ok(!isNumberLabel("no theorem for 2 samples"));
});
