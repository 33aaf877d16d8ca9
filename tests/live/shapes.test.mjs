// Paths, labels that make room for one another, images of cells, bars and the ring.

import assert from "node:assert/strict";
import { test } from "node:test";

import { heightOf } from "../../app/live/card.js";

import { barLengths, isNumberLabel } from "../../app/live/bars.js";
import { cellAt, cellRows, cellValue, fitting, tilesOf } from "../../app/live/heatmap.js";
import { besidePoints, boxOfMark, curveBoxes, firstFree, shortened, spread } from "../../app/live/labels.js";
import { nearest } from "../../app/live/readout.js";
import { factorAt, inSight, keyStep } from "../../app/live/ring.js";
import * as shapes from "../../app/live/shapes.js";

const identity = (value) => value ?? NaN;
const scales = { px: identity, py: identity };
const frame = { x0: 0, x1: 100, y0: 0, y1: 100, width: 100, height: 100 };

const points = (path) => path.match(/-?[\d.]+ -?[\d.]+/g).map((pair) => pair.split(" ").map(Number));

test("a line is broken where a number is missing", () => {
  assert.equal(shapes.linePath(scales, [0, 1, 2, 3], [0, 1, null, 3]), "M0.0 0.0L1.0 1.0M3.0 3.0");
  assert.equal(shapes.linePath(scales, [null], [1]), "");
});

test("a band goes out above, comes back below, and leaves gaps out", () => {
  const path = shapes.bandPath(scales, [0, 1, 2], [0, null, 2], [5, 6, 7]);
  assert.equal(path, "M0.0 5.0L2.0 7.0L2.0 2.0L0.0 0.0Z");
  assert.equal(shapes.bandPath(scales, [0], [null], [1]), "");
});

test("an ellipse lies at its level of standard deviations", () => {
  const [mx, my, xx, xy, yy] = [3, -2, 4, 1.5, 9];
  const det = xx * yy - xy * xy;
  const path = shapes.ellipsePath(scales, [mx, my, xx, xy, yy, 1], 2);
  assert.ok(path.endsWith("Z"));
  assert.equal(points(path).length, 48);
  for (const [x, y] of points(path)) {
    const [u, v] = [x - mx, y - my];
    const squared = (yy * u * u - 2 * xy * u * v + xx * v * v) / det;
    assert.ok(Math.abs(Math.sqrt(squared) - 2) < 0.05, `${squared}`);
  }
  const xs = points(path).map(([x]) => x);
  assert.deepEqual([Math.min(...xs), Math.max(...xs)], [-1, 7], "it goes all the way round");
});

test("an ellipse without area, or with rounding below zero, is still a path", () => {
  for (const gaussian of [[0, 0, 0, 0, 0, 1], [0, 0, -1e-9, 0, 1, 1], [0, 0, 1, 2, 1, 1]]) {
    assert.equal(points(shapes.ellipsePath(scales, gaussian, 1)).length, 48);
  }
});

test("an ellipse covers a card that it leaves on two opposite sides", () => {
  const card = { ...scales, py: (value) => 100 - value, frame };
  assert.ok(shapes.covers(card, [50, 50, 60 ** 2, 0, 1], 1));
  assert.ok(shapes.covers(card, [50, 50, 1, 0, 60 ** 2], 1));
  assert.ok(!shapes.covers(card, [0, 50, 60 ** 2, 0, 1], 1), "it leaves on one side");
  assert.ok(!shapes.covers(card, [50, 50, 1, 0, 1], 2));
});

test("labels are pushed apart, keep their order, and stay above the floor", () => {
  assert.deepEqual(spread([50, 10, 12], 100, 16), [50, 10, 26]);
  assert.deepEqual(spread([99, 98, 100], 100, 16), [84, 68, 100]);
  assert.deepEqual(spread([], 100, 16), []);
});

test("a label takes the first place where it covers nothing", () => {
  const taken = [[0, 40, 0, 20]];
  const places = [[10, 10, "start"], [90, 10, "start"], [90, 50, "end"], [50, 50, "middle"]];
  const { place, box } = firstFree(places, 30, frame, taken);
  assert.deepEqual(place, [90, 50, "end"], "the first is taken, the second reaches past the frame");
  assert.deepEqual(box, [60, 90, 39, 53]);
  assert.deepEqual(firstFree([[50, 50, "middle"]], 30, frame, []).box, [35, 65, 39, 53]);
  assert.equal(firstFree(places, 30, frame, [[0, 100, 0, 100]]), null);
  for (const clear of [[0, 100, 0, 20], [0, 100, 70, 90], [0, 30, 0, 100], [70, 90, 0, 100]]) {
    assert.notEqual(firstFree([[50, 50, "middle"]], 30, frame, [clear]), null, `${clear}`);
  }
  assert.equal(firstFree([[50, 5, "middle"]], 30, frame, []), null, "it would be cut above");
  assert.equal(firstFree([[50, 98, "middle"]], 30, frame, []), null, "it would be cut below");
});

test("names beside points cover neither a point nor a name, and stand where they used to if they can", () => {
  const row = [[20, 50], [32, 50], [44, 52], null, [50, 90]];
  const places = besidePoints(row, [24, 24, 24, 24, 24], frame);
  assert.deepEqual(places[3], null);
  const boxes = places.flatMap((place, k) => {
    if (!place) return [];
    const [x, y, anchor] = place;
    const left = x - 24 * { start: 0, middle: 0.5, end: 1 }[anchor];
    return [{ k, box: [left, left + 24, y - 11, y + 3] }];
  });
  assert.ok(boxes.length >= 3);
  const apart = ([a, b, c, d], [e, f, g, h]) => b < e || f < a || d < g || h < c;
  for (const { k, box } of boxes) {
    for (const other of boxes) assert.ok(k === other.k || apart(box, other.box), `${k} ${other.k}`);
    row.forEach((at) => at && assert.ok(apart(box, [at[0] - 5, at[0] + 5, at[1] - 5, at[1] + 5])));
  }
  assert.deepEqual(besidePoints([[10, 50], [60, 50]], [30, 30], frame), [[18, 45, "start"], [68, 45, "start"]]);
});

test("images lie beside one another, square cells, their key below", () => {
  const layer = { shape: [1, 4, 10, 10], rows: [], across: 2 };
  const { tiles, key } = tilesOf(layer, { ...frame, x1: 220, y1: 326 }, 0);
  assert.equal(tiles.length, 4);
  assert.ok(tiles.every(({ width, height }) => width === height && width === 100));
  assert.deepEqual(tiles.map(({ x, y }) => [x, y]), [[5, 6], [115, 6], [5, 156], [115, 156]]);
  assert.ok(tiles.every(({ y, height }) => y + height <= key.y));
});

test("a table's columns touch, right of its rows' names", () => {
  const layer = { shape: [1, 2, 5, 1], rows: ["a", "b", "c", "d", "e"], across: 2 };
  const { tiles: [one, two] } = tilesOf(layer, { ...frame, x1: 148 }, 40);
  assert.deepEqual([one.x, one.width, two.x], [48, 50, 98]);
  assert.equal(tilesOf(layer, { ...frame, x1: 20 }, 40).tiles[0].width, 0, "no room for columns");
});

test("a pointer finds its cell, and a byte its value", () => {
  assert.equal(cellAt([1, 2, 3, 4], 1, 0.99, 0.5), 12 + 4 + 3);
  assert.equal(cellAt([1, 2, 3, 4], 0, 0, 0), 0);
  assert.deepEqual([0, 1, 128, 255].map((byte) => cellValue(byte, 2)), [null, -2, 0, 2]);
  const layer = { bytes: Uint8Array.of(1, 128, 255, 0), shape: [1, 2, 2, 1], limit: 1,
    rows: ["up"], names: ["a", "b"] };
  assert.deepEqual(cellRows(layer, 0).map(({ name, value }) => [name, value]), [
    ["a: up", -1], ["a: row 2, column 1", 0], ["b: up", 1], ["b: row 2, column 1", null],
  ]);
  const own = { ...layer, bytes: Uint8Array.of(1, 255), shape: [2, 1, 1, 1], limit: [1, 4], names: ["a"] };
  assert.deepEqual([0, 1].map((step) => cellRows(own, step)[0].value), [-1, 4]);
});

test("the longest bar fills the room; what is no number has none", () => {
  assert.deepEqual(barLengths([2, 4, null, 0], 100), [50, 100, null, 2]);
  assert.deepEqual(barLengths([0, 0], 100), [2, 2]);
  assert.deepEqual(["3.5", "≤ 12", "no bound", "5 times"].map(isNumberLabel), [true, true, false, true]);
});

test("the nearest point of a curve is one that was computed", () => {
  const log = (value) => 100 * Math.log10(value);
  assert.equal(nearest([1, 10, 100], log, 49), 0);
  assert.equal(nearest([1, 10, 100], log, 51), 1);
  assert.equal(nearest([1, 10, 100], log, 1e6), 2);
});

test("a ring that no more than nicks the farthest corner is not drawn", () => {
  const frame = { x0: 60, x1: 460, y0: 10, y1: 210 };
  const ring = { x: 260, y: 110, rx: 100, ry: 100 }; // corners are at 2.236 times its radius
  assert.deepEqual([0.1, 1, 2, 2.15, 3].map((factor) => inSight(ring, frame, factor)), [true, true, true, false, false]);
  const aside = { x: 360, y: 60, rx: 100, ry: 100 }; // the lower left corner alone is far off
  assert.deepEqual([2, 3.1, 3.3].map((factor) => inSight(aside, frame, factor)), [true, true, false]);
  const near = { x: -99_740, y: 110, rx: 100_000, ry: 100_000 }; // far in, its side is all there is to see
  assert.equal(inSight(near, frame, 1), true);
});

test("the ring goes through the hand, and follows arrow keys alone", () => {
  const ring = { cx: 10, cy: 5, rx: 4, ry: 2 };
  assert.equal(factorAt(ring, [14, 5]), 1);
  assert.equal(factorAt(ring, [10, 1]), 2);
  assert.equal(factorAt(ring, [10, 5]), 0);
  assert.deepEqual(["ArrowUp", "ArrowRight"].map(keyStep), [0.05, 0.05]);
  assert.deepEqual(["ArrowDown", "ArrowLeft"].map(keyStep), [-0.05, -0.05]);
  assert.deepEqual(["Enter", "Home", "a"].map(keyStep), [0, 0, 0]);
});

test("on a low screen pictures are lower, as far as their content has room", () => {
  const heat = (/** @type {number} */ count) =>
    /** @type {any} */ ([{ kind: "heatmap", rows: Array.from({ length: count }, String) }]);
  assert.equal(heightOf({ height: 340, bare: true, layers: heat(5) }, 832), 272);
  assert.equal(heightOf({ height: 340, bare: true, layers: heat(12) }, 832), 290, "room for each name");
  assert.equal(heightOf({ height: 500, bare: true, layers: heat(40) }, 832), 500);
  assert.equal(heightOf({ height: 340, bare: true, layers: heat(0) }, 100), 260, "room for images");
  assert.equal(heightOf({ height: 200, bare: true, layers: heat(0) }, 100), 200);
  const bars = (/** @type {number} */ count) =>
    /** @type {any} */ ([{ kind: "bars", names: Array.from({ length: count }, String) }]);
  assert.equal(heightOf({ height: 470, bare: true, layers: bars(5) }, 832), 376, "as the axes beside them");
  assert.equal(heightOf({ height: 470, bare: true, layers: bars(7) }, 832), 398, "room for each name");
  assert.equal(heightOf({ height: 470, bare: true, layers: bars(11) }, 832), 470);
  assert.equal(heightOf({ height: 180, bare: true, layers: bars(2) }, 832), 178);
  assert.equal(heightOf({ height: 340, bare: false }, 1200), 340);
  assert.equal(heightOf({ height: 340, bare: false }, 832), 272);
  assert.equal(heightOf({ height: 250, bare: false }, 100), 190);
  assert.equal(heightOf({ height: 340, bare: true }, 100), 340);
});

test("a label finds the place that no curve crosses", () => {
  const boxes = curveBoxes(scales, [0, 40, null, 60, 100], [50, 50, 20, 90, 10]);
  assert.ok(boxes.every(([left, right]) => right - left <= 8));
  assert.deepEqual([boxes[0][0], boxes.at(-1)[1]], [0, 100]);
  assert.ok(!boxes.some(([left, right]) => left < 60 && right > 40), "a gap takes no room");
  const places = [[5, 52, "start"], [5, 80, "start"]];
  assert.deepEqual(firstFree(places, 20, frame, boxes).place, places[1]);
});

test("a label makes room for an upright mark, and a word too long for its column ends early", () => {
  const mark = boxOfMark(40, 0, 100);
  assert.deepEqual(firstFree([[20, 50, "start"], [60, 50, "start"]], 30, frame, [mark])?.place,
    [60, 50, "start"]);
  const letters = (text) => text.length;
  assert.equal(shortened("parameter", 9, letters), "parameter");
  assert.equal(shortened("parameter", 6, letters), "param…");
});

test("notes below narrow columns are shortened, and where even that is too much, numbers", () => {
  const notes = ["2 · 97% aligned", "1 · off by 0.04", "5 · not seen"];
  const card = { widest: (texts) => Math.max(...texts.map((text) => text.length)) };
  assert.deepEqual(fitting(notes, card, 12), notes);
  assert.deepEqual(fitting(notes, card, 11), ["2 · 97%", "1 · Δ 0.04", "5 · not seen"]);
  assert.deepEqual(fitting(notes, card, 3), ["2", "1", "5"]);
});
