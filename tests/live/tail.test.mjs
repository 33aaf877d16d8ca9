// The tail of a density beyond a line.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inPowers } from "../../app/live/format.js";
import { keyPlaces, weighted } from "../../app/live/tail.js";

test("the tail begins with 0 at epsilon and weighs each loss", () => {
  const [losses, heights, whole] = weighted([0, 1, 2, null], [0.5, 0.5, 0.25, null], 1);
  assert.deepEqual(whole, [0.25, 0.25], "faint: all of the density beyond epsilon");
  assert.deepEqual(losses, [1, 2]);
  assert.equal(heights[0], 0);
  assert.ok(Math.abs(heights[1] - 0.25 * (1 - Math.exp(-1))) < 1e-12);
});

test("its area is delta: a normal loss of mean 1/2 and variance 1 beyond 1", () => {
  const losses = Array.from({ length: 4001 }, (_, i) => -6 + i * 0.003);
  const density = losses.map((x) => Math.exp(-0.5 * (x - 0.5) ** 2) / Math.sqrt(2 * Math.PI));
  const [xs, ys] = weighted(losses, density, 1);
  const area = ys.reduce((sum, y, i) => (i ? sum + (y + ys[i - 1]) * (xs[i] - xs[i - 1]) / 2 : 0), 0);
  assert.ok(Math.abs(area - 0.126937) < 1e-5, `${area}`);
});

test("arrows move the line by one place, page keys by ten, others not at all", () => {
  assert.deepEqual(["ArrowRight", "ArrowLeft", "PageUp", "a"].map(keyPlaces), [1, -1, 10, 0]);
});

test("small numbers are written with powers of ten", () => {
  assert.deepEqual([0.126937, 9.44e-6, 1e-5, 0, 12.3].map(inPowers),
    ["0.127", "9.44 × 10⁻⁶", "1 × 10⁻⁵", "0", "12.3"]);
});
