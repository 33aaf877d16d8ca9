// Where an address puts a slider, and what it hides.

import assert from "node:assert/strict";
import { test } from "node:test";

import { namedIn, openedAt, positionNear, uncovered } from "../../app/live/site.js";

const scene = {
  id: "a", steps: [0.1, 1, 1.07, 10], positions: [0, 1, 3], thumb: 1, step: 1,
  panels: [{ id: "exact" }, { id: "curve" }],
};
const pictures = [{ slider: "st-key-e", scene }, { slider: "st-key-d", scene }];
const words = { "st-key-e": "epsilon", "st-key-d": "delta" };
const named = (text) => namedIn(new URLSearchParams(text), pictures, words);

test("a value goes to the nearest position, by its ratio", () => {
  assert.equal(positionNear(scene, 0.1), 0);
  assert.equal(positionNear(scene, 3), 1, "3 is nearer to 1 than to 10, as a ratio");
  assert.equal(positionNear(scene, 3.3), 2, "and 3.3 is nearer to 10");
  assert.equal(positionNear(scene, 1e9), 2);
});

test("an address names one slider; what is odd leaves the page as it opens", () => {
  assert.deepEqual(named("epsilon=10"), { slider: "st-key-e", position: 2 });
  assert.deepEqual(named("delta=0.1&theme=dark"), { slider: "st-key-d", position: 0 });
  assert.deepEqual(named("delta=0.1&epsilon=1"), { slider: "st-key-e", position: 1 });
  for (const odd of ["", "epsilon=", "epsilon=x", "epsilon=-1", "epsilon=0", "epsilon=Infinity"]) {
    assert.equal(named(odd), null, odd);
  }
});

test("a scene opens where its thumb is put, at the step of that position", () => {
  const { step, thumb, steps } = openedAt(scene, 2);
  assert.deepEqual([step, thumb, steps[step]], [3, 2, 10]);
  assert.equal(scene.step, 1, "the stored one stays as it is");
  const typed = { ...scene, step: 2 };
  assert.equal(openedAt(typed, 1).step, 2, "a value between two positions holds until it moves");
});

test("hidden panels are left out, and the scene is another one", () => {
  const hides = { exact: "exact", curve: "curve" };
  const shown = uncovered(scene, ["curve"], hides);
  assert.deepEqual(shown.panels.map(({ id }) => id), ["exact"]);
  assert.notEqual(shown.id, scene.id);
  assert.equal(uncovered(scene, [], hides).id, scene.id);
});
