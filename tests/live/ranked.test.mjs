// Lists of words as lines of a table.

import assert from "node:assert/strict";
import { test } from "node:test";

import { linesOf, listsAcross, rankedRows, tallness } from "../../app/live/ranked.js";

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

test("where five lists do not fit in a row, there are more rows", () => {
  const five = { across: 5, names: ["1", "2", "3", "4", "5"] };
  assert.deepEqual([564, 438, 286, 40].map((room) => listsAcross(five, room)), [5, 5, 3, 1]);
  assert.deepEqual([564, 286, 40].map((room) => tallness(five, room)), [1, 2, 5]);
  assert.equal(tallness({ across: 5, names: [..."abcdefghij"] }, 286), 2, "four rows for two");
});
