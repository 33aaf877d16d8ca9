// Boxes of numbers take a decimal comma for a decimal point, in any language of the browser.
//
// Where its language has a point, a browser drops a comma without a word: 0,5 becomes 5, 1,5 becomes
// 15. A box that a comma is typed into becomes a box of text until it is left, and gets the point.

const OPENED = "decimals"; // marks a box of numbers that is one of text for now

const isOpened = (box) => box.dataset[OPENED] !== undefined;
const takesNumbers = (box) =>
  box instanceof HTMLInputElement &&
  (box.type === "number" || isOpened(box) || box.matches(".gdg-input"));

/** Put `text` at the cursor, or in place of everything, as if it were typed. */
function enter(box, text, everything) {
  if (box.type === "number") {
    box.dataset[OPENED] = "";
    box.type = "text";
    box.setSelectionRange(box.value.length, box.value.length);
  }
  if (everything) box.select();
  document.execCommand("insertText", false, text);
}

function keydown(event) {
  const box = event.target;
  if (!takesNumbers(box) || event.ctrlKey || event.metaKey || event.altKey) return;
  const isLetter = event.key.length === 1 && !/[0-9eE+.,-]/.test(event.key);
  if (event.key !== "," && !(isLetter && isOpened(box))) return;
  event.preventDefault();
  if (event.key === "," && !box.value.includes(".")) enter(box, ".", false);
}

function paste(event) {
  const box = event.target;
  const text = event.clipboardData.getData("text").trim();
  if (!takesNumbers(box) || !text.includes(",")) return;
  event.preventDefault();
  // One comma is a decimal comma; of 1,234.5 and 1.234,5 neither is taken.
  if (/^[+-]?\d*,\d+([eE][+-]?\d+)?$/.test(text)) enter(box, text.replace(",", "."), true);
}

function focusout(event) {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || !isOpened(box)) return;
  delete box.dataset[OPENED];
  box.type = "number";
}

if (!document.documentElement.dataset[OPENED]) {
  document.documentElement.dataset[OPENED] = "listened to";
  document.addEventListener("keydown", keydown, true);
  document.addEventListener("paste", paste, true);
  document.addEventListener("focusout", focusout);
}
