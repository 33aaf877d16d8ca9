// Numbers, colours and cells of files.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as format from "../../app/live/format.js";

test("a number keeps its significant digits and has no exponent in the usual range", () => {
  assert.equal(format.formatNumber(1234.5678), "1,235");
  assert.equal(format.formatNumber(0.000123456), "0.0001235");
  assert.equal(format.formatNumber(-2.5, 3), "-2.5");
  assert.equal(format.formatNumber(0), "0");
  assert.equal(format.formatNumber(9_999_999, 7), "9,999,999");
});

test("very large and very small numbers have an exponent", () => {
  assert.equal(format.formatNumber(12_345_678), "1.23e+7");
  assert.equal(format.formatNumber(1e7), "1.00e+7");
  assert.equal(format.formatNumber(-0.000012345), "-1.23e-5");
  assert.equal(format.formatNumber(1e-4), "0.0001");
});

test("what is no number is a dash", () => {
  for (const nothing of [null, undefined, NaN, Infinity]) {
    assert.equal(format.formatNumber(nothing), "–");
  }
});

test("ticks have the minus sign of print, and small powers of ten their exponent", () => {
  assert.equal(format.tickLabel(-0.25), "−0.25");
  assert.equal(format.tickLabel(1e-5), "10⁻⁵");
  assert.equal(format.tickLabel(1e-12), "10⁻¹²");
  assert.equal(format.tickLabel(3e-5), "3·10⁻⁵");
  assert.equal(format.tickLabel(1e7), "10⁷");
  assert.equal(format.tickLabel(-25_000_000), "−2.5·10⁷");
  assert.equal(format.tickLabel(Infinity), "–");
  assert.equal(format.tickLabel(1.05e-5), "1.05·10⁻⁵");
  assert.equal(format.tickLabel(0.001), "0.001");
  assert.equal(format.tickLabel(0), "0");
  assert.equal(format.tickLabel(100_000), "100,000");
  assert.equal(format.tickLabel(-2.5e-8), "−2.5·10⁻⁸");
});

test("clamp keeps a value between its limits", () => {
  assert.deepEqual([-3, 0.5, 7].map((value) => format.clamp(value, 0, 1)), [0, 0.5, 1]);
});

test("no cell of a file is run as a formula", () => {
  for (const text of ["=1+1", "+1", "-1", "@a", " =1", "＝1", "\u2212a", "\u200b@a", "sep=;"]) {
    assert.equal(format.csvCell(text), `"'${text}"`);
  }
  assert.equal(format.csvCell("\t=1"), "\"'\t'=1\"");
  assert.equal(format.csvCell("x;=1|@a\n-"), "\"x;'=1|'@a -\"");
  assert.equal(format.csvCell("😀 a-b"), '"😀 a-b"');
  assert.equal(format.csvCell('say "a, b"'), '"say ""a, b"""');
  assert.equal(format.csvCell(-1.5), "-1.5");
  assert.equal(format.csvCell(null), "");
  assert.equal(format.csvCell(undefined), "");
});

test("colours are read and written as numbers from 0 to 255", () => {
  assert.deepEqual(format.rgb("#0072b2"), [0, 114, 178]);
  assert.equal(format.plainColour("color(srgb 0 0.5 1)"), "rgb(0, 128, 255)");
  assert.equal(format.plainColour("rgb(1, 2, 3)"), "rgb(1, 2, 3)");
  assert.equal(format.colour(7), "var(--dpl-c7)");
  assert.equal(format.colour(null), "var(--dpl-muted)");
  assert.equal(format.colour(0), "var(--dpl-c0)");
});
