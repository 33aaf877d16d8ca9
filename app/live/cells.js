// @ts-check
// A table of texts on a card.

import { put, set, svg } from "./dom.js";
import { textsAt } from "./steps.js";

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
    return (step) => {
      const { x0, x1, y0, y1 } = card.frame;
      const left = x0 + Math.min(card.widest(names), 0.42 * (x1 - x0)) + 12;
      const [wide, high] = [(x1 - left) / heads.length, Math.min((y1 - y0) / (names.length + 1), 30)];
      const texts = textsAt(layer.labels, step);
      above.forEach((node, k) => put(node, left + wide * (k + 1), y0 + high - 8, "end"));
      beside.forEach((node, row) => put(node, x0, y0 + high * (row + 2) - 8));
      inside.forEach((node, i) => {
        const [row, k] = [Math.floor(i / heads.length), i % heads.length];
        put(node, left + wide * (k + 1), y0 + high * (row + 2) - 8, "end").textContent = texts[i];
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
