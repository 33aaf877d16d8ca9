// @ts-check
// A decimal comma for a decimal point, in any language of the browser.

/**
 * What a key puts into a box of numbers: its text, "" for nothing, `null` where the browser knows.
 * @param {string} key as the browser names it
 * @param {string} value of the box
 * @param {boolean} opened whether the box is one of text for now, which takes letters too
 */
export function typed(key, value, opened) {
  if (key === ",") return value.includes(".") ? "" : ".";
  const isLetter = key.length === 1 && !/[0-9eE+.,-]/.test(key);
  return isLetter && opened ? "" : null;
}

/**
 * The number so far where a second mark shows that the first one parted thousands, with that one
 * left out and the point at its end: 1.234 and then a comma, or 1,234 and then a point; else `null`.
 * @param {string} key as the browser names it
 * @param {string} value of the box
 */
export function regrouped(key, value) {
  const isGrouped = (key === "," || key === ".") && /^[+-]?[1-9]\d{0,2}\.\d{3}$/.test(value);
  return isGrouped ? `${value.replace(".", "")}.` : null;
}

/**
 * What a pasted text puts into a box of numbers, likewise. One comma is a decimal comma; of 1,234.5
 * and 1.234,5 neither is taken.
 * @param {string} text
 */
export function pasted(text) {
  if (!text.includes(",")) return null;
  return /^[+-]?\d*,\d+([eE][+-]?\d+)?$/.test(text) ? text.replace(",", ".") : "";
}
