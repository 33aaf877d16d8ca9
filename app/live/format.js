// @ts-check
// Numbers, colours and texts as people and files read them.

export const finite = Number.isFinite; // false for what is no number

/** @param {number} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/**
 * A number for people: at most `digits` significant digits, no exponent in the usual range.
 * @param {number | null | undefined} value
 */
export function formatNumber(value, digits = 4) {
  if (value == null || !finite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(2);
  return Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumFractionDigits: 8 });
}

/**
 * The nearest date where numbers are days since 1970-01-01; everything else as it is.
 * @template T
 * @param {T} value
 * @param {boolean} [days]
 */
export const dated = (value, days) => (days && typeof value === "number"
  ? new Date(864e5 * Math.round(value)).toISOString().slice(0, 10) : value);

/** A power of ten in print. @param {number} power */
const tenTo = (power) =>
  `10${[...String(power)].map((digit) => (digit === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)])).join("")}`;

/**
 * A number of three figures, very small and large ones with a power of ten.
 * @param {number} value
 */
export function inPowers(value) {
  const text = formatNumber(value, 3);
  if (!/e|0\.000/.test(text)) return text;
  const [figures, power] = value.toExponential(2).split("e");
  return `${Number(figures)} × ${tenTo(Number(power))}`;
}

/**
 * A number beside an axis: the minus sign of print, very small and large ones with a power of ten.
 * @param {number} value
 */
export function tickLabel(value) {
  const text = formatNumber(value, 6);
  const power = inPowers(value).replace(" × ", "·").replace(/^1·/, "");
  return (/e|^0.0001$/.test(text) ? power : text).replace("-", "−");
}

const RUN = /^["\p{C}\p{M}\p{Z}]*[=+\-@\u2212\p{Pd}]/u; // by a spreadsheet, as in releases/sheet.py

/**
 * A cell of a CSV file; text that a spreadsheet would run as a formula is led by an apostrophe.
 * @param {string | number | null | undefined} value
 */
export function csvCell(value) {
  if (value == null) return "";
  if (typeof value === "number") return String(value);
  const line = value.replace(/[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+/g, " ").split(/(?<=[;|\t])/)
    .map((part) => (RUN.test(part.normalize("NFKD")) ? `'${part}` : part)).join("");
  const led = /^([\p{C}\p{M}\p{Z}]|\s*sep=)/iu.test(line) ? `'${line}` : line;
  return `"${led.replaceAll('"', '""')}"`;
}

/**
 * Red, green and blue, 0 to 255, of `#rrggbb`.
 * @param {string} hex
 */
export const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

/**
 * Mixed colours in the notation that every reader of SVG files knows.
 * @param {string} css
 */
export const plainColour = (css) =>
  css.replace(/color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)\)/g, (_, ...shares) =>
    `rgb(${shares.slice(0, 3).map((share) => Math.round(255 * share)).join(", ")})`);

/**
 * CSS variable of a palette index.
 * @param {number | null} [index]
 */
export const colour = (index) => (index == null ? "var(--dpl-muted)" : `var(--dpl-c${index})`);

/**
 * Colour of a layer; all that is pinned has one.
 * @param {{ colour?: number | null, pinned?: boolean }} layer
 */
export const inkOf = (layer) => (layer.pinned ? "var(--dpl-pin)" : colour(layer.colour));
