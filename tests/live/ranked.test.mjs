// Lists of words as lines of a table.

import assert from "node:assert/strict";
import { test } from "node:test";

import { linesOf, rankedRows } from "../../app/live/ranked.js";

const layer = {
  vocabulary: ["cat", "dog", "owl"],
  names: ["topic 1", "topic 2"],
  words: [[[0, 1], [2, 0]], [[1, 0], [2, 1]]],
  values: [[[0.5, 0.2], [0.4, 0.1]], [[0.6, 0.3], [null, null]]],
};

test("every word of every list is a line, at the step that is shown", () => {
  assert.deepEqual(rankedRows(layer, 0)[0],
    { layer: "topic 1", name: "cat", item: 1, value: 0.5 });
  assert.deepEqual(rankedRows(layer, 1).map((row) => row.name), ["dog", "cat", "owl", "dog"]);
  assert.deepEqual(rankedRows(layer, 1).map((row) => row.value), [0.6, 0.3, null, null]);
});

test("lists that do not move are those of every step", () => {
  const still = { ...layer, words: [layer.words[0]], values: [layer.values[0]] };
  assert.deepEqual(rankedRows(still, 1), rankedRows(layer, 0));
});

test("a word keeps its line at another rank, and a new word takes a free one", () => {
  assert.deepEqual(linesOf([4, 7, 9], [9, 4, 5]), [2, 0, 1]);
  assert.deepEqual(linesOf([-1, -2], [3, 8]), [0, 1]);
});
