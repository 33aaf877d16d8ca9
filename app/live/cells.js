// @ts-check
// A table of texts on a card.

import { put, set, svg } from "./dom.js";
import { textsAt } from "./steps.js";

const [USUAL, SMALLEST] = [14, 11]; // px of a text, and of one beside a name
const STACKED = 0.45; // of a row's height, where a name stands above its numbers

/**
 * How a table fits: names beside their numbers or above them, and the size of a text.
 * @param {number} room for all columns
 * @param {number} name width of the longest name
 * @param {number} value width of a column at the usual size
 * @param {number} count of columns
 * @param {number} high of a row
 */
export function fitted(room, name, value, count, high) {
  /** @param {number} left */
  const within = (left) => Math.min(USUAL, (USUAL * (room - left)) / (value * count));
  const stacked = within(name) < SMALLEST;
  return stacked ? { left: 0, stacked, size: Math.min(within(0), STACKED * high) }
    : { left: name, stacked, size: within(name) };
}

/** @type {import("./types.js").LayerKind} */
export const cells = {
  build(card, layer, group) {
    /** @type {{ heads: string[], names: string[] }} */
    const { heads, names } = layer;
    /** @param {string} text @param {string} kind */
    const written = (text, kind) => group.appendChild(svg("text", { class: kind }, [text]));
    const above = heads.map((text) => written(text, "dpl-barname"));
    const beside = names.map((text) => written(text, "dpl-note"));
    const inside = names.flatMap(() => heads.map(() => written("", "dpl-cell")));
    const lines = names.map(() => group.appendChild(svg("line", { class: "dpl-rowline" })));
    /** @type {string[]} */
    const every = [...heads, ...layer.labels.flat()];
    const longest = every.reduce((one, other) => (other.length > one.length ? other : one));
    return (step) => {
      const { x0, x1, y0, y1 } = card.frame;
      const high = Math.min((y1 - y0) / (names.length + 1), 30);
      const value = (card.widest([longest]) * USUAL) / 13 + 14;
      const fit = fitted(x1 - x0, card.widest(names) + 8, value, heads.length, high);
      const left = x0 + fit.left;
      const wide = (x1 - left) / heads.length;
      for (const node of [...above, ...inside]) node.style.fontSize = `${fit.size}px`;
      for (const node of beside) node.style.fontSize = fit.stacked ? `${fit.size}px` : "";
      const foot = fit.stacked ? 3 : 8;
      const texts = textsAt(layer.labels, step);
      above.forEach((node, k) => put(node, left + wide * (k + 1), y0 + high - 8, "end"));
      const name = fit.stacked ? high / 2 + 2 : 8;
      beside.forEach((node, row) => put(node, x0, y0 + high * (row + 2) - name));
      inside.forEach((node, i) => {
        const [row, k] = [Math.floor(i / heads.length), i % heads.length];
        put(node, left + wide * (k + 1), y0 + high * (row + 2) - foot, "end").textContent = texts[i];
      });
      lines.forEach((node, row) => {
        const y = y0 + high * (row + 1);
        set(node, { x1: x0, x2: x1, y1: y, y2: y });
      });
    };
  },
  rows: ({ heads, names, labels }, step) => textsAt(labels, step).map((value, i) => ({
    layer: heads[i % heads.length], name: names[Math.floor(i / heads.length)], item: i + 1, value,
  })),
};
