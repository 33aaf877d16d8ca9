// 0,5 is a half, never 5; 1,000 is neither 1 nor 1000.

import assert from "node:assert/strict";
import { test } from "node:test";

import { doubt, marksAfter, notPasted, pasted, regrouped, typed } from "../../app/live/decimal_comma.js";

/** What stands in a box after some keys, where the browser itself enters digits, and any doubt. */
function entered(keys, whole = false) {
  let [value, marks, opened] = ["", "", false];
  for (const key of keys) {
    const grouped = regrouped(key, value, marks);
    const text = grouped ?? typed(key, value, opened);
    marks = marksAfter(key, value, marks);
    opened ||= text === ".";
    value = grouped ?? value + (text ?? key);
  }
  return [value, doubt(value, marks, whole)];
}

test("a typed comma is a point", () => {
  assert.deepEqual(["0,5", "1,5", "2,5e-1", "0.5", "0,125", "1.234", "1,2345"].map((keys) => entered(keys)),
    ["0.5", "1.5", "2.5e-1", "0.5", "0.125", "1.234", "1.2345"].map((value) => [value, ""]));
});

test("a second mark shows that the first one parted thousands", () => {
  assert.deepEqual(["1.234,5", "1,234.5", "-12.345,25"].map((keys) => entered(keys)),
    ["1234.5", "1234.5", "-12345.25"].map((value) => [value, ""]));
  assert.equal(regrouped(",", "1.234", "."), "1234.");
  for (const value of ["", "0.123", "1.23", "1.2345", "1234.567"])
    assert.equal(regrouped(",", value, "."), null, value);
  assert.equal(regrouped(",", "1.234", ","), null, "1,234, has but one kind of mark");
  assert.equal(regrouped("5", "1.234", "."), null);
});

test("what can be read in two ways is refused in one sentence", () => {
  assert.equal(entered("1,000")[1],
    "1,000 can be read in two ways; type 1000 for thousands, or 1 for a decimal.");
  assert.equal(entered("1,234", true)[1], "1,234 can be read in two ways; type 1234 for thousands.");
  for (const keys of ["1,2,3", "1.2,3", "1,234,567", "1.234.567", "1.000.000", "1,234.5,6", "1.2.3"])
    assert.match(entered(keys)[1], /^[^;.]+; [^;.]+\.$/, keys);
});

test("a box of whole numbers takes no fraction", () => {
  for (const keys of ["1,5", "2.5"]) assert.match(entered(keys, true)[1], /is not a whole number;/);
  assert.deepEqual(["12", "3.0"].map((keys) => entered(keys, true)[1]), ["", ""]);
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
  for (const text of ["1,234.5", "1.234,5", "1,2,3", "1.234.567", "0,5 m", ","]) {
    assert.equal(pasted(text), "");
    assert.ok(notPasted(text).startsWith(`${text} can be read in two ways; `));
  }
});
