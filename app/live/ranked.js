// @ts-check
// Lists of words, the likeliest first, each word on a bar; what both fits list stands bold, and
// a word slides to its new rank.

import { note, put, set, setVisible, svg } from "./dom.js";
import { clamp, finite } from "./format.js";
import { BOLD, shortened } from "./labels.js";
import { slice, textsAt } from "./steps.js";

/** @import { Row } from "./types.js" */

const LIST_HEAD = 42; // px of a list's heading
const LIST_GAP = 14; // px between lists
const THINNEST = 6; // px of an outline that can be seen
const NARROWEST = 74; // px of a list, for most words
const INDENT = 5; // px of a word from the left end of its bar

/**
 * How many lists stand in a row: those of the layer, or those that fit.
 * @param {{ across: number }} layer
 * @param {number} room px
 */
export const listsAcross = ({ across }, room) =>
  clamp(Math.floor((room + LIST_GAP) / (NARROWEST + LIST_GAP)), 1, across);

/**
 * How many times the rows of the layer there are where fewer lists fit in one.
 * @param {{ across: number, names: string[] }} layer
 * @param {number} room px
 */
export const tallness = (layer, room) =>
  Math.ceil(layer.names.length / listsAcross(layer, room))
    / Math.ceil(layer.names.length / layer.across);

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

/**
 * The line of each word: that which it has, else one that is free.
 * @param {number[]} held the word that each line holds
 * @param {number[]} words
 * @returns {number[]}
 */
export function linesOf(held, words) {
  const free = held.flatMap((word, line) => (words.includes(word) ? [] : [line]));
  return words.map((word) => {
    const line = held.indexOf(word);
    return line >= 0 ? line : /** @type {number} */ (free.shift());
  });
}

/** @type {import("./types.js").LayerKind} */
export const ranked = {
  build(card, layer, group) {
    const { limits } = layer;
    /** @type {string[]} */
    const names = layer.names;
    const length = layer.words[0][0].length;
    const lists = names.map((name) => {
      const head = svg("text", { class: "dpl-barname" });
      const under = note();
      const lines = Array.from({ length }, () => {
        const outline = svg("rect", { class: "dpl-rank-exact", rx: 3 });
        const bar = svg("rect", { class: "dpl-rank", rx: 3 });
        const text = svg("text", { class: "dpl-word" });
        return { line: svg("g", { class: "dpl-wordline" }, [bar, outline, text]), bar, outline, text };
      });
      const list = svg("g", { "data-list": name }, [head, under, ...lines.map(({ line }) => line)]);
      group.append(list);
      return { name, head, under, lines, held: Array.from({ length }, (_, i) => -1 - i) };
    });
    return (step) => {
      const { x0, x1, y0, y1 } = card.frame;
      const across = listsAcross(/** @type {any} */ (layer), x1 - x0);
      const down = Math.ceil(names.length / across);
      const [wide, high] = [(x1 - x0 + LIST_GAP) / across, (y1 - y0) / down];
      const pitch = (high - LIST_HEAD - 8) / length;
      const [words, values, marked] = ["words", "values", "marked"]
        .map((field) => slice(layer[field], step, 2));
      const exact = layer.exact && slice(layer.exact, step, 2);
      const notes = textsAt(layer.notes, step);
      /** @param {string} text */
      const short = (text) =>
        shortened(text, (wide - LIST_GAP - INDENT) / BOLD, (part) => card.widest([part]));
      lists.forEach((list, k) => {
        const { name, head, under, lines, held } = list;
        const [left, above] = [x0 + (k % across) * wide, y0 + Math.floor(k / across) * high];
        put(head, left, above + 16).textContent = name;
        const cramped = card.widest([notes[k]]) > wide - LIST_GAP;
        put(under, left, above + 33).textContent = notes[k].replace(cramped ? / right$/ : "", "");
        /** @param {number} value */
        const long = (value) => Math.min(value / limits[k], 1) * (wide - LIST_GAP);
        const order = linesOf(held, words[k]);
        list.held = order.reduce((all, at, rank) => all.with(at, words[k][rank]), held);
        order.forEach((at, rank) => {
          const { line, bar, outline, text } = lines[at];
          const value = values[k][rank];
          line.classList.toggle("dpl-kept", held[at] === words[k][rank]);
          line.style.transform = `translate(${left}px, ${above + LIST_HEAD + pitch * rank}px)`;
          if (!setVisible(line, finite(value))) return;
          set(bar, { width: Math.max(long(value), 2), height: pitch - 2 });
          const edge = exact ? long(exact[k][rank]) : 0;
          if (setVisible(outline, edge > THINNEST)) set(outline, { width: edge, height: pitch - 2 });
          put(text, INDENT, pitch / 2 + 3).textContent = short(layer.vocabulary[words[k][rank]]);
          text.classList.toggle("dpl-shared", Boolean(marked[k][rank]));
          text.classList.toggle("dpl-struck", Boolean(exact && !marked[k][rank]));
        });
      });
    };
  },
  rows: rankedRows,
};
