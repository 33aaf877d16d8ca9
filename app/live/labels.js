// @ts-check
// Where labels go: none over another.

import { finite } from "./format.js";

/** @import { Box, Frame, Numbers, Place, Scales } from "./types.js" */

export const BOLD = 1.12; // how much wider a bold text is than its measure

/**
 * Heights of labels in their order, pushed apart to at least `gap` and kept above `floor`.
 * @param {number[]} heights where each would like to be
 * @param {number} floor
 * @param {number} gap
 */
export function spread(heights, floor, gap) {
  const order = [...heights.keys()].sort((a, b) => heights[a] - heights[b]);
  const apart = [...heights];
  order.forEach((i, rank) => {
    if (rank) apart[i] = Math.max(apart[i], apart[order[rank - 1]] + gap);
  });
  for (const i of order.reverse()) {
    apart[i] = Math.min(apart[i], floor);
    floor = apart[i] - gap;
  }
  return apart;
}

/**
 * The first of a label's places that is inside the frame and clear of others, and what it takes up.
 * @param {Place[]} places
 * @param {number} width of the text
 * @param {Frame} frame
 * @param {Box[]} taken
 * @returns {{ place: Place, box: Box } | null}
 */
export function firstFree(places, width, { x0, x1, y1 }, taken) {
  for (const place of places) {
    const [x, y, anchor] = place;
    const left = x - width * { start: 0, middle: 0.5, end: 1 }[anchor];
    /** @type {Box} */
    const box = [left, left + width, y - 11, y + 3];
    const inside = box[0] >= x0 && box[1] <= x1 && box[2] >= 0 && box[3] <= y1;
    if (inside && !taken.some((other) => overlap(box, other))) return { place, box };
  }
  return null;
}

/**
 * What a line takes up: a box around each piece of it, at most 8 px wide.
 * @param {Scales} scales
 * @param {Numbers} xs
 * @param {Numbers} ys
 * @returns {Box[]}
 */
export function curveBoxes({ px, py }, xs, ys) {
  return xs.slice(1).flatMap((_, i) => {
    const [x, y, ...to] = [px(xs[i]), py(ys[i]), px(xs[i + 1]), py(ys[i + 1])];
    if (![x, y, ...to].every(finite)) return [];
    const pieces = Math.ceil(Math.abs(to[0] - x) / 8) || 1;
    const [across, up] = [(to[0] - x) / pieces, (to[1] - y) / pieces];
    return Array.from({ length: pieces }, (_, k) => {
      const high = [y + k * up, y + (k + 1) * up];
      return /** @type {Box} */ (
        [x + k * across, x + (k + 1) * across, Math.min(...high) - 1, Math.max(...high) + 1]);
    });
  });
}

/**
 * What an upright mark takes up.
 * @param {number} x
 * @param {number} top
 * @param {number} bottom
 * @returns {Box}
 */
export const boxOfMark = (x, top, bottom) => [x - 1, x + 1, top, bottom];

/**
 * A text, or as many of its letters as there is room for, and an ellipsis.
 * @param {string} text
 * @param {number} room
 * @param {(text: string) => number} widthOf
 */
export function shortened(text, room, widthOf) {
  if (widthOf(text) <= room) return text;
  let length = text.length - 1;
  while (length > 1 && widthOf(`${text.slice(0, length)}…`) > room) length -= 1;
  return `${text.slice(0, length)}…`;
}

/**
 * Where the names of points go: above and right if that is free, else around their point; nowhere
 * (null) where each place would cover another point or name.
 * @param {([number, number] | null)[]} points
 * @param {number[]} widths of the names
 * @param {Frame} frame
 * @returns {(Place | null)[]}
 */
export function besidePoints(points, widths, frame) {
  /** @type {Box[]} */
  const taken = points.flatMap((at) => (at ? [[at[0] - 5, at[0] + 5, at[1] - 5, at[1] + 5]] : []));
  return points.map((at, k) => {
    const free = at && firstFree(around(...at), widths[k], frame, taken);
    if (free) taken.push(free.box);
    return free && free.place;
  });
}

/** @param {number} x @param {number} y @returns {Place[]} */
const around = (x, y) => [
  [x + 8, y - 5, "start"], [x + 8, y + 15, "start"], [x - 8, y - 5, "end"], [x - 8, y + 15, "end"],
  [x, y - 12, "middle"], [x, y + 21, "middle"],
];

/** @param {Box} one @param {Box} other */
const overlap = ([left, right, top, bottom], [a, b, c, d]) =>
  right >= a && left <= b && bottom >= c && top <= d;
