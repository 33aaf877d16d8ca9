// @ts-check
// The axes of a card as elements: grid lines, numbers and titles.

import { ticksOf, tickText } from "./axes.js";
import { put, svg } from "./dom.js";
import { clamp } from "./format.js";

/** @import { Card } from "./card.js" */
/** @import { Attributes } from "./dom.js" */
/** @import { Anchor, View } from "./types.js" */

/** About so many ticks fit on a length in pixels. */
export const ROOM = { x: 90, y: 50 };
const LEAST_TITLE = 0.85; // size of a title, so that it is no longer than its axis

/**
 * Where the middle of an axis' title is, and its style.
 * @param {number} length of the title in pixels
 * @param {number} middle of the axis
 * @param {number} side of the card
 * @param {number} axis its length: a title that is a little longer is a little smaller
 */
export function titleAt(length, middle, side, axis = length) {
  const size = Math.min(1, side / (length + 8), Math.max(LEAST_TITLE, axis / length));
  const half = (size * length) / 2 + 2;
  const style = size < 1 ? `font-size: ${13 * size}px` : "";
  return { middle: clamp(middle, half, side - half), style };
}

/**
 * Grid lines, numbers and titles of both axes.
 * @param {Card} card
 * @param {View} view
 */
export function gridOf(card, view) {
  const { x0, x1, y0, y1, width, height } = card.frame;
  const { x, y } = card.panel;
  /** @type {SVGElement[]} */
  const nodes = [];
  /**
   * @param {string} text @param {number} x @param {number} y @param {Anchor} anchor
   * @param {Attributes} [more]
   */
  const write = (text, x, y, anchor, more) =>
    nodes.push(put(svg("text", more, [text]), x, y, anchor));
  /** @param {number} x1 @param {number} x2 @param {number} y1 @param {number} y2 */
  const line = (x1, x2, y1, y2) => nodes.push(svg("line", { x1, x2, y1, y2 }));
  for (const value of ticksOf(y, view.y, (y1 - y0) / ROOM.y)) {
    const p = card.py(value);
    line(x0, x1, p, p);
    write(tickText(y, value), x0 - 8, p + 4, "end");
  }
  let taken = -Infinity; // by numbers, which may not touch one another
  for (const value of ticksOf(x, view.x, (x1 - x0) / ROOM.x)) {
    const p = card.px(value);
    line(p, p, y0, y1);
    const text = tickText(x, value);
    const half = card.widest([text]) / 2;
    const middle = Math.min(p, width - half - 1); // the last one stays on the card
    if (middle - half < taken) continue;
    write(text, middle, y1 + 17, "middle");
    taken = middle + half + 3;
  }
  // A title longer than its axis stays on the card, smaller where that is low or narrow.
  const across = titleAt(card.widest([x.label]), (x0 + x1) / 2, width);
  write(x.label, across.middle, y1 + 36, "middle", { class: "dpl-axis", style: across.style });
  if (y.names) return nodes; // which say what they are
  const { middle, style } = titleAt(card.widest([y.label]), (y0 + y1) / 2, height - card.below, y1 - y0);
  const transform = `rotate(-90 20 ${middle})`;
  write(y.label, 20, middle, "middle", { class: "dpl-axis", style, transform });
  return nodes;
}
