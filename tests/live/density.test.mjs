// Densities, marginals and numbers of Gaussian groups.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fitted } from "../../app/live/cells.js";
import { densityOf } from "../../app/live/density.js";
import { marginalRows, mixedAt, rowsOf } from "../../app/live/marginals.js";

/** @param {number} one @param {number} other */
const near = (one, other) => assert.ok(Math.abs(one - other) < 1e-9, `${one} is not ${other}`);

test("a density is the normal one, tilted or not", () => {
  near(densityOf([[0, 0, 1, 0, 1, 1]])(0, 0), 1 / (2 * Math.PI));
  near(densityOf([[1, 2, 4, 0, 9, 0.5]])(3, 2), (0.5 / (12 * Math.PI)) * Math.exp(-0.5));
  const at = densityOf([[0, 0, 2, 1, 2, 1]]); // the inverse: 2/3, -1/3, 2/3
  near(at(1, 1), Math.exp(-1 / 3) / (2 * Math.PI * Math.sqrt(3)));
  near(at(1, -1), Math.exp(-1) / (2 * Math.PI * Math.sqrt(3)));
});

test("a marginal is the weighted sum of its groups", () => {
  near(mixedAt([1], [0], [1], 0), 1 / Math.sqrt(2 * Math.PI));
  near(mixedAt([0.25, 0.75], [0, 10], [1, 2], 10), 0.375 / Math.sqrt(2 * Math.PI));
});

test("columns share the height, each with room for its axis", () => {
  const rows = rowsOf({ x0: 0, x1: 100, y0: 0, y1: 100, width: 100, height: 100 }, 2);
  assert.deepEqual(rows, [{ foot: 32, tall: 28 }, { foot: 82, tall: 28 }]);
});

test("every group of every column is a line of the table, of the bold draw", () => {
  const layer = {
    names: ["age", "visits"], style: "bold", days: [false, false],
    weights: [[[0.4, 0.6], [0.5, 0.5]]], means: [[[[1, 2], [3, 4]], [[9, 9], [9, 9]]]],
    sds: [[[[5, 6], [7, 8]], [[9, 9], [9, 9]]]],
  };
  const rows = marginalRows(layer, 0);
  assert.deepEqual(rows.map(({ x, half_x, weight }) => [x, half_x, weight]),
    [[1, 5, 0.4], [3, 7, 0.6], [2, 6, 0.4], [4, 8, 0.6]]);
  const [first, , date] = marginalRows({ ...layer, days: [false, true] }, 0);
  assert.deepEqual([first.x, date.x, date.half_x], [1, "1970-01-03", 6]);
});

test("names stand above their numbers where a card is narrow, and no number covers another", () => {
  assert.deepEqual(fitted(560, 180, 110, 3, 30), { left: 180, stacked: false, size: 14 });
  const narrow = fitted(300, 180, 110, 3, 24);
  assert.equal(narrow.stacked, true);
  assert.ok(narrow.size <= 0.45 * 24 && (110 * narrow.size) / 14 <= 100);
  assert.ok((110 * 10 * fitted(560, 180, 110, 10, 30).size) / 14 <= 560);
});
