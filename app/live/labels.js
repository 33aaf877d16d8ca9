// @ts-check
// Where labels go: none over another.

/** @import { Box, Frame, Place } from "./types.js" */

/**
 * Heights of labels in their order, pushed apart to at least `gap` and kept above `floor`.
 * @param {number[]} heights where each would like to be
 * @param {number} floor
 * @param {number} gap
 */
export function spread(heights, floor, gap) {
  const order = heights.map((_, i) => i).sort((a, b) => heights[a] - heights[b]);
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

/** @param {Box} one @param {Box} other */
const overlap = ([left, right, top, bottom], [a, b, c, d]) =>
  right >= a && left <= b && bottom >= c && top <= d;
