// @ts-check
// Axes: scales, ticks, zoom and pan. A range is in the axis's own scale; on a log axis, powers of
// ten.

import { clamp, finite, tickLabel } from "./format.js";

/** @import { Axis, Range, Scale, View } from "./types.js" */

/** From data units to the axis's own scale. @param {Axis} axis @param {number} value */
export const toScale = (axis, value) => (axis.log ? Math.log10(value) : value);

/** From the axis's own scale to data units. @param {Axis} axis @param {number} value */
export const fromScale = (axis, value) => (axis.log ? 10 ** value : value);

/**
 * The range that an axis opens with.
 * @param {Axis} axis
 * @returns {Range}
 */
export const fullRange = (axis) => [toScale(axis, axis.range[0]), toScale(axis, axis.range[1])];

/**
 * From data units to pixels between `from` and `to`; NaN for what is no number.
 * @param {Axis} axis
 * @param {Range} range
 * @param {number} from
 * @param {number} to
 * @returns {Scale}
 */
export const pixels = (axis, [low, high], from, to) => (value) =>
  value != null && finite(value)
    ? from + ((toScale(axis, value) - low) / (high - low)) * (to - from) : NaN;

/**
 * The value, in data units, at a share of the visible range.
 * @param {Axis} axis
 * @param {Range} range
 * @param {number} share
 */
export const valueAt = (axis, [low, high], share) => fromScale(axis, low + share * (high - low));

/** At least two: one number alone is no scale.
 * @param {number} low @param {number} high @param {number} count @returns {number[]} */
function linearTicks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough * 0.999) ?? 10);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks.length > 1 || count > 9 ? ticks : linearTicks(low, high, 2 * Math.max(count, 1));
}

/**
 * Ticks inside the visible range: nice steps, or 0.1 0.3 1 3 10 on a log axis; on a short one powers
 * of ten, or some of them.
 * @param {Axis} axis
 * @param {Range} range
 * @param {number} count about so many
 */
export function ticksOf(axis, [low, high], count) {
  const [least, most] = [fromScale(axis, low), fromScale(axis, high)];
  /** @param {number} value */
  const inside = (value) =>
    value >= least * (1 - 1e-9) - 1e-12 && value <= most * (1 + 1e-9) + 1e-12;
  if (axis.ticks) {
    const given = axis.ticks.filter(inside);
    if (given.length > 1) return given;
  }
  if (!axis.log) return linearTicks(low, high, count);
  /** @type {number[]} */
  let ticks = [];
  for (let every = 0; !every || ticks.length > Math.max(3.5 * count, 3); every += 1) {
    const powers = [];
    for (let p = Math.floor(low) - 1; p <= high + 1; p += 1) {
      if (!every) powers.push(10 ** p, 3 * 10 ** p);
      else if (p % every === 0) powers.push(10 ** p);
    }
    ticks = powers.map((value) => Number(value.toPrecision(3))).filter(inside);
  }
  return ticks.length > 2 ? ticks : linearTicks(least, most, count).filter((value) => value > 0);
}

/**
 * What stands beside a tick: its name, where ticks have names.
 * @param {Axis} axis
 * @param {number} value
 */
export const tickText = ({ ticks, names }, value) =>
  names ? names[ticks?.indexOf(value) ?? -1] ?? "" : tickLabel(value);

/**
 * A range grown by `factor` around the point at `share` of it.
 * @param {Range} range
 * @param {number} factor
 * @param {number} share
 * @returns {Range}
 */
function grown([low, high], factor, share) {
  const centre = low + share * (high - low);
  return [centre + (low - centre) * factor, centre + (high - centre) * factor];
}

/**
 * The view after a zoom at a point of the frame; `null` where it would be too near or too far.
 * @param {View} view
 * @param {Range} full range that the x axis opens with
 * @param {number} factor below 1: nearer
 * @param {number} u share of the frame from its left
 * @param {number} v share of the frame from its bottom
 * @returns {View | null}
 */
export function zoomed(view, full, factor, u, v) {
  const x = grown(view.x, factor, u);
  const share = (x[1] - x[0]) / (full[1] - full[0]);
  return share > 1e-4 && share < 20 ? { x, y: grown(view.y, factor, v) } : null;
}

/**
 * How much one turn of the wheel zooms.
 * @param {number} delta pixels, as the browser reports them
 */
export const wheelFactor = (delta) => Math.exp(clamp(delta, -240, 240) * 0.002);

/**
 * The view after the hand has moved by shares of the frame: what it holds stays under it.
 * @param {View} view
 * @param {number} u
 * @param {number} v
 * @returns {View}
 */
export function panned(view, u, v) {
  /** @param {Range} range @param {number} share @returns {Range} */
  const shift = ([low, high], share) => [low - share * (high - low), high - share * (high - low)];
  return { x: shift(view.x, u), y: shift(view.y, v) };
}
