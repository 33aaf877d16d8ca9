// @ts-check
// Lists of words, the likeliest first, each word on a bar; what both fits list stands bold.

import { note, put, set, setVisible, svg } from "./dom.js";
import { finite } from "./format.js";
import { slice, textsAt } from "./steps.js";

/** @import { Row } from "./types.js" */

const LIST_HEAD = 42; // px of a list's heading
const LIST_GAP = 14; // px between lists

/**
 * Every word of every list as a line of a table.
 * @param {any} layer
 * @param {number} step
 * @returns {Row[]}
 */
export function rankedRows(layer, step) {
  const [words, values] = [slice(layer.words, step, 2), slice(layer.values, step, 2)];
  return layer.names.flatMap((/** @type {string} */ name, /** @type {number} */ k) =>
    words[k].map((/** @type {number} */ word, /** @type {number} */ rank) => ({
      layer: name, name: layer.vocabulary[word], item: rank + 1, value: values[k][rank],
    })));
}

/** @type {import("./types.js").LayerKind} */
export const ranked = {
  build(card, layer, group) {
    const { across, limit } = layer;
    /** @type {string[]} */
    const names = layer.names;
    const down = Math.ceil(names.length / across);
    const length = layer.words[0][0].length;
    const lists = names.map((name) => {
      const head = svg("text", { class: "dpl-barname" });
      const under = note();
      const lines = Array.from({ length }, () => ({
        bar: svg("rect", { class: "dpl-rank", rx: 3 }), text: svg("text", { class: "dpl-word" }),
      }));
      const list = svg("g", { "data-list": name }, [
        head, under, ...lines.flatMap(({ bar, text }) => [bar, text]),
      ]);
      group.append(list);
      return { name, head, under, lines };
    });
    return (step) => {
      const { x0, x1, y0, y1 } = card.frame;
      const [wide, high] = [(x1 - x0 + LIST_GAP) / across, (y1 - y0) / down];
      const pitch = (high - LIST_HEAD - 8) / length;
      const [words, values, marked] = ["words", "values", "marked"]
        .map((field) => slice(layer[field], step, 2));
      const notes = textsAt(layer.notes, step);
      lists.forEach(({ name, head, under, lines }, k) => {
        const [left, above] = [x0 + (k % across) * wide, y0 + Math.floor(k / across) * high];
        put(head, left, above + 16).textContent = name;
        put(under, left, above + 33).textContent = notes[k];
        lines.forEach(({ bar, text }, rank) => {
          const [value, y] = [values[k][rank], above + LIST_HEAD + pitch * rank];
          const there = setVisible(bar, finite(value));
          setVisible(text, there);
          if (!there) return;
          const share = Math.min(value / limit, 1);
          set(bar, { x: left, y, width: Math.max(share * (wide - LIST_GAP), 2), height: pitch - 2 });
          put(text, left + 5, y + pitch / 2 + 3).textContent = layer.vocabulary[words[k][rank]];
          text.classList.toggle("dpl-shared", Boolean(marked[k][rank]));
        });
      });
    };
  },
  rows: rankedRows,
};
