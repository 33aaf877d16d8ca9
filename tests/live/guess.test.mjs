// A hand draws a curve; the true one is laid over it, and a sentence says how far off it was.

import assert from "node:assert/strict";
import { test } from "node:test";

import { completed, errorOf, markNear, stroked } from "../../app/live/guess.js";
import { verdict, withHand } from "../../app/live/path.js";

const empty = [null, null, null, null, null];

test("a stroke is straight between two places and leaves the others alone", () => {
  assert.deepEqual(stroked(empty, [1, 2], [3, 6]), [null, 2, 4, 6, null]);
  assert.deepEqual(stroked(empty, [3, 6], [1, 2]), [null, 2, 4, 6, null], "backwards too");
  assert.deepEqual(stroked([1, 1, 1, 1, 1], [2, 5], [2, 5]), [1, 1, 5, 1, 1]);
});

test("what no hand has drawn is as high as the nearest place that one has", () => {
  assert.deepEqual(completed([null, 2, null, 4, null]), [2, 2, 2, 4, 4]);
});

test("the error is a share of the axis, in its own scale", () => {
  const linear = { label: "y", range: [0, 10] };
  const off = errorOf(linear, [1, 2, 3], [1, 4, 3]);
  assert.ok(Math.abs(off.share - 0.2 / 3) < 1e-12);
  assert.deepEqual([off.worst, off.high], [1, false]);
  const log = errorOf({ label: "y", range: [1, 100], log: true }, [10, 100], [10, 10]);
  assert.deepEqual([log.share, log.worst, log.high], [0.25, 1, true]);
  const beyond = errorOf(linear, [10], [50]);
  assert.equal(beyond.share, 0, "nobody can draw beyond the frame");
});

const screen = {
  x: [1, 2], truth: [10, 20], unit: "%", right: "Right.", high: "Too high.", low: "Too low.",
  handle: { panel: "left", x: [0], y: [0] },
  scene: { id: "s", panels: [
    { id: "left", layers: [] },
    { id: "guess", layers: [{ kind: "curve" }], x: { label: "ε (a unit)" }, y: { label: "y", range: [0, 100] } },
  ] },
};

test("a mark goes with the hand across, also on a steep curve, and upright on an upright line", () => {
  assert.equal(markNear([0, 10, 20], [0, 200, 0], 11, 20), 1);
  assert.equal(markNear([5, 5, 5], [0, 10, 20], 40, 19), 2);
});

test("the sentence is about the reader's own curve", () => {
  assert.equal(verdict(screen, [11, 19]), "Right.");
  assert.equal(verdict(screen, [11, 60]),
    "**You drew 60% where the truth is 20%** (ε = 2). Too high.");
  assert.equal(verdict(screen, [0, 0]),
    "**You drew 0% where the truth is 20%** (ε = 2). Too low.");
});

test("the hand's layers are added to their panels, and the stored scene stays as it was", () => {
  const scene = withHand(screen, { kind: "guess", shown: true }, () => {});
  assert.deepEqual(scene.panels.map(({ layers }) => layers.map(({ kind }) => kind)),
    [["handle"], ["curve", "guess"]]);
  assert.deepEqual(screen.scene.panels.map(({ layers }) => layers.length), [0, 1]);
  assert.notEqual(scene.id, withHand(screen, { shown: false }, () => {}).id, "it is drawn anew");
});
