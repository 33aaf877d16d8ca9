// Ticks, scales, zoom and pan, on linear and logarithmic axes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { titleAt } from "../../app/live/grid.js";

import * as axes from "../../app/live/axes.js";

const LINEAR = { label: "age", range: [0, 110] };
const LOG = { label: "ε", range: [0.1, 10], log: true };
const close = (got, wanted) => wanted.forEach((value, i) =>
  assert.ok(Math.abs(got[i] - value) < 1e-9 * Math.max(1, Math.abs(value)), `${got} is not ${wanted}`));

test("linear ticks are 1, 2 or 5 times a power of ten, inside the range", () => {
  assert.deepEqual(axes.ticksOf(LINEAR, [0, 110], 5), [0, 50, 100]);
  assert.deepEqual(axes.ticksOf(LINEAR, [0, 110], 6), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(axes.ticksOf(LINEAR, [-0.3, 0.3], 3), [-0.2, 0, 0.2]);
  assert.deepEqual(axes.ticksOf(LINEAR, [0.1, 0.3], 2), [0.1, 0.2, 0.3], "ends are inside");
  assert.deepEqual(axes.ticksOf(LINEAR, [5, 6], 0), [5, 6], "there is no room: one step at least");
});

test("no tick lies beside the range", () => {
  assert.deepEqual(axes.ticksOf(LINEAR, [1.05, 4.95], 4), [2, 3, 4]);
  assert.deepEqual(axes.ticksOf(LOG, [Math.log10(0.105), Math.log10(9.5)], 8), [0.3, 1, 3]);
});

test("log ticks are 1 and 3 times powers of ten, in data units", () => {
  assert.deepEqual(axes.ticksOf(LOG, [-1, 1], 8), [0.1, 0.3, 1, 3, 10]);
  assert.deepEqual(axes.ticksOf(LOG, [-5, -4], 8), [1e-5, 3e-5, 1e-4]);
});

test("on a short log axis there are fewer powers of ten, whose numbers do not touch", () => {
  assert.deepEqual(axes.ticksOf(LOG, [-1, 3], 2), [0.1, 1, 10, 100, 1000]);
  assert.deepEqual(axes.ticksOf(LOG, [-3, 2.6], 1.6), [0.01, 1, 100]);
  assert.deepEqual(axes.ticksOf(LOG, [-3, 2.6], 0), [0.01, 1, 100], "there is no room: three at most");
});

test("zoomed far in, a log axis has linear ticks above zero", () => {
  assert.deepEqual(axes.ticksOf(LOG, [Math.log10(0.4), Math.log10(0.6)], 2), [0.4, 0.5, 0.6]);
});

test("given ticks are used while two of them are visible", () => {
  const axis = { ...LINEAR, ticks: [0, 30, 60] };
  assert.deepEqual(axes.ticksOf(axis, [0, 110], 5), [0, 30, 60]);
  assert.deepEqual(axes.ticksOf(axis, [20, 70], 5), [30, 60]);
  assert.deepEqual(axes.ticksOf(axis, [20, 40], 2), [20, 30, 40]);
});

test("a scale runs from end to end, and what is no number is nowhere", () => {
  const py = axes.pixels(LINEAR, [0, 100], 300, 100);
  assert.deepEqual([0, 50, 100, 150].map(py), [300, 200, 100, 0]);
  const px = axes.pixels(LOG, axes.fullRange(LOG), 0, 200);
  close([0.1, 1, 10].map(px), [0, 100, 200]);
  for (const nothing of [null, NaN, Infinity]) assert.ok(Number.isNaN(px(nothing)));
  assert.ok(!Number.isFinite(px(0)), "there is no zero on a log axis");
});

test("a drag on a log axis gives the value under the hand", () => {
  const range = axes.fullRange(LOG);
  close([0, 0.25, 0.5, 1].map((share) => axes.valueAt(LOG, range, share)), [0.1, 10 ** -0.5, 1, 10]);
  close([axes.valueAt(LINEAR, [20, 40], 0.25)], [25]);
  const px = axes.pixels(LOG, range, 60, 460);
  for (const value of [0.1, 0.37, 2, 10]) {
    close([axes.valueAt(LOG, range, (px(value) - 60) / 400)], [value]);
  }
});

test("a zoom leaves the point under the pointer where it is", () => {
  const view = { x: [0, 100], y: [-1, 1] };
  const near = axes.zoomed(view, [0, 100], 0.5, 0.25, 1);
  assert.deepEqual(near, { x: [12.5, 62.5], y: [0, 1] });
  assert.equal(axes.valueAt(LINEAR, near.x, 0.25), axes.valueAt(LINEAR, view.x, 0.25));
});

test("a zoom ends at a ten-thousandth of the axis and at twenty times it", () => {
  const view = { x: [5, 6], y: [0, 1] };
  const after = (factor) => axes.zoomed(view, [5, 6], factor, 0.5, 0.5);
  assert.notEqual(after(19), null);
  assert.equal(after(21), null);
  assert.notEqual(after(2e-4), null);
  assert.equal(after(0.5e-4), null);
});

test("one turn of the wheel zooms little, however far it reports", () => {
  assert.equal(axes.wheelFactor(0), 1);
  assert.equal(axes.wheelFactor(9000), axes.wheelFactor(240));
  assert.ok(axes.wheelFactor(-100) < 1);
  close([axes.wheelFactor(100) * axes.wheelFactor(-100)], [1]);
});

test("what the hand holds stays under it", () => {
  const view = { x: [20, 120], y: [-5, 5] };
  const moved = axes.panned(view, 0.1, -0.2);
  assert.deepEqual(moved, { x: [10, 110], y: [-3, 7] });
  assert.equal(axes.valueAt(LINEAR, moved.x, 0.6), axes.valueAt(LINEAR, view.x, 0.5));
});

test("a title stays on the card: in the middle of its axis, moved, or smaller", () => {
  assert.deepEqual(titleAt(100, 150, 300), { middle: 150, style: "" });
  assert.deepEqual(titleAt(280, 170, 300), { middle: 158, style: "" });
  const { middle, style } = titleAt(392, 170, 300);
  assert.equal(style, "font-size: 9.75px");
  assert.ok(Math.abs(middle - 149) <= 2, "all of it fits");
  assert.equal(titleAt(130, 150, 300, 117).style.slice(0, 15), "font-size: 11.7", "no longer than its axis");
  assert.equal(titleAt(260, 150, 300, 60).style.slice(0, 15), "font-size: 11.0", "but never tiny");
});

test("a tick that has a name is called by it", () => {
  const named = { label: "column", range: [0.4, 2.6], ticks: [1, 2], names: ["age", "stay"] };
  assert.deepEqual([1, 2, 1.5].map((value) => axes.tickText(named, value)), ["age", "stay", ""]);
  assert.equal(axes.tickText(LINEAR, 0.5), "0.5");
});

test("a narrow axis has two numbers at least", () => {
  assert.deepEqual(axes.ticksOf({ label: "count", range: [25, 57] }, [25, 57], 2.6), [30, 40, 50]);
  assert.deepEqual(axes.ticksOf({ label: "perplexity", range: [155, 245] }, [155, 245], 1.6), [160, 180, 200, 220, 240]);
  assert.deepEqual(axes.ticksOf(LOG, [Math.log10(1.2), Math.log10(2.8)], 1), [1.5, 2, 2.5], "a short one in powers");
  assert.deepEqual(axes.ticksOf(LINEAR, [1, 1], 1), [], "no length at all");
});
