// What a layer is at one step of the slider.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as steps from "../../app/live/steps.js";

test("what moves has its own numbers at each step; what does not is as it is", () => {
  assert.deepEqual(steps.slice([[1, 2], [3, 4]], 1, 1), [3, 4]);
  assert.deepEqual(steps.slice([1, 2], 1, 1), [1, 2]);
  assert.deepEqual(steps.slice([[1, 2]], 1, 1), [1, 2], "one step stands for all");
  assert.equal(steps.slice([5, 6], 1, 0), 6);
  assert.deepEqual(steps.slice([[[[9]]], [[[8]]]], 1, 3), [[[8]]]);
  assert.deepEqual(steps.xyAt({ x: [1, 2], y: [[3, 4], [5, 6]] }, 1), [[1, 2], [5, 6]]);
});

test("a text is one for all steps or one for each", () => {
  assert.equal(steps.textAt("always", 3), "always");
  assert.equal(steps.textAt(["low", "high"], 1), "high");
  assert.equal(steps.textAt(undefined, 1), "");
  assert.deepEqual(steps.textsAt(["a", "b"], 1), ["a", "b"]);
  assert.deepEqual(steps.textsAt([["a", "b"], ["c", "d"]], 1), ["c", "d"]);
});

test("cells of a step are its own bytes", () => {
  const bytes = Uint8Array.from({ length: 12 }, (_, i) => i);
  assert.deepEqual([...steps.cellsAt({ bytes, shape: [2, 3, 2, 1] }, 1)], [6, 7, 8, 9, 10, 11]);
  assert.deepEqual([...steps.cellsAt({ bytes, shape: [1, 3, 2, 2] }, 1)], [...bytes]);
});

test("only layers that move are drawn anew", () => {
  const layers = [{ moves: true, k: 0 }, { moves: false, k: 1 }, { moves: true, k: 2 }];
  assert.deepEqual(steps.moving(layers).map(({ k }) => k), [0, 2]);
});
