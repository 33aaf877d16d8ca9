// @ts-check
// A decimal comma for a decimal point, in any language of the browser; what can be read in two
// ways is refused with a sentence.

const DOUBLE = "?"; // the marks of a number that has more of them than one decimal and one group
const TWO_WAYS = "can be read in two ways; type digits with at most one decimal point.";

/**
 * What a key puts into a box of numbers: its text, "" for nothing, `null` where the browser knows.
 * @param {string} key as the browser names it
 * @param {string} value of the box
 * @param {boolean} opened whether the box is one of text for now, which takes letters too
 */
export function typed(key, value, opened) {
  if (isMark(key) && value.includes(".")) return "";
  if (key === ",") return ".";
  const isLetter = key.length === 1 && !/[0-9eE+.,-]/.test(key);
  return isLetter && opened ? "" : null;
}

/**
 * The number so far where a second mark, other than the first, shows that the first one parted
 * thousands, with that one left out and the point at its end: 1.234 and then a comma, or 1,234 and
 * then a point; else `null`.
 * @param {string} key as the browser names it
 * @param {string} value of the box
 * @param {string} marks typed before
 */
export function regrouped(key, value, marks) {
  const isGrouped = isMark(key) && key !== marks && /^[+-]?[1-9]\d{0,2}\.\d{3}$/.test(value);
  return isGrouped ? `${value.replace(".", "")}.` : null;
}

/** @param {string} key */
const isMark = (key) => key === "," || key === ".";

/**
 * The marks typed into a box after one more key.
 * @param {string} key as the browser names it
 * @param {string} value of the box before it
 * @param {string} marks typed before: none, a comma, a point, both, or too many
 */
export function marksAfter(key, value, marks) {
  if (!value) return isMark(key) ? key : "";
  if (!isMark(key) || marks === DOUBLE) return marks;
  if (!value.includes(".")) return key;
  return regrouped(key, value, marks) === null ? DOUBLE : marks + key;
}

/**
 * Why a number is not taken as it was typed, as a sentence; "" where it is.
 * @param {string} value of the box, with a point where a comma was typed
 * @param {string} marks that were typed
 * @param {boolean} whole whether the box takes whole numbers alone
 */
export function doubt(value, marks, whole) {
  if (marks === DOUBLE) return `A number with several marks ${TWO_WAYS}`;
  if (marks === "," && /^[+-]?[1-9]\d{0,2}\.\d{3}$/.test(value)) {
    const [raw, plain] = [value.replace(".", ","), value.replace(".", "")];
    const otherwise = whole ? "." : `, or ${Number(value)} for a decimal.`;
    return `${raw} can be read in two ways; type ${plain} for thousands${otherwise}`;
  }
  const isFraction = whole && Number.isFinite(Number(value)) && Number(value) % 1 !== 0;
  return isFraction ? `${value} is not a whole number; type one without a decimal mark.` : "";
}

/**
 * What a pasted text puts into a box of numbers, likewise. One comma is a decimal comma; of 1,234.5,
 * 1.234,5 and 1.234.567 none is taken.
 * @param {string} text
 */
export function pasted(text) {
  if (!/,|\..*\./.test(text)) return null;
  return /^[+-]?\d*,\d+([eE][+-]?\d+)?$/.test(text) ? text.replace(",", ".") : "";
}

/**
 * Why a pasted text is not taken.
 * @param {string} text
 */
export const notPasted = (text) => `${text.slice(0, 30)} ${TWO_WAYS}`;
