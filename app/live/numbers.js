// @ts-check
// Boxes of numbers take a decimal comma for a decimal point.
//
// Where its language has a point, a browser drops a comma without a word: 0,5 becomes 5 and 1,5
// becomes 15. A box that a comma is typed into becomes a box of text until it is left, and gets
// the point.

import { pasted, regrouped, typed } from "./decimal_comma.js";

const OPENED = "decimals"; // marks a box of numbers that is one of text for now

/** @param {HTMLInputElement} box */
const isOpened = (box) => box.dataset[OPENED] !== undefined;

/**
 * The box of numbers that an event is about, if it is about one.
 * @param {Event} event
 */
function boxOf({ target }) {
  if (!(target instanceof HTMLInputElement)) return null;
  const numbers = target.type === "number" || isOpened(target) || target.matches(".gdg-input");
  return numbers ? target : null;
}

/**
 * Put a text at the cursor, or in place of everything, as if it were typed.
 * @param {HTMLInputElement} box
 * @param {string} text
 * @param {boolean} everything
 */
function enter(box, text, everything) {
  if (box.type === "number") {
    box.dataset[OPENED] = "";
    box.type = "text";
    box.setSelectionRange(box.value.length, box.value.length);
  }
  if (everything) box.select();
  document.execCommand("insertText", false, text);
}

/** @param {KeyboardEvent} event */
function keydown(event) {
  const box = boxOf(event);
  if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
  const whole = regrouped(event.key, box.value);
  const text = whole ?? typed(event.key, box.value, isOpened(box));
  if (text !== null) event.preventDefault();
  if (text) enter(box, text, whole !== null);
}

/** @param {ClipboardEvent} event */
function paste(event) {
  const box = boxOf(event);
  const text = pasted(event.clipboardData?.getData("text").trim() ?? "");
  if (!box || text === null) return;
  event.preventDefault();
  if (text) enter(box, text, true);
}

/** @param {FocusEvent} event */
function focusout(event) {
  const box = boxOf(event);
  if (!box || !isOpened(box)) return;
  delete box.dataset[OPENED];
  box.type = "number";
}

if (!document.documentElement.dataset[OPENED]) {
  document.documentElement.dataset[OPENED] = "listened to";
  document.addEventListener("keydown", keydown, true);
  document.addEventListener("paste", paste, true);
  document.addEventListener("focusout", focusout);
}
