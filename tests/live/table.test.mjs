// The numbers of a card as lines of a table and a file.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as table from "../../app/live/table.js";

const curve = {
  kind: "curve", moves: true, title: "curve", depth: 1, label: ["low", "high"], name: "",
  table: { x: "x", y: "y", low: "lo", high: "hi" },
  x: [1, 2], y: [[3, 4], [5, null]], lo: null, hi: null,
};

const axes = { x: {}, y: {} };

test("a layer lists the fields that it names, at the current step", () => {
  assert.deepEqual(table.layerRows(curve, 1), [
    { layer: "curve", name: "high", item: 1, x: 1, y: 5 },
    { layer: "curve", name: "high", item: 2, x: 2, y: null },
  ]);
  const cursor = { ...curve, title: "current point", depth: 0, table: { x: "x" }, name: "c" };
  assert.deepEqual(table.layerRows(cursor, 1), [{ layer: "current point", name: "c", item: 1, x: 2 }]);
  assert.deepEqual(table.layerRows({ ...curve, table: {} }, 0), [], "a border is no reading");
});

test("a group is a line with its mean, covariance and weight", () => {
  const params = [[[[1, 2, 3, 4, 5, 6]], [[7, 8, 9, 1, 2, 3]]]];
  const layer = { kind: "ellipses", style: "ghost", params, names: ["group 1"] };
  const rows = table.panelRows({ ...axes, layers: [layer, { ...layer, style: "bold" }] }, 0);
  assert.deepEqual(rows.map((row) => [row.layer, row.item]), [
    ["other draws", 1], ["other draws", 2], ["groups", 1], ["groups", 2],
  ]);
  assert.deepEqual(rows[1], { layer: "other draws", name: "group 1", item: 2, x: 7, y: 8,
    cov_xx: 9, cov_xy: 1, cov_yy: 2, weight: 3 });
});

test("dates are read as dates, to the nearest day", () => {
  const layer = { ...curve, x: [18322.6, null] };
  const rows = table.panelRows({ ...axes, x: { days: true }, layers: [layer] }, 0);
  assert.deepEqual(rows.map(({ x, y }) => [x, y]), [["2020-03-02", 3], [null, 4]]);
});

test("what is pinned says so", () => {
  const rows = table.panelRows({ ...axes, layers: [curve, { ...curve, pinned: true }] }, 0);
  assert.deepEqual(rows.map((row) => row.layer), ["curve", "curve", "pinned view", "pinned view"]);
});

test("a table has the columns in which something stands", () => {
  assert.deepEqual(table.filledColumns(table.layerRows(curve, 1)), ["layer", "name", "item", "x", "y"]);
  assert.deepEqual(table.filledColumns([{ name: "", x: 0 }]), ["x"]);
});

test("a file has every column, and the step's value in each line", () => {
  const [head, first, second, end] = table.csvOf(table.layerRows(curve, 1), "ε", 0.5).split("\n");
  assert.equal(head, `"ε",${table.COLUMNS.join(",")}`);
  assert.equal(first, '0.5,"curve","high",1,1,5,,,,,,,,,');
  assert.equal(second.split(",").length, 1 + table.COLUMNS.length);
  assert.equal(end, "");
});
