// @ts-check
// Boxes of numbers take a decimal comma for a decimal point.
//
// Where its language has a point, a browser drops a comma without a word: 0,5 becomes 5 and 1,5
// becomes 15. A box that a comma is typed into becomes a box of text until it is left, and gets
// the point. A number that can be read in two ways is refused when the box is left: it then holds
// what it held before, and a sentence below says why.

import { doubt, marksAfter, notPasted, pasted, regrouped, typed } from "./decimal_comma.js";

const OPENED = "decimals"; // marks a box of numbers that is one of text for now
const MARKS = "marks"; // those that were typed into a box
const BEFORE = "before"; // what stood in a box that was entered
const CELL = ".gdg-input"; // the editor of a table's cell
const said = document.createElement("p");
said.className = "dp-doubt";
said.role = "alert";

/** @param {HTMLInputElement} box */
const isOpened = (box) => box.dataset[OPENED] !== undefined;

/** @param {HTMLInputElement} box */
const isWhole = ({ step, min }) => [step, min].every((text) => /^-?\d+$/.test(text));

/**
 * The box of numbers that an event is about, if it is about one.
 * @param {Event} event
 */
function boxOf({ target }) {
  if (!(target instanceof HTMLInputElement)) return null;
  const numbers = target.type === "number" || isOpened(target) || target.matches(CELL);
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

/**
 * Say why a number is not taken, below its box; nothing takes the sentence away.
 * @param {HTMLInputElement} box
 * @param {string} why
 */
function say(box, why) {
  said.textContent = why;
  if (!why) return said.remove();
  const { left, bottom, width } = box.getBoundingClientRect();
  const room = Math.max(8, Math.min(left, innerWidth - 288));
  Object.assign(said.style, { left: `${room}px`, top: `${bottom + 6}px`, minWidth: `${Math.min(width, 280)}px` });
  (document.querySelector("[data-testid=stApp]") ?? document.body).append(said); // in its theme
}

/** @param {HTMLInputElement} box */
const why = (box) => doubt(box.value, box.dataset[MARKS] ?? "", isWhole(box));

/**
 * What stays in a box when a key is pressed: nothing where all of it is selected.
 * @param {HTMLInputElement} box
 */
const staying = ({ value }) => (document.getSelection()?.toString() === value ? "" : value);

/**
 * The marks typed into a box since it was entered; what stood in it then is kept.
 * @param {HTMLInputElement} box
 */
function marksOf({ dataset, value }) {
  if (dataset[MARKS] === undefined) dataset[BEFORE] = value;
  return dataset[MARKS] ?? (value.includes(".") ? "." : "");
}

/**
 * Let a box hold what it held before; a cell is closed as by the key for that.
 * @param {HTMLInputElement} box
 */
function restore(box) {
  const before = box.dataset[BEFORE] ?? "";
  delete box.dataset[MARKS];
  if (box.matches(CELL)) {
    box.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    return;
  }
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value") ?? {};
  set?.call(box, before);
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

/**
 * Refuse what stands in a box that is left, if it can be read in two ways.
 * @param {HTMLInputElement} box
 */
function isRefused(box) {
  const sentence = why(box);
  if (sentence) restore(box);
  if (sentence) say(box, sentence);
  delete box.dataset[MARKS];
  return Boolean(sentence);
}

/** @param {KeyboardEvent} event */
function keydown(event) {
  const box = boxOf(event);
  if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
  const { key } = event;
  if (key === "Enter" || key === "Tab" || /^Arrow(Up|Down)$/.test(key)) {
    if (isRefused(box) && key === "Enter") [event.preventDefault(), event.stopImmediatePropagation()];
    return;
  }
  const [value, marks] = [staying(box), marksOf(box)];
  const whole = regrouped(key, value, marks);
  const text = whole ?? typed(key, value, isOpened(box));
  box.dataset[MARKS] = marksAfter(key, value, marks);
  if (text !== null) event.preventDefault();
  if (text) enter(box, text, whole !== null || !value);
  else if (text === "") say(box, why(box));
}

/** @param {Event} event */
function input(event) {
  const box = boxOf(event);
  if (box) say(box, why(box));
}

/** @param {ClipboardEvent} event */
function paste(event) {
  const box = boxOf(event);
  const clipped = event.clipboardData?.getData("text").trim() ?? "";
  const text = pasted(clipped);
  if (!box) return;
  marksOf(box);
  box.dataset[MARKS] = text ? "," : ".";
  if (text === null) return;
  event.preventDefault();
  if (text) enter(box, text, true);
  else say(box, notPasted(clipped));
}

/** @param {FocusEvent} event */
function focusout(event) {
  const box = boxOf(event);
  if (!box) return;
  isRefused(box);
  if (!isOpened(box)) return;
  delete box.dataset[OPENED];
  box.type = "number";
}

if (!document.documentElement.dataset[OPENED]) {
  document.documentElement.dataset[OPENED] = "listened to";
  document.addEventListener("keydown", keydown, true);
  document.addEventListener("paste", paste, true);
  document.addEventListener("input", input);
  document.addEventListener("focusout", focusout, true);
  for (const name of ["pointerdown", "wheel"]) document.addEventListener(name, () => said.remove());
}
