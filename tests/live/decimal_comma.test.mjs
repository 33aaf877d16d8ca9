// 0,5 is a half, never 5.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pasted, regrouped, typed } from "../../app/live/decimal_comma.js";

/** What stands in a box after some keys, where the browser itself enters digits. */
function written(keys) {
  let [value, opened] = ["", false];
  for (const key of keys) {
    const text = typed(key, value, opened);
    opened ||= text === ".";
    value += text ?? key;
  }
  return value;
}

test("a typed comma is a point, once", () => {
  assert.deepEqual(["0,5", "1,5", "2,5e-1", "1,2,3", "0.5", "1.2,3"].map(written),
    ["0.5", "1.5", "2.5e-1", "1.23", "0.5", "1.23"]);
});

test("a second mark shows that the first one parted thousands", () => {
  assert.equal(regrouped(",", "1.234"), "1234.");
  assert.equal(regrouped(".", "-12.345"), "-12345.");
  for (const value of ["", "0.123", "1.23", "1.2345", "1234.567"])
    assert.equal(regrouped(",", value), null, value);
  assert.equal(regrouped("5", "1.234"), null);
});

test("a box that was opened for a comma takes no letters but those of numbers", () => {
  assert.equal(typed("x", "0.5", true), "");
  assert.equal(typed("e", "0.5", true), null);
  assert.equal(typed("x", "0.5", false), null, "the browser knows");
  assert.equal(typed("Enter", "0.5", true), null);
  assert.equal(typed("7", "0.5", true), null);
});

test("of a pasted text one comma is a decimal comma, more are a doubt", () => {
  assert.equal(pasted("0,5"), "0.5");
  assert.equal(pasted("-1,25e-3"), "-1.25e-3");
  assert.equal(pasted(",5"), ".5");
  assert.equal(pasted("0.5"), null);
  for (const doubt of ["1,234.5", "1.234,5", "1,2,3", "0,5 m", ","]) assert.equal(pasted(doubt), "");
});
