// @ts-check
// Formulas as MathML, built from lists: nothing in a scene can become other markup.

import { make } from "./dom.js";

/** @import { Formula } from "./types.js" */

const MATH = "http://www.w3.org/1998/Math/MathML";
const TAGS = ["mrow", "mi", "mn", "mo", "mtext", "mfrac", "msqrt", "msup", "msub", "munder"];

/**
 * Whether a formula holds known tags only.
 * @param {Formula | string} formula
 * @returns {boolean}
 */
export const isFormula = (formula) => typeof formula === "string"
  || (TAGS.includes(/** @type {string} */ (formula[0])) && formula.slice(1).every(isFormula));

/**
 * The elements of a formula; symbols that a dial sets are linked to it.
 * @param {Formula | string} formula
 * @param {Record<string, string>} dials CSS class of each symbol's dial
 * @returns {Node}
 */
function elementOf(formula, dials) {
  if (typeof formula === "string") return document.createTextNode(formula);
  const [tag, ...parts] = formula;
  const node = document.createElementNS(MATH, /** @type {string} */ (tag));
  node.append(...parts.map((part) => elementOf(part, dials)));
  const dial = tag === "mi" && dials[/** @type {string} */ (parts[0])];
  if (dial) {
    node.setAttribute("class", "dpl-symbol");
    for (const [event, on] of /** @type {const} */ ([["pointerenter", true], ["pointerleave", false]])) {
      node.addEventListener(event, () =>
        document.querySelector(`.${CSS.escape(dial)}`)?.classList.toggle("dpl-pointed", on));
    }
  }
  return node;
}

/**
 * The lines of a derivation below their title.
 * @param {string} title
 * @param {Formula[]} lines
 * @param {Record<string, string>} dials
 */
export const derivation = (title, lines, dials) => [
  make("strong", {}, [title]),
  ...lines.filter(isFormula).map((line) => {
    const math = document.createElementNS(MATH, "math");
    math.setAttribute("display", "block");
    math.append(elementOf(line, dials));
    return math;
  }),
];
