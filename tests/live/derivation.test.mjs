// Formulas from lists.

import assert from "node:assert/strict";
import { test } from "node:test";

import { isFormula } from "../../app/live/derivation.js";

test("a formula holds tags of MathML and texts, nothing else", () => {
  assert.ok(isFormula(["mrow", ["mi", "ε"], ["mo", "="], ["mfrac", ["mn", "1"], ["mi", "σ"]]]));
  assert.ok(!isFormula(["script", "alert(1)"]));
  assert.ok(!isFormula(["mrow", ["mi", "ε"], ["a", ["mi", "x"]]]));
});
