// @ts-check
// Columns one below another: the density of Gaussian groups over a histogram of each; of one column
// on the card's own axes.

import { pixels, ticksOf } from "./axes.js";
import { note, put, set, svg } from "./dom.js";
import { clamp, dated, finite, tickLabel } from "./format.js";
import { slice } from "./steps.js";

/** @import { Frame, Row } from "./types.js" */

const SAMPLES = 97; // points of a curve
const FOOT = 18; // px below a row for its axis

/**
 * The density of groups at a value.
 * @param {number[]} weights
 * @param {number[]} means
 * @param {number[]} sds
 * @param {number} x
 */
export const mixedAt = (weights, means, sds, x) => weights.reduce((total, weight, k) =>
  total + (weight / sds[k]) * Math.exp(-(((x - means[k]) / sds[k]) ** 2) / 2), 0)
    / Math.sqrt(2 * Math.PI);

/**
 * Where the axis of each column lies: its height, and what its curves may fill above it.
 * @param {Frame} frame
 * @param {number} count
 */
export const rowsOf = ({ y0, y1 }, count) => Array.from({ length: count }, (_, i) => {
  const high = (y1 - y0) / count;
  return { foot: y0 + high * (i + 1) - FOOT, tall: high - FOOT - 4 };
});

/**
 * Every group in every column as a line of a table.
 * @param {any} layer
 * @param {number} step
 * @returns {Row[]}
 */
export function marginalRows(layer, step) {
  const [weights, means, sds] = groupsAt(layer, step);
  return layer.names.flatMap((/** @type {string} */ name, /** @type {number} */ column) =>
    weights[0].map((/** @type {number} */ weight, /** @type {number} */ k) => ({
      layer: layer.style === "outline" ? "exact groups" : "groups", name: `${name}, mean and sd`,
      item: k + 1, x: dated(means[0][k][column], layer.days[column]),
      half_x: sds[0][k][column], weight,
    })));
}

/** @param {any} layer @param {number} step */
const groupsAt = (layer, step) =>
  [slice(layer.weights, step, 2), slice(layer.means, step, 3), slice(layer.sds, step, 3)];

/** @type {import("./types.js").LayerKind} */
export const marginals = {
  build(card, layer, group) {
    if (layer.style === "outline" || layer.on_axes) return () => {};
    /** @type {string[]} */
    const names = layer.names;
    const parts = names.map((name, i) => {
      const axis = { label: "", range: layer.ranges[i] };
      const ticks = ticksOf(axis, axis.range, 12);
      const ends = [ticks[0], ticks[ticks.length - 1]].map((end) =>
        ({ end, text: note(layer.days[i] ? `${dated(end, true)}` : tickLabel(end)) }));
      const [line, title] = [svg("path", { class: "dpl-rule", fill: "none" }), note(name)];
      group.append(line, title, ...ends.map(({ text }) => text));
      return { axis, ends, line, title };
    });
    return () => {
      const { x0, x1 } = card.frame;
      rowsOf(card.frame, names.length).forEach(({ foot }, i) => {
        const { axis, ends, line, title } = parts[i];
        const place = pixels(axis, axis.range, x0, x1);
        set(line, { d: `M${x0} ${foot}H${x1}${ends.map(({ end }) => `M${place(end)} ${foot}v4`).join("")}` });
        put(title, (x0 + x1) / 2, foot + 14, "middle");
        for (const { end, text } of ends) {
          const half = card.widest([text.textContent ?? ""]) / 2;
          put(text, clamp(place(end), x0 + half, x1 - half), foot + 14, "middle");
        }
      });
    };
  },

  paint(card, layer, step, pen) {
    const { x0, x1 } = card.frame;
    const [weights, means, sds] = groupsAt(layer, step);
    /** @type {number[][]} */
    const bars = layer.bars;
    const outline = layer.style === "outline";
    rowsOf(card.frame, layer.names.length).forEach(({ foot, tall }, column) => {
      /** @type {import("./types.js").Range} */
      const range = layer.ranges[column];
      const [low, high] = layer.on_axes ? card.live.view(card.panel).x : range;
      const scale = tall / layer.tops[column];
      const across = layer.on_axes ? card.px : pixels({ label: "", range }, range, x0, x1);
      const up = layer.on_axes ? card.py
        : (/** @type {number} */ value) => foot - Math.min(scale * value, tall + 3);
      pen.globalAlpha = 0.16;
      pen.fillStyle = card.live.ink(null);
      bars[column]?.forEach((value, i, { length }) => {
        const [left, right] = [i, i + 1].map((k) =>
          across(range[0] + (k / length) * (range[1] - range[0])));
        pen.fillRect(left + 0.5, up(0), right - left - 1, up(value) - up(0));
      });
      /**
       * @param {number[]} parts weights @param {any[][]} means @param {any[][]} sds
       * @param {boolean} filled
       */
      const line = (parts, means, sds, filled) => {
        if (![...parts, ...means.flat(), ...sds.flat()].every(finite)) return;
        const [centres, spreads] = [means, sds].map((one) => one.map((row) => row[column]));
        pen.beginPath();
        if (filled) pen.moveTo(across(low), up(0));
        for (let i = 0; i < SAMPLES; i += 1) {
          const x = low + (i / (SAMPLES - 1)) * (high - low);
          pen.lineTo(across(x), up(mixedAt(parts, centres, spreads, x)));
        }
        if (!filled) return pen.stroke();
        pen.lineTo(across(high), up(0));
        pen.fill();
      };
      weights.forEach((/** @type {number[]} */ parts, /** @type {number} */ draw) => {
        Object.assign(pen, { globalAlpha: draw ? 0.22 : 1, lineWidth: draw ? 1 : outline ? 1.4 : 2.4 });
        pen.strokeStyle = card.live.ink(outline ? null : 0);
        pen.setLineDash(outline ? [3, 3] : []);
        line(parts, means[draw], sds[draw], false);
        if (draw || outline || parts.length < 2) return;
        parts.forEach((weight, k) => {
          pen.globalAlpha = 0.18;
          pen.fillStyle = card.live.ink(k % 6);
          line([weight], [means[0][k]], [sds[0][k]], true);
        });
      });
    });
  },
  rows: marginalRows,
};
