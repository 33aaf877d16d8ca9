// @ts-check
// Bars that run to the right; the longest of a step fills the card, or they stand on a log axis.

import { fullRange, pixels, ticksOf } from "./axes.js";
import { note, put, set, setVisible, svg } from "./dom.js";
import { clamp, colour, finite, tickLabel } from "./format.js";
import { ROOM } from "./grid.js";
import { slice, textsAt } from "./steps.js";

/** @import { Axis, Numbers } from "./types.js" */

const NARROW = 700; // px of a frame in which names stand above their bars, not beside them
const APART = 62; // px between two bars from which a name stays near its own
const TICKS = 38; // px below the bars for the numbers and the title of a log axis

/**
 * Pixels of each bar, at least 2; `null` where there is no number.
 * @param {Numbers} values
 * @param {number} room pixels of the longest, or of the axis
 * @param {Axis} [axis] a log axis that they stand on
 */
export function barLengths(values, room, axis) {
  if (axis) {
    const place = pixels(axis, fullRange(axis), 0, room);
    return values.map((value) => {
      const length = place(value);
      return finite(length) ? clamp(length, 2, room) : null;
    });
  }
  const longest = Math.max(0, ...values.map((value) => (finite(value) ? Number(value) : 0))) || 1;
  return values.map((value) =>
    value != null && finite(value) ? Math.max((value / longest) * room, 2) : null);
}

/**
 * Whether a label is a number; a reason has no bar and may use all of the card.
 * @param {string} text
 */
export const isNumberLabel = (text) => /^(under )?[^a-z]*\d/i.test(text);

/** @type {import("./types.js").LayerKind} */
export const bars = {
  build(card, layer, group) {
    /** @type {string[]} */
    const titles = layer.names;
    const rows = titles.map((name, i) => {
      const title = svg("text", { class: "dpl-barname" }, [name]);
      const under = note();
      const label = svg("text", { class: "dpl-barlabel" });
      const bar = svg("rect", { class: "dpl-bar", rx: 4, fill: colour(layer.colours[i]) });
      const tip = svg("title", {}, [layer.tips[i] ?? ""]);
      const room = svg("rect", { class: "dpl-room" });
      const row = svg("g", { "data-bar": name }, [tip, room, bar, title, under, label]);
      if (layer.derivations[i]?.length) {
        set(row, { role: "button", tabindex: 0, "aria-label": `${name}: its derivation` });
        row.addEventListener("click", () => card.derive(layer, i));
        row.addEventListener("keydown", (event) => {
          if (event.key === "Enter") card.derive(layer, i);
        });
      }
      group.append(row);
      return { row, room, title, under, label, bar };
    });
    const bold = 1.2; // the names' 14 px, bold, against the 13 px of the measure
    const names = Math.max(bold * card.widest(titles), card.widest(layer.notes.flat())) + 16;
    const numbers = layer.labels.flat().filter(isNumberLabel);
    const room = bold * card.widest(numbers) + 24;
    const axis = card.panel.x.log ? card.panel.x : undefined;
    const ticks = svg("g", { class: "dpl-grid" });
    group.prepend(ticks);
    // A pinned list's number: a tick below the bar, with the list's name.
    const marks = Object.entries(layer.ghosts).flatMap(([name, ghost]) => titles.map((_, i) => {
      const [tick, text] = [svg("line"), svg("text", { class: "dpl-note dpl-pinned" }, [name])];
      const mark = svg("g", { class: "dpl-pin", "data-ghost": name }, [tick, text]);
      group.append(mark);
      return { i, value: ghost[i], mark, tick, text };
    }));
    /** @param {number} left @param {number} length @param {number} y0 @param {number} y1 */
    const drawTicks = (left, length, y0, y1) => {
      if (!axis) return;
      const range = fullRange(axis);
      const place = pixels(axis, range, left, left + length);
      const values = ticksOf(axis, range, length / ROOM.x);
      const every = Math.ceil(((card.widest(values.map(tickLabel)) + 8) * values.length) / length);
      ticks.replaceChildren(...values.filter((_, i) => i % every === 0).flatMap((value) => {
        const x = place(value);
        return [svg("line", { x1: x, x2: x, y1: y0, y2: y1 }),
          put(svg("text", {}, [tickLabel(value)]), x, y1 + 14, "middle")];
      }), put(svg("text", { class: "dpl-axis" }, [axis.label]), left + length / 2, y1 + 32, "middle"));
    };
    return (step) => {
      const { x0, x1, y0 } = card.frame;
      const y1 = card.frame.y1 - (axis ? TICKS : 0);
      /** @type {Numbers} */
      const values = slice(layer.values, step, 1);
      const narrow = x1 - x0 < NARROW;
      const left = narrow ? x0 : x0 + names;
      const length = Math.max(x1 - left - room, 1);
      const lengths = barLengths(values, length, axis);
      drawTicks(left, length, y0, y1);
      const [notes, labels] = [textsAt(layer.notes, step), textsAt(layer.labels, step)];
      const pitch = (y1 - y0) / rows.length;
      const height = Math.min(narrow ? 22 : 34, pitch * 0.56);
      const apart = narrow ? Math.min(pitch, APART) : 0; // of a name above its bar
      rows.forEach(({ row, room: whole, title, under, label, bar }, i) => {
        const width = lengths[i];
        const centre = y0 + pitch * (i + 0.5);
        const middle = centre + 0.2 * apart;
        const line = centre - 0.22 * apart;
        set(whole, { x: x0, y: centre - pitch / 2, width: x1 - x0, height: pitch });
        set(bar, { x: left, y: middle - height / 2, width: width ?? 0, height });
        put(title, x0, line + (notes[i] && !narrow ? -2 : 5));
        if (narrow) put(under, x1, line + 5, "end");
        else put(under, x0, line + 14);
        const both = bold * card.widest([titles[i]]) + card.widest([notes[i]]) + 8;
        under.textContent = narrow && both > x1 - x0 ? "" : notes[i]; // the table has it
        put(label, left + (width === null ? 0 : width + 8), middle + 5).textContent = labels[i];
        row.classList.toggle("dpl-none", !setVisible(bar, width !== null));
        row.dataset.value = String(values[i] ?? "");
      });
      for (const { i, value, mark, tick, text } of marks) {
        const [at] = barLengths([value], length, axis);
        if (!setVisible(mark, at !== null) || at === null) continue;
        const foot = y0 + pitch * (i + 0.5) + 0.2 * apart + height / 2;
        set(tick, { x1: left + at, x2: left + at, y1: foot + 1, y2: foot + 11 });
        put(text, left + at + 4, foot + 11);
      }
    };
  },
};
