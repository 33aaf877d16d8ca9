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
 * What a pasted text puts into a box of numbers, likewise. One comma is a decimal comma; of 1,234.5
 * and 1.234,5 neither is taken.
 * @param {string} text
 */
export function pasted(text) {
  if (!text.includes(",")) return null;
  return /^[+-]?\d*,\d+([eE][+-]?\d+)?$/.test(text) ? text.replace(",", ".") : "";
}
