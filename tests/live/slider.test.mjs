// Where the slider's thumb is, which step is drawn, which cards stay.

import assert from "node:assert/strict";
import { test } from "node:test";

import { gone, groupOf, isDark } from "../../app/live/live.js";
import { positionOf, Slider, stepOf, typedAt } from "../../app/live/slider.js";

const scene = { positions: [0, 1, 3], labels: ["0.1", "1", "1.07", "10"], thumb: 1, step: 2 };

test("a slider that counts its positions is read by index", () => {
  assert.equal(positionOf({ now: 2, min: 0, max: 2, text: "nothing" }, scene), 2);
  assert.equal(positionOf({ now: 7, min: 5, max: 7, text: null }, scene), 2);
  assert.equal(positionOf({ now: 1.4, min: 0, max: 2, text: null }, scene), 1);
  assert.equal(positionOf({ now: 9, min: 0, max: 2, text: null }, scene), 2, "never past the end");
  assert.equal(positionOf({ now: -1, min: 0, max: 2, text: null }, scene), 0);
});

test("any other is read by its label", () => {
  assert.equal(positionOf({ now: 10, min: 0.1, max: 10, text: "10" }, scene), 2);
  assert.equal(positionOf({ now: 1.07, min: 0.1, max: 10, text: "1.07" }, scene), null);
  assert.equal(positionOf({ now: NaN, min: NaN, max: NaN, text: "1" }, scene), 1);
});

test("Python's step holds until the thumb moves", () => {
  assert.equal(stepOf(scene, null, null), 2, "there is no slider");
  assert.equal(stepOf(scene, 1, null), 2, "it stands where the scene put it");
  assert.equal(stepOf(scene, 0, 0), 2, "Python has just answered this position");
  assert.equal(stepOf(scene, 0, null), 0);
  assert.equal(stepOf(scene, 2, 0), 3, "a position is not a step");
});

test("a slider of frames has a scene of its own at each step", () => {
  globalThis.MutationObserver = class { disconnect() {} };
  globalThis.document = { querySelector: () => null };
  globalThis.CSS = { escape: (text) => text };
  const slider = new Slider(() => {}, () => {});
  const frames = [0, 1, 2].map((step) => ({ ...scene, id: `frame ${step}`, step }));
  slider.follow("st-key-n", { frames, step: 1 });
  assert.equal(slider.scene.id, "frame 1");
  assert.equal(slider.at(2).id, "frame 2");
  slider.follow("st-key-n", scene);
  assert.equal(slider.at(2), scene, "one scene has every step");
});

test("cards that a new scene lacks go, all others stay", () => {
  const panels = [{ id: "exact" }, { id: "curve" }];
  assert.deepEqual(gone(["exact", "private", "curve"], panels), ["private"]);
  assert.deepEqual(gone([], panels), []);
  assert.deepEqual(gone(["a"], []), ["a"]);
});

test("panels of one link share their zoom, all others have their own", () => {
  assert.equal(groupOf({ id: "exact", link: "map" }), groupOf({ id: "private", link: "map" }));
  assert.notEqual(groupOf({ id: "map", link: null }), groupOf({ id: "exact", link: "map" }));
});

test("the ground tells dark from light", () => {
  assert.deepEqual(["#000000", "#0e1117", "#ffffff", "#f0f2f6"].map(isDark), [true, true, false, false]);
});

test("a typed value that is no stop stands over the thumb until that moves", () => {
  assert.equal(typedAt(scene, 1), "1.07");
  assert.equal(typedAt(scene, 2), null);
  assert.equal(typedAt({ ...scene, step: 1 }, 1), null);
});
