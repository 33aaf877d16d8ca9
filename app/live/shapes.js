// @ts-check
// Paths of lines, bands and ellipses, from data units to SVG.

import { finite } from "./format.js";

/** @import { Frame, Gaussian, Numbers, Scale, Scales } from "./types.js" */

/**
 * Path through points, broken where a number is missing.
 * @param {Scales} scales
 * @param {Numbers} xs
 * @param {Numbers} ys
 */
export function linePath({ px, py }, xs, ys) {
  let path = "";
  let pen = "M";
  xs.forEach((value, i) => {
    const [x, y] = [px(value), py(ys[i])];
    const complete = finite(x) && finite(y);
    if (complete) path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = complete ? "L" : "M";
  });
  return path;
}

/**
 * Closed path between two curves, without the points at which either is missing.
 * @param {Scales} scales
 * @param {Numbers} xs
 * @param {Numbers} lower
 * @param {Numbers} upper
 */
export function bandPath(scales, xs, lower, upper) {
  const complete = [...xs.keys()].filter((i) => finite(lower[i]) && finite(upper[i]));
  const back = complete.toReversed();
  const x = [...complete, ...back].map((i) => xs[i]);
  const y = [...complete.map((i) => upper[i]), ...back.map((i) => lower[i])];
  return `${linePath(scales, x, y)}Z`.replace(/^Z$/, "");
}

/**
 * Path of the ellipse at `level` standard deviations: right on every axis, also on log ones.
 * @param {Scales} scales
 * @param {Gaussian} gaussian
 * @param {number} level
 */
export function ellipsePath(scales, [mx, my, xx, xy, yy], level) {
  const across = level * Math.sqrt(Math.max(xx, 0));
  const lean = across > 0 ? (level * level * xy) / across : 0;
  const up = Math.sqrt(Math.max(level * level * yy - lean * lean, 0));
  const turns = Array.from({ length: 48 }, (_, i) => (i * Math.PI) / 24);
  const path = linePath(scales, turns.map((t) => mx + across * Math.cos(t)),
    turns.map((t) => my + lean * Math.cos(t) + up * Math.sin(t)));
  return path && `${path}Z`;
}

/**
 * Whether an ellipse reaches past the frame on two opposite sides.
 * @param {Scales & { frame: Frame }} card
 * @param {Gaussian} gaussian
 * @param {number} level
 */
export function covers({ px, py, frame }, [mx, my, xx, , yy], level) {
  /**
   * @param {Scale} scale @param {number} m mean @param {number} s half of its width
   * @param {number} low @param {number} high
   */
  const past = (scale, m, s, low, high) => scale(m - s) < low && scale(m + s) > high;
  return past(px, mx, level * Math.sqrt(xx), frame.x0, frame.x1)
    || past(py, my, -level * Math.sqrt(yy), frame.y0, frame.y1);
}
