// @ts-check
// What the pointer is over: a cell, or every curve at the nearest x (never between two of them).

import { make, set } from "./dom.js";
import { dated, formatNumber, inkOf } from "./format.js";
import { cellAt } from "./heatmap.js";
import { slice, textAt } from "./steps.js";

/** @import { Card } from "./card.js" */
/** @import { Layer, Numbers, Scale } from "./types.js" */

/**
 * Which of some numbers lies nearest to a pixel.
 * @param {Numbers} values
 * @param {Scale} scale
 * @param {number} pixel
 */
export const nearest = (values, scale, pixel) => values.reduce(
  (/** @type {number} */ best, value, i) =>
    (Math.abs(scale(value) - pixel) < Math.abs(scale(values[best]) - pixel) ? i : best), 0);

/**
 * Shows what an event is over; `null`: the pointer has left.
 * @param {Card} card
 * @param {MouseEvent | null} event
 */
export function hover(card, event) {
  const named = card.panel.y.names !== undefined; // then a row is read, not curves
  const curves = card.panel.layers.filter(({ kind, colour }) =>
    kind === (named ? "labelled_points" : "curve") && colour !== null);
  const [u, v] = event && card.frame ? card.unit(event) : [-1, -1];
  const inside = curves.length > 0 && u >= 0 && u <= 1 && v >= 0 && v <= 1;
  const target = /** @type {SVGElement | undefined} */ (event?.target);
  const tile = target?.dataset.tile;
  card.readout.hidden = !inside && !tile;
  card.hair.setAttribute("visibility", inside && !named ? "visible" : "hidden");
  if (event && target && tile) {
    const box = target.getBoundingClientRect();
    const across = (event.clientX - box.x) / box.width;
    const down = (event.clientY - box.y) / box.height;
    const cell = card.rows()[cellAt(card.panel.layers[0].shape, Number(tile), across, down)];
    const value = formatNumber(/** @type {number | undefined} */ (cell?.value), 2);
    write(card, u * card.frame.width, [`${cell?.name} `, make("b", {}, [value])]);
  }
  if (inside && named) readRow(card, curves, u, v);
  else if (inside) readCurves(card, curves, card.frame.x0 + u * (card.frame.x1 - card.frame.x0));
}

/**
 * Every point of the row nearest to a share of the frame from its bottom.
 * @param {Card} card
 * @param {Layer[]} layers
 * @param {number} u share of the frame from its left
 * @param {number} v
 */
function readRow(card, layers, u, v) {
  const { y0, y1, width } = card.frame;
  const row = nearest(slice(layers[0].y, card.near, 1), card.py, y1 - v * (y1 - y0));
  write(card, u * width, layers.map((layer) => make("div", {}, [
    `${layer.names[row]}: `,
    make("b", {}, [formatNumber(slice(layer.x, card.near, 1)[row], 3)]),
  ])));
}

/**
 * Every curve at the x nearest to a pixel, and a hair line there.
 * @param {Card} card
 * @param {Layer[]} curves
 * @param {number} pixel
 */
function readCurves(card, curves, pixel) {
  const { step } = card.live;
  const xs = slice(curves[0].x, step, 1);
  const x = xs[nearest(xs, card.px, pixel)];
  const lines = curves.map((layer) => {
    const i = nearest(slice(layer.x, step, 1), card.px, pixel);
    /** @param {any[]} values */
    const value = (values) => formatNumber(slice(values, step, 1)[i], 3);
    const band = layer.lo ? ` (${value(layer.lo)} to ${value(layer.hi)})` : "";
    const key = make("i");
    key.style.background = inkOf(layer);
    const name = layer.name || textAt(layer.label, step) || card.panel.y.label;
    return make("div", {}, [key, `${name}: `, make("b", {}, [value(layer.y)]), band]);
  });
  const { label, days } = card.panel.x;
  const place = dated(x, days);
  const text = typeof place === "string" ? place : formatNumber(place, 3);
  const head = make("div", {}, [`${label}: `, make("b", {}, [text])]);
  const hair = card.px(x);
  write(card, hair, [head, ...lines]);
  set(card.hair, { x1: hair, x2: hair, y1: card.frame.y0, y2: card.frame.y1 });
}

/**
 * Shows lines beside a place, on the side where there is more room.
 * @param {Card} card
 * @param {number} x
 * @param {(Node | string)[]} lines
 */
function write(card, x, lines) {
  const { width } = card.frame;
  const flip = x > width / 2;
  card.readout.replaceChildren(...lines);
  card.readout.style.left = flip ? "" : `${x + 12}px`;
  card.readout.style.right = flip ? `${width - x + 12}px` : "";
}
